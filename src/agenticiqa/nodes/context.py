"""What a node works with: its parts, the images, the words of its requests, the count of its calls, a way to report."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, Optional, TypeVar, cast

from langchain_core.runnables import RunnableConfig
from pydantic import BaseModel

from agenticiqa.errors import AgenticIQAError
from agenticiqa.images import ImageStore, LabelledImage, LoadedImage, in_role
from agenticiqa.logs import log_context
from agenticiqa.parts import Parts, parts_from
from agenticiqa.question.asked import Question
from agenticiqa.question.read import question_of
from agenticiqa.state import AgenticIQAState, Ledger
from agenticiqa.vlm_client.client import CallCounter, Sampling, VLMRequest
from agenticiqa.vlm_client.structured import Structured, ask_for
from agenticiqa.vlm_client.tasks import TaskInputs

ReplyModel = TypeVar("ReplyModel", bound=BaseModel)

logger = logging.getLogger("agenticiqa.nodes")


@dataclass(frozen=True)
class NodeContext:
    """What one node works with during one pass: its parts, images, counted calls and events."""

    role: str
    parts: Parts
    images: tuple[LabelledImage, ...]
    ledger: Ledger
    question: Question
    iteration: int = 0
    on_event: OnEvent | None = None
    stream: Callable[[Any], None] | None = None
    """Where events go when the graph is streamed with `stream_mode="custom"`."""
    counter: CallCounter = field(default_factory=CallCounter)

    @property
    def test(self) -> LoadedImage:
        return next(item.image for item in self.images if item.role == "image")

    @property
    def reference(self) -> LoadedImage | None:
        """The image it is compared with; never a close-up, which is a part of the image itself."""
        return in_role(self.images, "reference")

    def ask(
        self,
        prompt: str,
        inputs: TaskInputs[ReplyModel],
        *,
        advice: Sequence[str] = (),
        check: Callable[[ReplyModel], ReplyModel] | None = None,
    ) -> Structured[ReplyModel]:
        """The reply of the role's model to a task put with this prompt, as data; raises ModelReplyError."""
        role = self.parts.settings.role(self.role)
        inputs = inputs.model_copy(update={"question": self.question})
        model = cast(type[ReplyModel], inputs.reply)
        request = VLMRequest(
            task=inputs.task,
            system=system_words(prompt),
            user=user_words(inputs, advice),
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
        counter = self.counter
        return self.ledger.adding(self.role, counter.count, counter.stand_ins, counter.failed_attempts)

    @contextmanager
    def reporting(self, subtask: str | None = None) -> Iterator[None]:
        """Reports the beginning and the end of the node, or of one of its subtasks."""
        started = time.perf_counter()
        self._tell(ProgressEvent(self.role, subtask, "started", self.iteration))
        status: Any = "failed"
        try:
            with log_context(node=self.role):
                yield
            status = "finished"
        finally:
            seconds = time.perf_counter() - started
            self._tell(ProgressEvent(self.role, subtask, status, self.iteration, seconds))

    def _tell(self, event: ProgressEvent) -> None:
        try:
            if self.on_event is not None:
                self.on_event(event)
        except Exception as error:  # the listener's failure must not become the agent's
            logger.warning("the listener for progress events failed: %s", error)
        if self.stream is not None:
            self.stream(vars(event))


def node_context(role: str, state: AgenticIQAState, config: Optional[RunnableConfig]) -> NodeContext:
    """What a node works with in one pass of a node; raises the typed error of a part or image that cannot be used."""
    configurable: Mapping[str, Any] = (config or {}).get("configurable") or {}
    parts = parts_from(configurable)
    store: ImageStore = configurable.get("images") or parts.settings.image_store()
    ledger = state.get("ledger") or Ledger()
    return NodeContext(
        role=role,
        parts=parts,
        images=_images(role, state, store),
        ledger=ledger,
        question=question_of(state, parts.tools.names()),
        iteration=state.get("iteration_count", 0),
        on_event=configurable.get("on_event"),
        stream=_stream_writer(),
        counter=CallCounter(ledger.failed_attempts),
    )


def _stream_writer() -> Callable[[Any], None] | None:
    from langgraph.config import get_stream_writer

    try:
        return get_stream_writer()
    except (RuntimeError, KeyError):
        # A node called as a function runs in no graph.
        return None


def _images(role: str, state: AgenticIQAState, store: ImageStore) -> tuple[LabelledImage, ...]:
    """What the node sees; after a plan that leaves the reference aside, the test image alone."""
    plan, images = state.get("plan"), store.images(state["image_path"], state.get("reference_path"))
    # The planner decides about the reference, so that it has to see it, when it plans anew too.
    left_aside = role != "planner" and plan is not None and plan.reference_mode == "No-Reference"
    return tuple(item for item in images if item.role != "reference") if left_aside else images


@dataclass(frozen=True)
class ProgressEvent:
    """A node or one of its subtasks began, ended or failed."""

    node: str
    subtask: str | None
    status: Literal["started", "finished", "failed"]
    iteration: int = 0
    seconds: float | None = None


OnEvent = Callable[[ProgressEvent], None]


def report(where: str, error: Exception) -> str:
    """Why it failed, in words for the state; logged, with the traceback if nobody foresaw it."""
    if isinstance(error, AgenticIQAError):
        logger.error("%s failed: %s", where, error)
        return str(error)
    logger.error("%s failed unexpectedly", where, exc_info=error)
    return f"unexpected {type(error).__name__}: {error}"


def system_words(template: str) -> str:
    """The prompt as it is sent; "System:" is only the documents' heading for it."""
    return template.removeprefix("System:\n")


def user_words(inputs: TaskInputs[Any], advice: Sequence[str] = ()) -> str:
    """One section per input that has a value, every one of them, and the advice after them."""
    values = inputs.model_dump(mode="json")
    sections = [
        f"{described.title}:\n{json.dumps(values[name], ensure_ascii=False, indent=_indent(values[name]))}"
        for name, described in type(inputs).model_fields.items()
        if values.get(name) not in (None, [], {})
    ]
    return "\n\n".join([*sections, *advice])


def _indent(value: object) -> int | None:
    return None if isinstance(value, str) else 1
