"""The Host and Origin headers of a request, read as what they are; what is neither is nobody."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from typing import NamedTuple

_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(?P<port>[0-9]{1,5}))?", re.ASCII)
_ORIGIN = re.compile(r"(?P<scheme>https?)://(?P<host>[^/?#@\\\s]+)", re.ASCII)
_PORTS = {"http": 80, "https": 443}


class HostAndPort(NamedTuple):
    """The name or address that was called, without brackets, and the port if one was named."""

    name: str
    port: int | None


def read_host(header: str) -> HostAndPort | None:
    """The name and port of a Host header; None unless it is a name or an address and, perhaps, a port, alone.

    >>> read_host("localhost:8080"), read_host("localhost#.example.com")
    (HostAndPort(name='localhost', port=8080), None)
    """
    found = _HOST.fullmatch(header)
    if found is None:
        return None
    name, port = found["name"].casefold(), int(found["port"]) if found["port"] else None
    if not name.startswith("["):
        return HostAndPort(name, port)
    return HostAndPort(name[1:-1], port) if is_address(name[1:-1]) else None


def is_known_host(header: str, names: Iterable[str]) -> bool:
    """Whether the Host header is an address or a known name; pages rebound to this address come under their own."""
    host = read_host(header)
    return host is not None and (host.name in names or is_address(host.name))


def is_same_origin(origin: str, header: str) -> bool:
    """Whether a page of this Origin came from the host that is called now."""
    found, host = _ORIGIN.fullmatch(origin), read_host(header)
    page = read_host(found["host"]) if found else None
    if found is None or host is None or page is None:
        return False
    usual = _PORTS[found["scheme"]]
    return (page.name, page.port or usual) == (host.name, host.port or usual)


def is_address(name: str) -> bool:
    """Whether this is an IP address."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
