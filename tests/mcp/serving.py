"""A running MCP server, and asking it over HTTP."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters

COMMAND = [sys.executable, "-c", "from agenticiqa.cli import main; main()", "mcp"]
Question = Callable[[Client], Awaitable[Any]]


@dataclass(frozen=True)
class HttpServer:
    """Where a server listens, and its process."""

    address: str
    process: subprocess.Popen[bytes]


@contextmanager
def http_server(folder: Path) -> Iterator[HttpServer]:
    """A server with streamable HTTP for the images of this folder; it is gone afterwards."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen([*COMMAND, "--http", "--port", str(port), "--allow-folder", str(folder)])
    try:
        wait_for_port(port)
        yield HttpServer(f"http://127.0.0.1:{port}/mcp", process)
    finally:
        process.terminate()
        process.wait(20)


def wait_for_port(port: int) -> None:
    """Returns once something listens there."""
    for _ in range(600):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise TimeoutError("the server did not start")


def over_stdio(folder: Path, question: Question) -> Any:
    """What a client hears from a server it started itself."""
    # The SDK passes only a few variables on by itself.
    started = StdioServerParameters(
        command=COMMAND[0], args=[*COMMAND[1:], "--allow-folder", str(folder)], env=dict(os.environ)
    )
    return asyncio.run(_ask(started, question))


def over_http(address: str, question: Question) -> Any:
    """What a client hears from a running server."""
    return asyncio.run(_ask(address, question))


async def _ask(server: StdioServerParameters | str, question: Question) -> Any:
    async with Client(server) as client:
        return await question(client)
