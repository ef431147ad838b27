"""Limits that hold before a request is one: how many connections, how long a header may take, how large it may be.

Uvicorn waits for the rest of a header for ever. Here a connection that has sent no whole header in time is closed, and
when too many such half-open ones come from one address or in all, the oldest goes, so that others are still served.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from agenticiqa.server.service_options import ServiceOptions

MAX_HEADER_BYTES = 32 * 1024
MAX_HEADERS = 100
# Connections whose header is not there yet.
HALF_OPEN_PER_ADDRESS = 64
HALF_OPEN_IN_ALL = 256
# What is still read of a body after its answer, so that the answer is not lost on a client that sends on.
UNREAD_BYTES = 1024 * 1024
UNREAD_SECONDS = 5.0
_BUSY = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 5\r\nContent-Length: 0\r\n\r\n"
_HOST = re.compile(r"(?:\[(?P<ipv6>[0-9A-Fa-f:.]+)\]|(?P<name>[A-Za-z0-9._-]+))(?::(?P<port>[0-9]{1,5}))?", re.ASCII)
_ORIGIN = re.compile(r"(?P<scheme>https?)://(?P<host>[^/?#@\\\s]+)", re.ASCII)
_PORTS = {"http": 80, "https": 443}


class Connections:
    """All connections of one service; belongs to its event loop."""

    def __init__(self, options: ServiceOptions) -> None:
        self.header_timeout = options.header_timeout
        self._most = options.max_connections
        self._most_per_address = options.max_connections_per_address
        self._open: Counter[str] = Counter()
        # A dict keeps their order: the oldest is the first.
        self._half_open: dict[GuardedProtocol, str] = {}

    def admit(self, address: str) -> bool:
        """Whether one more connection of this address is served; it counts if it is."""
        if self._open.total() >= self._most or self._open[address] >= self._most_per_address:
            return False
        self._open[address] += 1
        return True

    def leave(self, connection: GuardedProtocol, address: str) -> None:
        """Forgets a connection that was admitted."""
        self.has_header(connection)
        self._open[address] -= 1
        # Without those that have none, which would be kept for ever.
        self._open = +self._open

    def is_waiting(self, connection: GuardedProtocol, address: str) -> None:
        """Notes that a connection has to send a header; the oldest such one goes when there are too many."""
        self._half_open.setdefault(connection, address)
        of_address = [other for other, where in self._half_open.items() if where == address]
        if len(of_address) > HALF_OPEN_PER_ADDRESS:
            of_address[0].give_up()
        elif len(self._half_open) > HALF_OPEN_IN_ALL:
            next(iter(self._half_open)).give_up()

    def has_header(self, connection: GuardedProtocol) -> None:
        """Notes that a connection has sent its header."""
        self._half_open.pop(connection, None)


class GuardedProtocol(H11Protocol):
    """Uvicorn's HTTP/1.1 with these limits; made for one service by `guarded_protocol`."""

    guard: Connections

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._address: str | None = None
        self._patience: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None
        self._unread_bytes = 0

    def connection_made(self, transport: Any) -> None:
        """Takes a new connection, or turns it away."""
        peer = transport.get_extra_info("peername")
        address = str(peer[0]) if isinstance(peer, tuple) and peer else "local"
        if not self.guard.admit(address):
            transport.write(_BUSY)
            transport.close()
            return
        self._address = address
        super().connection_made(transport)
        self._expect_header()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._address is None:
            return
        self._stop_timers()
        self.guard.leave(self, self._address)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Reads on; a header has to come as a whole in time, however slowly its bytes trickle in."""
        if self._address is None:
            return
        if self._unread is not None:
            self._unread_bytes += len(data)
            if self._unread_bytes > UNREAD_BYTES:
                self.give_up()
                return
        super().data_received(data)
        if self.conn.their_state is not h11.SEND_BODY:
            self._forget_unread()
        if self.conn.their_state is h11.IDLE:
            self._expect_header()
        else:
            self._stop_waiting()

    def on_response_complete(self) -> None:
        """Ends the request; of a body that nobody read only a little more is waited for."""
        super().on_response_complete()
        if self.conn.their_state is h11.SEND_BODY and self._unread is None:
            self._unread_bytes = 0
            self._unread = self.loop.call_later(UNREAD_SECONDS, self.give_up)

    def eof_received(self) -> None:
        if self._address is not None:
            super().eof_received()

    def give_up(self) -> None:
        """Closes a connection whose header did not come, or whose body does not end."""
        self._stop_timers()
        if self.transport is not None and not self.transport.is_closing():
            self.transport.close()

    def _expect_header(self) -> None:
        if self._patience is None and self._address is not None:
            self._patience = self.loop.call_later(self.guard.header_timeout, self.give_up)
            self.guard.is_waiting(self, self._address)

    def _stop_timers(self) -> None:
        self._stop_waiting()
        self._forget_unread()

    def _stop_waiting(self) -> None:
        self.guard.has_header(self)
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _forget_unread(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None


def guarded_protocol(options: ServiceOptions) -> type[GuardedProtocol]:
    return type("ServiceProtocol", (GuardedProtocol,), {"guard": Connections(options)})


def is_header_too_large(headers: Sequence[tuple[bytes, bytes]]) -> bool:
    """Whether a request has more headers, or longer ones, than anybody needs; h11 bounds only those in parts."""
    return len(headers) > MAX_HEADERS or sum(len(name) + len(value) for name, value in headers) > MAX_HEADER_BYTES


def read_host(header: str) -> tuple[str, int | None] | None:
    """The name, and the port if one is named; None unless the Host header is a name or an address, alone.

    >>> read_host("localhost:8080"), read_host("[::1]"), read_host("localhost#.example.com")
    (('localhost', 8080), ('::1', None), None)
    """
    found = _HOST.fullmatch(header)
    if found is None or (found["ipv6"] and not _is_address(found["ipv6"])):
        return None
    return (found["ipv6"] or found["name"]).casefold(), int(found["port"]) if found["port"] else None


def is_known_host(header: str, names: Iterable[str]) -> bool:
    """Whether the Host header is an address or a known name; pages rebound to this address come under their own."""
    host = read_host(header)
    return host is not None and (host[0] in names or _is_address(host[0]))


def is_same_origin(origin: str, header: str) -> bool:
    """Whether a page of this Origin came from the host that is called now."""
    found, host = _ORIGIN.fullmatch(origin), read_host(header)
    page = read_host(found["host"]) if found else None
    if found is None or host is None or page is None:
        return False
    usual = _PORTS[found["scheme"]]
    return (page[0], page[1] or usual) == (host[0], host[1] or usual)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
