"""Where the states of runs are kept, and our own types in LangGraph's serialiser."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import is_dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from pydantic import BaseModel

from agenticiqa import state, values
from agenticiqa.question import asked

if TYPE_CHECKING:
    from langgraph.checkpoint.sqlite import SqliteSaver


def state_serializer() -> JsonPlusSerializer:
    """A serialiser that restores our state models and no other class."""
    return JsonPlusSerializer(allowed_msgpack_modules=_names())


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


def with_own_types(checkpointer: BaseCheckpointSaver[Any]) -> BaseCheckpointSaver[Any]:
    """The checkpointer, sharing its store, with a serialiser that knows the types of our state.

    LangGraph warns of types nobody registered. One that keeps other types than ours has to name them itself.
    """
    named = checkpointer.with_allowlist(_names())
    if named is not checkpointer:
        return named
    # LangGraph leaves a serialiser alone that lets everything pass, with a warning for each type.
    known = copy.copy(checkpointer)
    known.serde = _knowing_our_types(checkpointer.serde)
    return known


def _knowing_our_types(serializer: SerializerProtocol) -> SerializerProtocol:
    if isinstance(serializer, EncryptedSerializer):
        return EncryptedSerializer(serializer.cipher, _knowing_our_types(serializer.serde))
    if not isinstance(serializer, JsonPlusSerializer):
        return serializer
    return JsonPlusSerializer(pickle_fallback=serializer.pickle_fallback, allowed_msgpack_modules=_names())


@cache
def _names() -> list[tuple[str, str]]:
    """Every model and value of ours that a state may hold."""
    kinds = [kind for module in (state, values, asked) for kind in vars(module).values()]
    own = [kind for kind in kinds if isinstance(kind, type) and (is_dataclass(kind) or issubclass(kind, BaseModel))]
    return [(kind.__module__, kind.__name__) for kind in own if kind.__module__.startswith("agenticiqa.")]
