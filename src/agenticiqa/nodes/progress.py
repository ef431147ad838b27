"""Telling the caller what the agent is doing."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

logger = logging.getLogger("agenticiqa.nodes.progress")


@dataclass(frozen=True)
class ProgressEvent:
    """A node or one of its subtasks began, ended or failed."""

    node: str
    subtask: str | None
    status: Literal["started", "finished", "failed"]
    iteration: int = 0
    seconds: float | None = None


OnEvent = Callable[[ProgressEvent], None]


def tell(on_event: OnEvent | None, event: ProgressEvent) -> None:
    """Hands the event to the listener, whose failure must not become the agent's."""
    if on_event is None:
        return
    try:
        on_event(event)
    except Exception as error:
        logger.warning("the listener for progress events failed: %s", error)
