"""Running the service: uvicorn, its signals, and a line that says where it listens."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType

import uvicorn
from fastapi import FastAPI

from agenticiqa.batch.journal import output_lock
from agenticiqa.config import Settings
from agenticiqa.errors import OutputInUseError, UsageError
from agenticiqa.server.app import create_app
from agenticiqa.server.connections import MAX_HEADER_BYTES, guarded_protocol
from agenticiqa.server.service_options import ServiceOptions

# Seconds that answers have left after the runs have ended.
MARGIN = 5.0


class Server(uvicorn.Server):
    """A server that tells the service of a signal at once, so that nobody waits for what will not begin."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begins to stop."""
        app = self.config.app
        assert isinstance(app, FastAPI)
        app.state.service.begin_stop()
        super().handle_exit(sig, frame)


def serve(options: ServiceOptions, settings: Settings, announce: Callable[[str], None]) -> None:
    """Serves until a signal; `announce` gets the address once the service listens."""
    # Uploads, results and caches are for this user alone; workers inherit it.
    os.umask(0o077)
    with sole_service(options.storage):
        _serve(options, settings, announce)


@contextmanager
def sole_service(folder: Path) -> Iterator[None]:
    """Holds the folder; raises UsageError when another service does: each would begin the other's runs again."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    with ExitStack() as held:
        try:
            held.enter_context(output_lock(folder / "service"))
        except OutputInUseError:
            raise UsageError(
                f"{folder}: another service keeps its runs there; use or stop that one, "
                "or give this one a --folder and a --port of its own"
            ) from None
        (folder / ".service.lock").chmod(0o600)
        yield


def _serve(options: ServiceOptions, settings: Settings, announce: Callable[[str], None]) -> None:
    app = create_app(options, settings)
    listener = _listen(options)
    address, port = listener.getsockname()[:2]
    shown = f"[{address}]" if ":" in address else address
    announce(f"http://{shown}:{port}")
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=True,
        # h11 alone bounds the size of a header, and only it can be given limits of ours.
        http=guarded_protocol(options),
        ws="none",
        timeout_keep_alive=15,
        timeout_graceful_shutdown=round(options.grace + MARGIN),
        h11_max_incomplete_event_size=MAX_HEADER_BYTES,
    )
    Server(config).run([listener])


def _listen(options: ServiceOptions) -> socket.socket:
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    try:
        return socket.create_server((options.host, options.port), family=family, backlog=512)
    except OSError as error:
        raise UsageError(
            f"{options.host}:{options.port}: cannot listen there ({error.strerror}); choose another --port"
        ) from error
