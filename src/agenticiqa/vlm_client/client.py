"""The one interface to a model: a request said in words and as data, and the reply."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from inspect import signature
from typing import Any

from PIL import Image
from pydantic import BaseModel

from agenticiqa.errors import (
    AuthenticationError,
    BackendError,
    BackendTimeoutError,
    BadReplyError,
    OverloadedError,
    RateLimitError,
    UnavailableError,
)
from agenticiqa.images import LabelledImage, LoadedImage, Role, in_role
from agenticiqa.logs import redact
from agenticiqa.state import CallCount, ProbabilitySource, Region
from agenticiqa.values import Answer, Distortion, Reason
from agenticiqa.vlm_client.tasks import TaskInputs


@dataclass(frozen=True)
class Sampling:
    """How the model draws its reply."""

    temperature: float = 0.0
    top_p: float | None = None
    max_tokens: int = 1024
    seed: int | None = 0


@dataclass(frozen=True)
class VLMRequest:
    """One question to a model, as words for those that read and as `inputs` for those that compute.

    `system` and `user` are a pure function of `task` and `inputs`, so that no backend knows more than another.
    With `images_first` all requests of a run begin alike, up to the images, for services that remember beginnings.
    """

    task: str
    system: str
    user: str
    images: tuple[LabelledImage, ...]
    inputs: TaskInputs[Any]
    reply_model: type[BaseModel]
    sampling: Sampling = Sampling()
    images_first: bool = False

    def image(self, role: Role) -> LoadedImage | None:
        """The image with this role, if the request has one."""
        return in_role(self.images, role)


@dataclass(frozen=True)
class Usage:
    """What one call consumed; None for a cost means unknown."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost_usd: float | None = 0.0
    transport_attempts: int = 1
    paid_calls: int = 0
    """Replies a service sent, each of which it may charge for."""
    seconds: float = 0.0
    from_cache: bool = False

    def plus(self, other: Usage) -> Usage:
        """What two calls consumed together; an unknown cost stays unknown."""
        pairs = {name: (value, getattr(other, name)) for name, value in vars(self).items() if name != "from_cache"}
        added: dict[str, Any] = {name: None if None in pair else sum(pair) for name, pair in pairs.items()}
        return Usage(**added)


def usage_of(error: BackendError) -> Usage:
    """What a call consumed that brought no reply."""
    found: Usage = error.usage or Usage()
    return found


@dataclass(frozen=True)
class VLMReply:
    """What the model said, with the log-probabilities of the level letters where it gives them.

    A model that computes fills `value` with the task's reply, and nothing is read back from words; one that writes
    fills `text`. Both pass the same check. `interval` is the 95 % interval of the score on the 1–5 scale, where the
    backend knows its own errors.
    """

    text: str
    model: str
    level_logprobs: dict[str, float] | None = None
    probability_source: ProbabilitySource | None = None
    interval: tuple[float, float] | None = None
    usage: Usage = Usage()
    notes: tuple[str, ...] = field(default=())
    cut: bool = False
    """Whether it ends because max_tokens was reached."""
    answer: Answer | None = None
    """The answer as a value, from a backend that computes it."""
    reasons: tuple[Reason, ...] = ()
    """Why, each sentence with the value it is made of."""
    findings: tuple[Distortion, ...] = ()
    """The distortions behind an analysis, each with its place."""
    regions: Mapping[str, Region] = field(default_factory=dict)
    """Where named things are, with what they are, where the backend has a detector."""
    value: BaseModel | None = None

    def words(self) -> str:
        """The reply as text, for logs and files: what was written, or the value as JSON."""
        return self.text if self.value is None else self.value.model_dump_json()


def _as_text(said: object, model: str) -> str:
    """What `generate` returned as text: data is written as JSON, anything else is no reply."""
    if isinstance(said, str):
        return said
    if isinstance(said, dict):
        return json.dumps(said, ensure_ascii=False, default=str)
    raise BadReplyError(f"{model}: generate returned {type(said).__name__}, not text")


def _side_by_side(pictures: list[Image.Image]) -> Image.Image:
    width, height = sum(picture.width for picture in pictures), max(picture.height for picture in pictures)
    joined, left = Image.new("RGB", (width, height)), 0
    for picture in pictures:
        joined.paste(picture, (left, 0))
        left += picture.width
    return joined


class VLMClient(ABC):
    """A model that looks at images and answers."""

    model: str = "unknown"
    deterministic: bool = False
    """True when the same request always gets the same reply."""
    derived_from: tuple[str, ...] = ()
    """Tools whose evidence is already inside this model's level probabilities; they do not vote beside it."""
    identity: str = ""
    """The backend and all settings its replies depend on; replies are kept on disk only if it is set."""
    remote: bool = False
    """True when requests leave this process: they are then retried, limited, priced and recorded."""

    @abstractmethod
    def generate(self, prompt: str, image: Image.Image, **kwargs: Any) -> str:
        """The model's reply to a prompt about one image."""

    def ask(self, request: VLMRequest) -> VLMReply:
        """The model's reply to a request; by default through `generate`.

        A reference image is passed as the keyword `reference` if `generate` names it, else it stands beside the test
        image, as images to be compared do; the reply's notes say which.
        """
        shown = [item for item in request.images if item.role != "closeup"]
        pictures = [Image.fromarray(item.image.pixels) for item in shown]
        has_reference = request.image("reference") is not None
        more: dict[str, Any] = dict(vars(request.sampling))
        notes: tuple[str, ...] = ()
        image = pictures[0]
        if has_reference and "reference" in signature(self.generate).parameters:
            more["reference"], notes = pictures[1], ("the reference was shown as an image of its own",)
        elif len(pictures) > 1:
            named = "test image (left) and reference (right)" if has_reference else f"{len(pictures)} images"
            image, notes = _side_by_side(pictures), (f"{named} were shown side by side",)
        said: object = self.generate(f"{request.system}\n\n{request.user}", image, **more)
        return VLMReply(text=_as_text(said, self.model), model=self.model, notes=notes)

    def asked_without(self, request: VLMRequest) -> frozenset[str]:
        """Parameters this model is known to refuse for the request's task; a kept reply depends on them too."""
        return frozenset()

    def keep(self, request: VLMRequest, reply: VLMReply) -> None:  # noqa: B027 - most clients keep nothing
        """Remembers that this reply was accepted for the request, where replies are kept."""

    def open(self) -> None:  # noqa: B027 - most clients are ready as they are
        """Loads what the first request would load; nothing is sent."""

    def close(self) -> None:  # noqa: B027 - most clients hold nothing open
        """Lets go of connections; the next request opens them again."""

    def chain(self) -> tuple[VLMClient, ...]:
        """The backends to try in turn, this one first."""
        return (self,)


class WrappingVLMClient(VLMClient):
    """Answers as the client inside does, under its name; subclasses change what they are about."""

    def __init__(self, client: VLMClient) -> None:
        self.client = client
        self.model = client.model
        self.deterministic = client.deterministic
        self.derived_from = client.derived_from
        self.identity = client.identity
        self.remote = client.remote

    def generate(self, prompt: str, image: Image.Image, **kwargs: Any) -> str:
        return self.client.generate(prompt, image, **kwargs)

    def ask(self, request: VLMRequest) -> VLMReply:
        return self.client.ask(request)

    def asked_without(self, request: VLMRequest) -> frozenset[str]:
        return self.client.asked_without(request)

    def keep(self, request: VLMRequest, reply: VLMReply) -> None:
        self.client.keep(request, reply)

    def open(self) -> None:
        self.client.open()

    def close(self) -> None:
        self.client.close()


PASSING = (RateLimitError, BackendTimeoutError, OverloadedError, UnavailableError)
"""Errors that may be gone a moment later."""
MOST_FAILED_ATTEMPTS = 3
"""Tries on the wire that may fail before a run asks a backend nothing more."""
_OUT_OF_ORDER = (*PASSING, AuthenticationError)


class CallCounter:
    """Adds up one node's model calls, the failed ones included.

    A call is one reply asked of a model, an attempt one try on the wire; a reply from a cache is neither.
    `failed_attempts` are those of the run so far, by backend and address.
    """

    def __init__(self, failed_attempts: Mapping[str, int] | None = None) -> None:
        self.count = CallCount()
        self.stand_ins: list[str] = []
        self.failed_attempts = dict(failed_attempts or {})

    def add(self, usage: Usage, backend: VLMClient | None = None) -> None:
        """Books a backend's reply."""
        self.count = self.count.plus(count_of(usage))
        if backend is not None and not usage.from_cache:
            self.failed_attempts.pop(_place(backend), None)

    def add_failure(self, error: BackendError, backend: VLMClient | None = None) -> None:
        """Books a call that brought no reply."""
        self.count = self.count.plus(count_of(usage_of(error)))
        if backend is not None and backend.remote and isinstance(error, _OUT_OF_ORDER):
            self.failed_attempts[_place(backend)] = self.failures_of(backend) + error.attempts

    def failures_of(self, backend: VLMClient) -> int:
        """How many attempts at this backend have failed since it last answered."""
        return self.failed_attempts.get(_place(backend), 0)

    def gave_up(self, backend: VLMClient) -> bool:
        """Whether the run asks this backend nothing more."""
        return self.failures_of(backend) >= MOST_FAILED_ATTEMPTS


def _place(backend: VLMClient) -> str:
    # Two servers may have a model of the same name; an address may hold a password.
    return redact(backend.identity or backend.model)


def count_of(usage: Usage) -> CallCount:
    """One reply's usage as a count."""
    if usage.from_cache:
        return CallCount(cache_hits=1, seconds=usage.seconds)
    shared = {name: value for name, value in vars(usage).items() if name in CallCount.model_fields}
    return CallCount(calls=1, attempts=usage.transport_attempts, **shared)
