"""News of a run as it happens: server-sent events, and waking those who wait from whatever thread the news comes."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from anyio.to_thread import run_sync

if TYPE_CHECKING:
    from agenticiqa.server.service import Service

# Seconds after which a line without news keeps proxies from closing the connection.
HEARTBEAT = 10.0


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


async def event_stream(service: Service, run_id: str, after: int) -> AsyncIterator[bytes]:
    """The events after that number in the form of `text/event-stream`; ends with the run or with the service."""
    yield b"retry: 1000\n\n"
    with service.changes.listening(run_id) as news:
        while True:
            news.clear()
            # The run first: whatever it had when it ended is then among the events.
            run = await run_sync(service.run, run_id)
            for event in await run_sync(service.store.events, run_id, after):
                after = event.number
                data = json.dumps(event.data, ensure_ascii=False)
                yield f"id: {event.number}\nevent: {event.type}\ndata: {data}\n\n".encode()
            if run is None or run.has_ended or service.stopping.is_set():
                return
            try:
                await asyncio.wait_for(news.wait(), HEARTBEAT)
            except TimeoutError:
                yield b": alive\n\n"
