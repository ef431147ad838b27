"""Pressing a service no harder than it allows: requests at once, and requests per minute."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock, Semaphore
from typing import Any

from PIL import Image

from agenticiqa.vlm_client.client import VLMClient, VLMReply, VLMRequest, WrappingVLMClient


class Limiter:
    """Gives turns to the threads that share a backend."""

    def __init__(
        self,
        concurrency: int = 8,
        requests_per_minute: float | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._places = Semaphore(concurrency)
        self._interval = 60.0 / requests_per_minute if requests_per_minute else 0.0
        self._clock, self._sleep = clock, sleep
        self._next = 0.0
        self._lock = Lock()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """A place among those allowed at once, at a moment the rate allows."""
        with self._places:
            wait = self._reserve()
            if wait > 0:
                self._sleep(wait)
            yield

    def _reserve(self) -> float:
        with self._lock:
            now = self._clock()
            start = max(now, self._next)
            self._next = start + self._interval
            return start - now


class LimitedVLMClient(WrappingVLMClient):
    """A client whose every try on the wire waits for its turn."""

    def __init__(self, client: VLMClient, limiter: Limiter) -> None:
        super().__init__(client)
        self._limiter = limiter

    def generate(self, prompt: str, image: Image.Image, **kwargs: Any) -> str:
        """The client's reply to a bare prompt, in its turn."""
        with self._limiter.turn():
            return self.client.generate(prompt, image, **kwargs)

    def ask(self, request: VLMRequest) -> VLMReply:
        """The client's reply, in its turn."""
        with self._limiter.turn():
            return self.client.ask(request)
