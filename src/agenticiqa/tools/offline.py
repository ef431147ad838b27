"""A stretch of code during which this thread cannot reach the network, whatever libraries it calls."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from agenticiqa.errors import OfflineError

_FORBIDDEN = frozenset({"socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"})
_thread = threading.local()


@contextmanager
def no_network() -> Iterator[None]:
    """Raises OfflineError from inside whatever tries to open a connection in this thread."""
    _install_guard()
    before = getattr(_thread, "guarded", False)
    _thread.guarded = True
    try:
        yield
    finally:
        _thread.guarded = before


@cache
def _install_guard() -> None:
    # Python never takes an audit hook away again, so there is one, which only acts on guarded threads.
    sys.addaudithook(_refuse)


def _refuse(event: str, arguments: tuple[object, ...]) -> None:
    if event in _FORBIDDEN and getattr(_thread, "guarded", False):
        raise OfflineError("offline mode: a library tried to reach the network")
