"""Waking those who wait for news of a run, from whatever thread the news comes."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager


class ChangeSignal:
    """Belongs to the event loop it is attached to; `notify` may be called from any thread."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._listeners: defaultdict[str, set[asyncio.Event]] = defaultdict(set)

    def attach(self, loop: asyncio.AbstractEventLoop) -> None:
        """From now on waiters of this loop are woken."""
        self._loop = loop

    def notify(self, run_id: str | None = None) -> None:
        """Wakes everybody who listens to this run, or to any."""
        # Closed once the service has ended: a late worker has nobody left to tell.
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._wake, run_id)

    @contextmanager
    def listening(self, run_id: str) -> Iterator[asyncio.Event]:
        """An event that is set whenever there is news; clear it before looking."""
        event = asyncio.Event()
        self._listeners[run_id].add(event)
        try:
            yield event
        finally:
            self._listeners[run_id].discard(event)
            if not self._listeners[run_id]:
                del self._listeners[run_id]

    def _wake(self, run_id: str | None) -> None:
        for listened_to, events in self._listeners.items():
            if run_id in (None, listened_to):
                for event in events:
                    event.set()
