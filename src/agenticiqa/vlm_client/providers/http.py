"""A request as it goes over the wire, before a provider's own format, and the way to the provider."""

from __future__ import annotations

import importlib
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

from agenticiqa.errors import (
    AuthenticationError,
    BackendError,
    BackendTimeoutError,
    BadReplyError,
    OverloadedError,
    RateLimitError,
)
from agenticiqa.vlm_client.client import Sampling
from agenticiqa.vlm_client.providers.image_encoding import SentImage
from agenticiqa.vlm_client.schemas import schema_rule
from agenticiqa.vlm_client.tasks import Schema

Parameters = dict[str, Any]
"""Parameters of a request that a model may refuse."""
_GROUPS = {
    "top_logprobs": "logprobs",
    "response_logprobs": "logprobs",
    "response_mime_type": "response_schema",
    "response_json_schema": "response_schema",
}


def group_of(parameter: str) -> str:
    """The name of what is given up together with this parameter."""
    return _GROUPS.get(parameter, parameter)


SHARED_SYSTEM = "You are part of an image quality assessment system. Look at the images, then do what is asked."
"""What every request says before its images when all of a run have to begin alike."""


@dataclass(frozen=True)
class Message:
    """One request as it goes over the wire, before a provider's own format."""

    system: str
    user: str
    images: tuple[SentImage, ...]
    sampling: Sampling
    schema: Schema | None = None
    task: str = ""
    wants_levels: bool = False
    images_first: bool = False


def system_text(message: Message, *, enforced: bool) -> str:
    """The system text, with the reply's schema in words when the service does not enforce it."""
    if enforced or message.schema is None:
        return message.system
    return f"{message.system}\n\n{schema_rule(message.schema)}".strip()


_SHOWN_CHARACTERS = 300
_SPOKEN = {
    "logprobs": r"log[ _-]?prob",
    "top_p": r"\btop_?p\b",
    "temperature": r"\btemperature\b",
    "seed": r"\bseed\b",
    "max_tokens": r"['\"`]max_tokens['\"`]|max_tokens is not supported",
    "max_completion_tokens": r"['\"`]max_completion_tokens['\"`]",
    "response_format": r"response_?format|response_?schema|json_?schema|output_config|structured output",
}


class InvalidRequestError(BackendError):
    """The service rejects the request as written; `parameters` are those it names as the reason."""

    def __init__(self, message: str, parameters: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.parameters = parameters


class NoRoomError(BadReplyError):
    """The model used up its tokens before it wrote anything, as reasoning models do."""


def error_for_status(
    status: int, backend: str, said: str, *, retry_after: float | None = None, parameters: tuple[str, ...] = ()
) -> BackendError:
    """The error for a failed answer; `said` is the service's own explanation, already redacted."""
    detail = f"{backend}: HTTP {status}: {page_in(said) or said[:_SHOWN_CHARACTERS]}"
    error: BackendError
    parameters = parameters or parameters_named_in(said)
    if status in (400, 422) or (status == 403 and parameters):
        # Reasoning models refuse log-probabilities with 403, which is no wrong key.
        error = InvalidRequestError(f"{detail}; the request was rejected as invalid", parameters)
    elif status in (401, 403):
        # What the service says here may repeat a part of the key.
        error = AuthenticationError(f"{backend}: HTTP {status}: the key was not accepted; check it and its permissions")
    elif status == 429:
        error = RateLimitError(f"{detail}; wait or lower the rate", retry_after)
    elif status in (408, 504):
        error = BackendTimeoutError(f"{detail}; try later or raise `timeout`")
    elif status in (409, 425) or status >= 500:
        error = OverloadedError(f"{detail}; try later")
    elif status == 404:
        error = BackendError(f"{detail}; check the model's name and base_url")
    else:
        error = BackendError(detail)
    error.retry_after = retry_after
    return error


def parameters_named_in(said: str) -> tuple[str, ...]:
    """Our names of the parameters that a service's explanation speaks of."""
    return tuple(name for name, words in _SPOKEN.items() if re.search(words, said, re.I))


def page_in(text: str) -> str | None:
    """What to call a text that is an HTML page: proxies, logins and wrong addresses send one instead of an answer."""
    if not re.search(r"<(!doctype html|html|head|body)\b", text, re.IGNORECASE):
        return None
    title = re.search(r"<title[^>]*>\s*(.*?)\s*</title>", text, re.IGNORECASE | re.DOTALL)
    return f"an HTML page ({title.group(1)[:80]!r})" if title else "an HTML page"


def retry_after_seconds(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """The wait a service asks for in its headers, in seconds; None if it asks for none."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is not None or value is None:
        return seconds
    try:
        moment = parsedate_to_datetime(value).timestamp()
    except (ValueError, OverflowError):
        return None
    return max(0.0, moment - (time.time() if now is None else now))


def _number(text: str | None) -> float | None:
    try:
        return max(0.0, float(text)) if text else None
    except ValueError:
        return None


EventHooks = dict[str, list[Callable[[Any], None]]]
_STARTED = "agenticiqa_started"


def deadline_hooks(seconds: float, clock: Callable[[], float] = time.monotonic) -> EventHooks:
    """Event hooks for an httpx or httpx2 client, with which a body still coming after these seconds is a timeout."""

    def start(request: Any) -> None:
        request.extensions[_STARTED] = clock()

    def limit(response: Any) -> None:
        ends = response.request.extensions[_STARTED] + seconds
        response.stream = _limited(response, lambda: clock() > ends)

    return {"request": [start], "response": [limit]}


def _limited(response: Any, is_over: Callable[[], bool]) -> Any:
    # The library of this response: an SDK may use either, and each knows only its own classes.
    library = importlib.import_module(type(response).__module__.partition(".")[0])
    stream = response.stream

    class Limited(library.SyncByteStream):  # type: ignore[misc, name-defined]
        def __iter__(self) -> Iterator[bytes]:
            late = False
            for chunk in stream:
                if late:
                    raise library.ReadTimeout("the answer takes too long", request=response.request)
                yield chunk
                # Judged only if there is more: an answer that is whole was paid for, however late it came.
                late = is_over()

        def close(self) -> None:
            stream.close()

    return Limited()
