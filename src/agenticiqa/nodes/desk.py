"""What a node works with: its parts, the images, the count of its calls and a way to report."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Optional, TypeVar

from langchain_core.runnables import RunnableConfig
from pydantic import BaseModel

from agenticiqa.images import LoadedImage
from agenticiqa.logs import log_context
from agenticiqa.nodes.pictures import Pictures
from agenticiqa.nodes.progress import OnEvent, ProgressEvent, tell
from agenticiqa.nodes.wording import words_of
from agenticiqa.parts import Parts, parts_from
from agenticiqa.state import AgenticIQAState, Ledger
from agenticiqa.vlm_client.client import LabelledImage, Sampling, VLMRequest
from agenticiqa.vlm_client.ledger import CallCounter
from agenticiqa.vlm_client.structured import Structured, ask_for
from agenticiqa.vlm_client.tasks import TaskInputs, task_of

Reply = TypeVar("Reply", bound=BaseModel)


@dataclass(frozen=True)
class Desk:
    """One node's working place for one pass."""

    role: str
    parts: Parts
    images: tuple[LabelledImage, ...]
    ledger: Ledger
    iteration: int = 0
    on_event: OnEvent | None = None
    counter: CallCounter = field(default_factory=CallCounter)

    @property
    def test(self) -> LoadedImage:
        """The image in question."""
        return self.images[0].image

    @property
    def reference(self) -> LoadedImage | None:
        """The image it is compared with."""
        return self.images[1].image if len(self.images) > 1 else None

    def ask(
        self, model: type[Reply], system: str, inputs: TaskInputs, check: Callable[[Reply], Reply] | None = None
    ) -> Structured[Reply]:
        """The role's model's reply to a task, as data; raises ModelReplyError."""
        role = self.parts.settings.role(self.role)
        request = VLMRequest(
            task=task_of(inputs),
            system=system,
            user=words_of(inputs),
            images=self.images,
            inputs=inputs,
            reply_model=model,
            sampling=Sampling(role.temperature, role.top_p, role.max_tokens),
            images_first=self.parts.settings.pipeline.mode == "fast",
        )
        client = self.parts.vlm_clients[self.role]
        found = ask_for(model, client, request, attempts=role.retry_attempts, counter=self.counter, check=check)
        if found.client.model != client.model:
            self.counter.stand_ins.append(
                f"{found.client.model} answered in place of {client.model} (task {request.task})"
            )
        return found

    def booked(self) -> Ledger:
        """The run's ledger with this node's calls."""
        return self.ledger.adding(self.role, self.counter.count, self.counter.stand_ins)

    @contextmanager
    def reporting(self, subtask: str | None = None) -> Iterator[None]:
        """Reports the beginning and the end of the node, or of one of its subtasks."""
        started = time.perf_counter()
        tell(self.on_event, ProgressEvent(self.role, subtask, "started", self.iteration))
        status: Any = "failed"
        try:
            with log_context(node=self.role):
                yield
            status = "finished"
        finally:
            seconds = time.perf_counter() - started
            tell(self.on_event, ProgressEvent(self.role, subtask, status, self.iteration, seconds))


def set_up_desk(role: str, state: AgenticIQAState, config: Optional[RunnableConfig]) -> Desk:
    """The desk for one pass of a node; raises the typed error of a part or image that cannot be used."""
    configurable: Mapping[str, Any] = (config or {}).get("configurable") or {}
    parts = parts_from(configurable)
    pictures: Pictures = configurable.get("pictures") or Pictures(parts.settings)
    return Desk(
        role=role,
        parts=parts,
        images=_images(role, state, pictures),
        ledger=state.get("ledger") or Ledger(),
        iteration=state.get("iteration_count", 0),
        on_event=configurable.get("on_event"),
    )


def _images(role: str, state: AgenticIQAState, pictures: Pictures) -> tuple[LabelledImage, ...]:
    """What the node sees; after a plan that leaves the reference aside, the test image alone."""
    plan, images = state.get("plan"), pictures.of(state)
    # The planner decides about the reference, so that it has to see it, when it plans anew too.
    return images[:1] if role != "planner" and plan and plan.reference_mode == "No-Reference" else images
