"""Asking a model for data: validate, retry with a stricter instruction, fall back, and only then give up."""

from __future__ import annotations

import json
import logging
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from agenticiqa.errors import (
    BackendError,
    BadReplyError,
    ModelRefusedError,
    ModelReplyError,
    ModelUnreachableError,
    RefusedError,
    UnavailableError,
    UnusableAnswerError,
)
from agenticiqa.logs import log_context
from agenticiqa.vlm_client.client import CallCounter, VLMClient, VLMReply, VLMRequest

logger = logging.getLogger("agenticiqa.vlm_client.structured")

STRICTER = "Return ONLY valid JSON"
STRICTER_FOR_PLANS = "return valid JSON only"
_SHOWN_CHARACTERS = 500
_BRACES_TRIED = 64
_THOUGHTS = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)

Reply = TypeVar("Reply", bound=BaseModel)


@dataclass(frozen=True)
class Structured(Generic[Reply]):
    """A reply that passed validation: as the model wrote it, and as data."""

    value: Reply
    reply: VLMReply
    client: VLMClient


class RejectedReplyError(ValueError):
    """A reply that is not the data asked for; the message says why."""


def ask_for(
    model: type[Reply],
    client: VLMClient,
    request: VLMRequest,
    *,
    attempts: int = 3,
    counter: CallCounter | None = None,
    check: Callable[[Reply], Reply] | None = None,
) -> Structured[Reply]:
    """The model's reply as data, from the first backend of the client's chain that gives a valid one.

    Each backend is asked up to `attempts` times, with a stricter instruction after a reply that fails `model` or
    `check` (which may return a corrected value, or raise ValueError). A backend whose attempts have failed too often
    since it last answered, by the `counter`, is not asked. ModelReplyError when no reply is valid.
    """
    asking = _Asking(model, request, attempts, counter or CallCounter(), check)
    for backend in client.chain():
        if asking.failures:
            logger.warning("falling back to %s for the task %s", backend.model, request.task)
        found = asking.ask(backend)
        if found is not None:
            return found
    logger.error("no valid reply to the task %s; the last one in full: %s", request.task, asking.last_reply)
    raise asking.failure()


@dataclass
class _Asking(Generic[Reply]):
    """One question on its way through the backends, and what became of it so far."""

    model: type[Reply]
    request: VLMRequest
    attempts: int
    counter: CallCounter
    check: Callable[[Reply], Reply] | None
    failures: list[tuple[str, Exception]] = field(default_factory=list)
    replies: int = 0
    last_reply: str = "(none)"

    def ask(self, backend: VLMClient) -> Structured[Reply] | None:
        """The backend's first valid reply; None when it has none, or is not to be reached at all."""
        if self.counter.gave_up(backend):
            said = f"not asked: its last {self.counter.failures_of(backend)} attempts in this run failed"
            self._note(backend, UnavailableError(said))
            return None
        words = self.request
        for attempt in range(1, self.attempts + 1):
            with log_context(attempt=attempt):
                try:
                    found = self._ask_once(backend, words)
                    # Kept only now that every check has passed: a rejected reply must not be given again.
                    backend.keep(self.request, found.reply)
                    return found
                except (ValueError, BadReplyError) as error:
                    self._note(backend, error)
                    logger.warning("attempt %d/%d at %s rejected: %s", attempt, self.attempts, words.task, error)
                    words = _corrected(self.request, attempt + 1, str(error))
                except BackendError as error:
                    self._note(backend, error)
                    logger.warning("%s failed on the task %s: %s", backend.model, words.task, error)
                    return None
        return None

    def failure(self) -> ModelReplyError:
        """Why there is no valid reply: the models' words were no use, they declined, or they could not be reached."""
        task, last = self.request.task, self.failures[-1][0]
        if self.replies:
            return ModelReplyError(f"no valid reply to the task {task!r} after {len(self.failures)} tries; {last}")
        declined = self._last(RefusedError)
        if declined:
            return ModelRefusedError(f"no backend would do the task {task!r}; {declined}")
        unusable = self._last(BadReplyError)
        if unusable:
            return UnusableAnswerError(f"no usable answer to the task {task!r}; {unusable}")
        return ModelUnreachableError(f"no backend answered the task {task!r}; {last}")

    def _last(self, kind: type[Exception]) -> str | None:
        return next((said for said, error in reversed(self.failures) if isinstance(error, kind)), None)

    def _note(self, backend: VLMClient, error: Exception) -> None:
        self.failures.append((f"{backend.model}: {error}", error))

    def _ask_once(self, backend: VLMClient, words: VLMRequest) -> Structured[Reply]:
        reply = _ask(backend, words, self.counter)
        self.last_reply, self.replies = reply.words(), self.replies + 1
        value = value_of(reply, self.model)
        return Structured(self.check(value) if self.check else value, reply, backend)


def value_of(reply: VLMReply, model: type[Reply]) -> Reply:
    """What the reply says as data; RejectedReplyError when it is not what the model describes."""
    if reply.value is None:
        return parse_reply(reply.text, model)
    try:
        return model.model_validate(reply.value.model_dump())
    except ValidationError as error:
        raise RejectedReplyError(f"the reply was not accepted: {_complaints(error)}") from error


def parse_reply(text: str, model: type[Reply]) -> Reply:
    """The first JSON object in the text that the model accepts; code fences, prose and trailing commas are allowed."""
    problem = "it holds no JSON object"
    for candidate in _objects(without_thoughts(text)):
        try:
            return model.model_validate(_known(candidate, model))
        except ValidationError as error:
            problem = _complaints(error)
    raise RejectedReplyError(f"the reply was not accepted: {problem}")


def without_thoughts(text: str) -> str:
    """The text without what a model wrote while thinking: a draft in there is not its answer."""
    text = _THOUGHTS.sub("", text)
    # Some servers cut the opening tag off.
    return re.split(r"</think(?:ing)?>", text, flags=re.IGNORECASE)[-1]


def _corrected(request: VLMRequest, attempt: int, problem: str) -> VLMRequest:
    """The request once more, with what was wrong with the last reply."""
    instruction = STRICTER_FOR_PLANS if request.task == "plan" else STRICTER
    problem = problem.removeprefix("the reply was not accepted: ")[:_SHOWN_CHARACTERS]
    # The number keeps two retries apart, so that no cache answers one with the other's reply.
    words = f"{request.user}\n\nAttempt {attempt}: your last reply was not accepted ({problem}); {instruction}."
    return replace(request, user=words)


def _ask(backend: VLMClient, request: VLMRequest, counter: CallCounter) -> VLMReply:
    logger.debug("prompt to %s:\n%s\n\n%s", backend.model, request.system, request.user)
    start = time.perf_counter()
    try:
        reply = backend.ask(request)
    except BackendError as error:
        counter.add_failure(error, backend)
        raise
    except Exception as error:  # other people's clients may raise anything, and the next try or backend may answer
        logger.warning("%s raised", backend.model, exc_info=error)
        foreign = BadReplyError(f"unexpected {type(error).__name__}: {error}")
        counter.add_failure(foreign, backend)
        raise foreign from error
    seconds = reply.usage.seconds or time.perf_counter() - start
    counter.add(replace(reply.usage, seconds=seconds), backend)
    logger.debug("reply of %s: %s", reply.model, _shortened(reply.words()))
    return reply


def _shortened(text: str) -> str:
    rest = len(text) - _SHOWN_CHARACTERS
    return text if rest <= 0 else f"{text[:_SHOWN_CHARACTERS]}… ({rest} more characters)"


def _objects(text: str) -> Iterator[Any]:
    """The outermost JSON objects in the text, in order."""
    at = text.find("{")
    for _ in range(_BRACES_TRIED):
        if at == -1:
            return
        value, length = _decode(text[at:])
        if length:
            yield value
        at = text.find("{", at + max(length, 1))


def _decode(text: str) -> tuple[Any, int]:
    """The object at the start of the text and its length, 0 if there is none."""
    decoder = json.JSONDecoder(strict=False)
    for mended in (text, without_trailing_commas(text)):
        try:
            value, end = decoder.raw_decode(mended)
            return value, end
        except (json.JSONDecodeError, RecursionError):
            continue
    return None, 0


def without_trailing_commas(text: str) -> str:
    """The text without commas that stand before a closing bracket, those inside strings kept."""
    return re.sub(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])', lambda match: match.group(1) or "", text, flags=re.DOTALL)


def _known(candidate: Any, model: type[BaseModel]) -> Any:
    """The candidate without keys the model does not have: models add keys nobody asked for."""
    if not isinstance(candidate, dict):
        return candidate
    known = {}
    for name, described in model.model_fields.items():
        if name in candidate:
            kind, value = described.annotation, candidate[name]
            known[name] = _known(value, kind) if isinstance(kind, type) and issubclass(kind, BaseModel) else value
    return known


def _complaints(error: ValidationError) -> str:
    return "; ".join(_say(detail) for detail in error.errors()[:3])


def _say(detail: Any) -> str:
    where = ".".join(str(part) for part in detail["loc"])
    return f"{where}: {detail['msg']}" if where else str(detail["msg"])
