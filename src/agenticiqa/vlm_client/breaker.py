"""Resting a backend that is down, so that a batch does not wait for it image after image."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock

from agenticiqa.errors import UnavailableError
from agenticiqa.vlm_client.client import VLMClient, VLMReply, VLMRequest
from agenticiqa.vlm_client.retrying import PASSING
from agenticiqa.vlm_client.wrapping import WrappingVLMClient


class Breaker:
    """Lets calls pass until too many fail in a row; after a rest, one call tries again."""

    def __init__(
        self, failures: int = 5, seconds: float = 30.0, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._limit, self._seconds, self._clock = failures, seconds, clock
        self._failures = 0
        self._rests_until = 0.0
        self._lock = Lock()

    def admit(self) -> float | None:
        """None if a call may be made, else the seconds until the next may."""
        with self._lock:
            if self._failures < self._limit:
                return None
            now = self._clock()
            if now < self._rests_until:
                return self._rests_until - now
            # This call is the trial; the others go on resting until it is over.
            self._rests_until = now + self._seconds
            return None

    def succeeded(self) -> None:
        """Notes a call that was answered."""
        with self._lock:
            self._failures = 0

    def failed(self) -> None:
        """Notes a call that was not."""
        with self._lock:
            self._failures += 1
            if self._failures >= self._limit:
                self._rests_until = self._clock() + self._seconds


class BreakerVLMClient(WrappingVLMClient):
    """A client that fails at once while its backend rests."""

    def __init__(self, client: VLMClient, breaker: Breaker) -> None:
        super().__init__(client)
        self._breaker = breaker

    def ask(self, request: VLMRequest) -> VLMReply:
        """The client's reply; UnavailableError without a try on the wire while the backend rests."""
        rest = self._breaker.admit()
        if rest is not None:
            error = UnavailableError(f"{self.model} failed too often and rests for another {rest:.0f} s")
            error.attempts = 0
            raise error
        try:
            reply = self.client.ask(request)
        except PASSING:
            self._breaker.failed()
            raise
        self._breaker.succeeded()
        return reply
