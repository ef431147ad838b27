"""A small HTTP server that answers as a test scripts it, for what no ready-made server offers."""

from __future__ import annotations

import json
import select
import socket
import struct
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

PATIENCE = 30.0
"""Seconds a client has for closing its end of a connection."""


@dataclass(frozen=True)
class Answer:
    """One HTTP answer; a body that is not bytes is written as JSON."""

    body: Any
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: bool = False
    """The connection breaks before the body is complete."""
    reset: bool = False
    """The connection breaks before anything is said."""
    silence: float = 0.0
    """Seconds before the first byte."""
    drip: float = 0.0
    """Seconds between one byte of the body and the next."""
    over: Callable[[bool], None] | None = None
    """Called at the end with whether the client took all that was sent; the server waits to learn it."""

    def content(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


@dataclass(frozen=True)
class Seen:
    """One request as it arrived."""

    path: str
    headers: dict[str, str]
    body: Any


class ScriptedServer:
    """Gives the scripted answers in turn, the last one again and again, and keeps every request.

    With a function as its script it gives what the function makes of each request.
    """

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.seen: list[Seen] = []
        self.keeps_requests = True
        self.closing = Event()
        self._answer: Callable[[Seen], Answer] = self._next
        self._http = _Http(("127.0.0.1", 0), _handler(self))
        self.url = f"http://127.0.0.1:{self._http.server_port}"

    def script(self, *answers: Answer) -> ScriptedServer:
        self.answers = list(answers)
        return self

    def script_by(self, answer: Callable[[Seen], Answer]) -> ScriptedServer:
        self._answer = answer
        return self

    def answer_to(self, seen: Seen) -> Answer:
        if self.keeps_requests:
            self.seen.append(seen)
        return self._answer(seen)

    def _next(self, seen: Seen) -> Answer:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    @contextmanager
    def running(self) -> Iterator[ScriptedServer]:
        thread = Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self.closing.set()
            self._http.shutdown()
            thread.join()
            self._http.server_close()


class _Http(ThreadingHTTPServer):
    # Connections of many threads at once wait here; the default of 5 turns some of them away.
    request_queue_size = 128
    daemon_threads = True


def _handler(server: ScriptedServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers.get("content-length", 0))
            body = json.loads(self.rfile.read(length) or b"null")
            seen = Seen(self.path, {k.lower(): v for k, v in self.headers.items()}, body)
            answer, taken = server.answer_to(seen), False
            try:
                taken = not self._is_left_alone(answer.silence) and self._send(answer)
            except ConnectionError:
                # A client that gave up waiting has closed its end.
                pass
            finally:
                if answer.over is not None:
                    answer.over(taken and self._is_taken())

        def _is_left_alone(self, seconds: float) -> bool:
            """Waits, and tells whether the client went away meanwhile."""
            ends = time.monotonic() + seconds
            while not server.closing.is_set():
                left = ends - time.monotonic()
                # There is only one request on a connection, so what can be read now is its end.
                if select.select([self.connection], [], [], max(0.0, min(left, 0.1)))[0]:
                    return True
                if left <= 0:
                    return False
            return True

        def _send(self, answer: Answer) -> bool:
            """Writes the answer, and tells whether it was written to its end."""
            if answer.reset:
                # Closed at once and without a farewell: the client sees a reset.
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.connection.close()
                return False
            content = answer.content()
            self.send_response(answer.status)
            for name, value in {"content-type": "application/json", **answer.headers}.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(content) + answer.cut))
            self.end_headers()
            for piece in [content[at : at + 1] for at in range(len(content))] if answer.drip else [content]:
                if server.closing.wait(answer.drip):
                    return False
                self.wfile.write(piece)
            return True

        def _is_taken(self) -> bool:
            """Whether the client read it all: one that closes before it has done so resets the connection."""
            try:
                self.connection.settimeout(PATIENCE)
                self.connection.shutdown(socket.SHUT_WR)
                ended = self.connection.recv(1) == b""
                failure: int = self.connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
                return ended and failure == 0
            except OSError:
                return False

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing: tests look at `seen`."""

    return Handler
