"""Carrying out a call: in a thread, within a time limit, with progress told, and ended when the agent cancels it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any, TypeVar

import anyio
from anyio.to_thread import run_sync
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError

from agenticiqa.errors import AgenticIQAError, UnknownToolError
from agenticiqa.nodes.context import OnEvent, ProgressEvent

# An assessment keeps a core busy; more at once would only make each of them slower.
AT_ONCE = 2
# Calls that may wait for a place; seconds between two looks whether one still is to wait.
WAITING = 32
POLL = 0.2
_Found = TypeVar("_Found")


class Stopped(BaseException):
    """The call was cancelled or took too long; no Exception, because listeners' exceptions do not stop a run."""


class Calls:
    """The places where calls are carried out."""

    def __init__(self, time_limit: float, at_once: int = AT_ONCE) -> None:
        self._time_limit = time_limit
        self._places = threading.BoundedSemaphore(at_once)
        self._threads = anyio.CapacityLimiter(at_once + WAITING)

    async def carry_out(self, context: Context[Any, Any], work: Callable[[OnEvent], _Found]) -> _Found:
        """What the work gives; raises ToolError with a sentence, also when the time limit has passed.

        When the call is cancelled or takes too long, its work ends at its next step.
        """
        stop = threading.Event()
        tell = _listener(context, asyncio.get_running_loop(), stop)
        try:
            with anyio.fail_after(self._time_limit):
                return await run_sync(self._in_turn, work, tell, stop, abandon_on_cancel=True, limiter=self._threads)
        except TimeoutError:
            raise ToolError(f"the call took longer than {self._time_limit:g} seconds and was ended") from None
        except AgenticIQAError as error:
            if isinstance(error, UnknownToolError):
                error.listed_by = "list_metrics"
            raise ToolError(
                error.message_naming(lambda name, value: f"set the argument `{name}` to {value}")
            ) from error
        finally:
            stop.set()

    def _in_turn(self, work: Callable[[OnEvent], _Found], tell: OnEvent, stop: threading.Event) -> _Found:
        try:
            while not self._places.acquire(timeout=POLL):
                if stop.is_set():
                    raise Stopped
            try:
                return work(tell)
            finally:
                self._places.release()
        except Stopped:
            # Nobody waits for it any more; raised on, it would be reported as a failure of the thread.
            raise ToolError("the call was ended before it had a result") from None


def _listener(context: Context[Any, Any], loop: asyncio.AbstractEventLoop, stop: threading.Event) -> OnEvent:
    """Tells the agent of every step, and ends the run at its next step once it is to stop."""
    steps = 0

    def on_event(event: ProgressEvent) -> None:
        nonlocal steps
        if stop.is_set():
            raise Stopped
        steps += 1
        step = event.subtask or event.node
        message = f"{event.node}: {step} {event.status}" if event.subtask else f"{event.node} {event.status}"
        asyncio.run_coroutine_threadsafe(context.report_progress(steps, None, message), loop)

    return on_event
