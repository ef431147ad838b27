"""Server-sent events of a run: everything so far, then what comes, until the run has ended."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

from anyio.to_thread import run_sync

from agenticiqa.server.service import Service
from agenticiqa.server.storage.store import Event

HEARTBEAT = 10.0


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
                yield _written(event)
            if run is None or run.has_ended or service.stopping.is_set():
                return
            try:
                await asyncio.wait_for(news.wait(), HEARTBEAT)
            except TimeoutError:
                yield b": alive\n\n"


def _written(event: Event) -> bytes:
    data = json.dumps(event.data, ensure_ascii=False)
    return f"id: {event.number}\nevent: {event.type}\ndata: {data}\n\n".encode()
