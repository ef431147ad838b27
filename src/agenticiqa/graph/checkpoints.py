"""Keeping a run's state, so that it can be taken up again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from agenticiqa.state import (
    CallCount,
    DistortionAnalysis,
    ExecutorOutput,
    Gap,
    Ledger,
    PlanControlFlags,
    PlannerOutput,
    Region,
    SummarizerOutput,
    ToolExecutionLog,
)

if TYPE_CHECKING:
    from langgraph.checkpoint.sqlite import SqliteSaver

_KEPT = (
    PlannerOutput,
    PlanControlFlags,
    ExecutorOutput,
    DistortionAnalysis,
    ToolExecutionLog,
    Region,
    SummarizerOutput,
    Gap,
    Ledger,
    CallCount,
)


def state_serializer() -> JsonPlusSerializer:
    """A serialiser that restores our state models and no other class."""
    return JsonPlusSerializer(allowed_msgpack_modules=[(kind.__module__, kind.__name__) for kind in _KEPT])


def memory_saver() -> InMemorySaver:
    """Keeps states for as long as the process lives."""
    return InMemorySaver(serde=state_serializer())


@contextmanager
def sqlite_saver(path: str | Path) -> Iterator[SqliteSaver]:
    """Keeps states in a file, so that a run survives its process."""
    import sqlite3
    from contextlib import closing

    from langgraph.checkpoint.sqlite import SqliteSaver

    # LangGraph may write from its own threads; the saver has a lock.
    with closing(sqlite3.connect(path, check_same_thread=False)) as connection:
        yield SqliteSaver(connection, serde=state_serializer())
