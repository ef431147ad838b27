"""Reaching a service: no harder than it allows, again when it is busy or slow, and another one when it fails."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import Lock, Semaphore

from agenticiqa.errors import BackendError, UnavailableError
from agenticiqa.vlm_client.client import (
    PASSING,
    Usage,
    VLMClient,
    VLMReply,
    VLMRequest,
    WrappingVLMClient,
    usage_of,
)

logger = logging.getLogger("agenticiqa.vlm_client.middleware.retrying")


@dataclass(frozen=True)
class RetryPolicy:
    """How often and how long a request is tried.

    The wait is what the service asks for (Retry-After), exactly; otherwise it doubles from `first_wait` up to
    `longest_wait`, and a random share of up to one half is taken off so that many clients do not return together.
    """

    attempts: int = 4
    max_seconds: float = 120.0
    first_wait: float = 1.0
    longest_wait: float = 30.0
    attempts_unreachable: int | None = None
    """Tries on a service that cannot be reached at all; None as many as others. With a fallback one probe is enough."""

    def wait(self, failures: int, retry_after: float | None, chance: float) -> float:
        """Seconds to wait after this many failures; `chance` is drawn from 0 to 1."""
        if retry_after is not None:
            return retry_after
        full = min(self.longest_wait, self.first_wait * 2.0 ** (failures - 1))
        return full * (1 - chance / 2)


class RetryingVLMClient(WrappingVLMClient):
    """A client that is asked again after an error that may pass."""

    def __init__(
        self,
        client: VLMClient,
        policy: RetryPolicy | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        super().__init__(client)
        self._policy = policy or RetryPolicy()
        self._clock, self._sleep, self._chance = clock, sleep, chance

    def ask(self, request: VLMRequest) -> VLMReply:
        """The client's reply, after as many tries as it takes; its usage counts them all."""
        started, wasted, failures = self._clock(), Usage(transport_attempts=0), 0
        while True:
            try:
                reply = self.client.ask(request)
                return replace(reply, usage=wasted.plus(reply.usage))
            except BackendError as error:
                wasted = wasted.plus(usage_of(error))
                failures += 1
                wait = self._policy.wait(failures, error.retry_after, self._chance())
                if not self._is_worth_it(error, failures, self._clock() - started + wait):
                    error.usage = wasted
                    raise
                logger.warning("%s: %s; try %d in %.2f s", self.model, error, failures + 1, wait)
                self._sleep(wait)

    def _is_worth_it(self, error: BackendError, failures: int, seconds: float) -> bool:
        policy = self._policy
        attempts = policy.attempts
        if isinstance(error, UnavailableError) and policy.attempts_unreachable is not None:
            attempts = policy.attempts_unreachable
        return isinstance(error, PASSING) and failures < attempts and seconds <= policy.max_seconds


class BreakerVLMClient(WrappingVLMClient):
    """A client that rests after too many failures in a row and fails at once meanwhile; then one call tries again."""

    def __init__(
        self,
        client: VLMClient,
        failures: int = 5,
        seconds: float = 30.0,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(client)
        self._limit, self._seconds, self._clock = failures, seconds, clock
        self._failures = 0
        self._rests_until = 0.0
        self._lock = Lock()

    def ask(self, request: VLMRequest) -> VLMReply:
        """The client's reply; UnavailableError without a try on the wire while the backend rests."""
        rest = self._seconds_of_rest()
        if rest > 0:
            error = UnavailableError(f"{self.model} failed too often and rests for another {rest:.0f} s")
            error.usage = Usage(transport_attempts=0)
            raise error
        try:
            reply = self.client.ask(request)
        except PASSING:
            with self._lock:
                self._failures += 1
                if self._failures >= self._limit:
                    self._rests_until = self._clock() + self._seconds
            raise
        with self._lock:
            self._failures = 0
        return reply

    def _seconds_of_rest(self) -> float:
        """Seconds until the next call may be made, 0 if this one may."""
        with self._lock:
            now = self._clock()
            if self._failures < self._limit:
                return 0.0
            if now >= self._rests_until:
                # This call is the trial; the others go on resting until it is over.
                self._rests_until = now + self._seconds
                return 0.0
            return self._rests_until - now


class LimitedVLMClient(WrappingVLMClient):
    """A client whose every try on the wire waits for a place among those allowed at once, and for its time."""

    def __init__(
        self,
        client: VLMClient,
        concurrency: int = 8,
        requests_per_minute: float | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        super().__init__(client)
        self._places = Semaphore(concurrency)
        self._interval = 60.0 / requests_per_minute if requests_per_minute else 0.0
        self._clock, self._sleep = clock, sleep
        self._next = 0.0
        self._lock = Lock()

    def ask(self, request: VLMRequest) -> VLMReply:
        with self._places:
            with self._lock:
                now = self._clock()
                start = max(now, self._next)
                self._next = start + self._interval
            if start > now:
                self._sleep(start - now)
            return self.client.ask(request)


class FallbackVLMClient(WrappingVLMClient):
    """Two backends in one: the second is asked when the first fails or, in `ask_for`, gives no valid reply."""

    def __init__(self, first: VLMClient, second: VLMClient) -> None:
        super().__init__(first)
        self.first, self.second = first, second
        self.deterministic = first.deterministic and second.deterministic
        self.remote = first.remote or second.remote

    def ask(self, request: VLMRequest) -> VLMReply:
        try:
            return self.first.ask(request)
        except BackendError:
            return self.second.ask(request)

    def close(self) -> None:
        self.first.close()
        self.second.close()

    def chain(self) -> tuple[VLMClient, ...]:
        return (*self.first.chain(), *self.second.chain())
