"""What a node works with: its parts, the images, the count of its calls and a way to report."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Optional, TypeVar, cast

from langchain_core.runnables import RunnableConfig
from pydantic import BaseModel

from agenticiqa.config import Settings
from agenticiqa.errors import AgenticIQAError, ImageSizeMismatchError, UsageError
from agenticiqa.images import ImageLimits, LoadedImage, load_image
from agenticiqa.logs import log_context
from agenticiqa.nodes.rendering import system_words, user_words
from agenticiqa.parts import Parts, parts_from
from agenticiqa.state import AgenticIQAState, Ledger
from agenticiqa.tools.pixel_budget import resized
from agenticiqa.tools.running import Align, refuse_other_shape
from agenticiqa.vlm_client.client import LabelledImage, Sampling, VLMRequest
from agenticiqa.vlm_client.structured import Structured, ask_for
from agenticiqa.vlm_client.tasks import TaskInputs
from agenticiqa.vlm_client.usage import CallCounter

Reply = TypeVar("Reply", bound=BaseModel)

logger = logging.getLogger("agenticiqa.nodes")


class Pictures:
    """Opens images by path and remembers them; `add` puts in one that has no file.

    With `align="resize"` a reference of another size is scaled to the test image's, and says so in its notes.
    """

    def __init__(self, settings: Settings, align: Align | None = None) -> None:
        if align not in (None, "resize"):
            raise UsageError(f'align is "resize" or left out, not {align!r}')
        self._align = align
        limits = settings.pipeline.limits
        self.limits = ImageLimits(
            max_pixels=limits.max_pixels, max_bytes=limits.max_file_megabytes * 2**20, min_side=limits.min_side
        )
        root = settings.pipeline.allowed_root
        self._root = Path(root).expanduser() if root else None
        self._opened: dict[str, LoadedImage] = {}
        self._names: dict[str, str] = {}

    def add(self, path: str, image: LoadedImage, name: str | None = None) -> None:
        """Makes the image known under a path, and under the name that messages call it by."""
        self._opened[path] = image
        if name is not None:
            self._names[path] = name

    def called(self, path: str) -> str:
        """What messages call the image at the path."""
        return self._names.get(path, path)

    def open(self, path: str) -> LoadedImage:
        """The image at the path; raises ImageError."""
        if path not in self._opened:
            self._opened[path] = load_image(path, limits=self.limits, allowed_root=self._root)
        return self._opened[path]

    def of(self, state: AgenticIQAState) -> tuple[LabelledImage, ...]:
        """The test image and, if there is one, the reference of the same size; raises ImageError."""
        test = LabelledImage("test image", self.open(state["image_path"]))
        path = state.get("reference_path")
        if not path:
            return (test,)
        reference = self.open(path)
        if reference.size != test.image.size:
            refuse_other_shape(test.image.size, reference.size, self.called(path))
            if not self._align:
                sizes = " and ".join(f"{image.width}×{image.height}" for image in (test.image, reference))
                raise ImageSizeMismatchError(
                    f"{self.called(path)}: test and reference differ in size ({sizes}); use images of the same size"
                )
            reference = self._opened[path] = scaled(reference, test.image.size)
        return test, LabelledImage("reference image", reference)


def scaled(image: LoadedImage, size: tuple[int, int]) -> LoadedImage:
    """The image at another width and height; the change is in its notes, and its hash is that of the new pixels."""
    note = f"scaled from {image.width}×{image.height} to {size[0]}×{size[1]} to match the test image"
    scaled = load_image(resized(image.pixels, *size))
    return replace(
        scaled, notes=(*image.notes, note), path=image.path, frames=image.frames, transparent=image.transparent
    )


@dataclass(frozen=True)
class NodeContext:
    """What one node works with during one pass: its parts, images, counted calls and events."""

    role: str
    parts: Parts
    images: tuple[LabelledImage, ...]
    ledger: Ledger
    iteration: int = 0
    on_event: OnEvent | None = None
    stream: Callable[[Any], None] | None = None
    """Where events go when the graph is streamed with `stream_mode="custom"`."""
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
        self,
        prompt: str,
        inputs: TaskInputs[Reply],
        *,
        advice: Sequence[str] = (),
        check: Callable[[Reply], Reply] | None = None,
    ) -> Structured[Reply]:
        """The reply of the role's model to a task put with this prompt, as data; raises ModelReplyError."""
        role = self.parts.settings.role(self.role)
        model = cast(type[Reply], inputs.reply)
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
        tell(self.on_event, event)
        if self.stream is not None:
            self.stream(vars(event))


def node_context(role: str, state: AgenticIQAState, config: Optional[RunnableConfig]) -> NodeContext:
    """What a node works with in one pass of a node; raises the typed error of a part or image that cannot be used."""
    configurable: Mapping[str, Any] = (config or {}).get("configurable") or {}
    parts = parts_from(configurable)
    pictures: Pictures = configurable.get("pictures") or Pictures(parts.settings)
    ledger = state.get("ledger") or Ledger()
    return NodeContext(
        role=role,
        parts=parts,
        images=_images(role, state, pictures),
        ledger=ledger,
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


def _images(role: str, state: AgenticIQAState, pictures: Pictures) -> tuple[LabelledImage, ...]:
    """What the node sees; after a plan that leaves the reference aside, the test image alone."""
    plan, images = state.get("plan"), pictures.of(state)
    # The planner decides about the reference, so that it has to see it, when it plans anew too.
    return images[:1] if role != "planner" and plan and plan.reference_mode == "No-Reference" else images


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


def report(where: str, error: Exception) -> str:
    """Why it failed, in words for the state; logged, with the traceback if nobody foresaw it."""
    if isinstance(error, AgenticIQAError):
        logger.error("%s failed: %s", where, error)
        return str(error)
    logger.error("%s failed unexpectedly", where, exc_info=error)
    return f"unexpected {type(error).__name__}: {error}"
