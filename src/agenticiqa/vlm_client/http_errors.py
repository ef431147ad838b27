"""From an HTTP status to the error it means, whichever SDK reports it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

from agenticiqa.errors import (
    AuthenticationError,
    BackendError,
    BackendTimeoutError,
    BadReplyError,
    OverloadedError,
    RateLimitError,
)

_SHOWN_CHARACTERS = 300


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
    detail = f"{backend}: HTTP {status}: {said[:_SHOWN_CHARACTERS]}"
    error: BackendError
    if status in (401, 403):
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
    elif status in (400, 422):
        error = InvalidRequestError(f"{detail}; the request was rejected as invalid", parameters)
    else:
        error = BackendError(detail)
    error.retry_after = retry_after
    return error


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
