"""Calls that are cancelled, take too long, or come without end."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import httpx
import numpy as np
import pytest
from mcp import Client
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError

from agenticiqa.assessor import Assessor
from agenticiqa.mcp.calls import Calls, Stopped
from agenticiqa.mcp.server import MAX_SESSIONS
from agenticiqa.nodes.context import OnEvent, ProgressEvent
from agenticiqa.tools.synthetic.ladder import photographs
from tests.mcp.serving import http_server, over_http
from tests.support.agent import settings
from tests.support.photos import photo, save

STEP = ProgressEvent("executor", None, "started")
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}


class Agent:
    """Hears of progress."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    async def report_progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        self.heard.append(f"{progress:g} {message}")


class Endless:
    """Work that never ends by itself, and how much of it is being done."""

    def __init__(self) -> None:
        self.at_work = 0

    def __call__(self, tell: OnEvent) -> None:
        self.at_work += 1
        try:
            while True:
                tell(STEP)
                time.sleep(0.02)
        finally:
            self.at_work -= 1


async def until(condition: Callable[[], bool]) -> None:
    """Returns once it holds."""
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.sleep(0.02)


def test_a_cancelled_call_ends_its_work_also_while_it_waits_for_a_place() -> None:
    agent, calls, work = Agent(), Calls(time_limit=60, at_once=1), Endless()

    async def cancel_both() -> None:
        context = cast(Context[Any, Any], agent)
        begun = [asyncio.create_task(calls.carry_out(context, work)) for _ in range(2)]
        await until(lambda: work.at_work == 1)
        for task in begun:
            task.cancel()
        await asyncio.gather(*begun, return_exceptions=True)
        await asyncio.sleep(0.5)
        await until(lambda: work.at_work == 0)

    asyncio.run(cancel_both())

    assert work.at_work == 0
    assert agent.heard[0] == "1 executor started"


def test_a_call_that_takes_too_long_is_ended_with_a_sentence() -> None:
    calls, work = Calls(time_limit=0.3), Endless()

    async def wait() -> None:
        with pytest.raises(ToolError, match=r"took longer than 0\.3 seconds"):
            await calls.carry_out(cast(Context[Any, Any], Agent()), work)
        await until(lambda: work.at_work == 0)

    asyncio.run(wait())

    assert work.at_work == 0


def test_the_agent_ends_at_its_next_step_when_its_listener_says_so() -> None:
    steps: list[ProgressEvent] = []

    def stop_at_the_third(event: ProgressEvent) -> None:
        steps.append(event)
        if len(steps) == 3:
            raise Stopped

    with pytest.raises(Stopped):
        Assessor(settings()).assess(photographs()["chelsea"].pixels, on_event=stop_at_the_third)

    assert len(steps) <= 5


def test_progress_reaches_the_client_and_initialize_without_end_does_not_grow_the_server(tmp_path: Path) -> None:
    from PIL import Image

    Image.fromarray(photographs()["chelsea"].pixels[:96, :96]).save(tmp_path / "a.png")
    heard: list[str | None] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append(message)

    async def question(client: Client) -> Any:
        return await client.call_tool("assess_image", {"image": "a.png", "quality_map": False}, progress_callback=hear)

    with http_server(tmp_path) as server:
        result = over_http(server.address, question)
        statuses, grown = initialized_often(server.address, server.process.pid, 3 * MAX_SESSIONS)

    assert not result.is_error
    assert "planner started" in heard
    assert statuses.count(200) <= MAX_SESSIONS
    assert set(statuses) == {200, 503}
    assert grown < 40_000


def initialized_often(address: str, pid: int, times: int) -> tuple[list[int], int]:
    """The answers to so many `initialize`, and the kilobytes the server grew by after its sessions were all taken."""
    headers = {"Accept": "application/json, text/event-stream"}
    statuses, before = [], 0
    with httpx.Client(headers=headers, timeout=30) as client:
        for turn in range(times):
            statuses.append(client.post(address, json=INITIALIZE).status_code)
            if turn == MAX_SESSIONS:
                before = resident(pid)
    return statuses, resident(pid) - before


def resident(pid: int) -> int:
    """Kilobytes of memory a process has."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS")))


def test_a_signal_ends_a_server_although_a_call_computes(tmp_path: Path) -> None:
    save(tmp_path / "large.png", np.tile(photo("coffee"), (4, 4, 1)))
    with http_server(tmp_path) as server:

        async def ask(client: Client) -> None:
            begun = asyncio.Event()

            async def heard(progress: float, total: float | None, message: str | None) -> None:
                begun.set()

            call = asyncio.create_task(
                client.call_tool("assess_image", {"image": "large.png"}, progress_callback=heard)
            )
            await begun.wait()
            server.process.send_signal(signal.SIGTERM)
            await asyncio.to_thread(server.process.wait, 60)
            call.cancel()

        with suppress(Exception):
            over_http(server.address, ask)

        assert server.process.poll() is not None
