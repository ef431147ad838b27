"""One run per output: a lock that the system lets go of when the process ends, however it ends."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from types import TracebackType

from filelock import FileLock, Timeout

from agenticiqa.errors import OutputInUseError, cannot_write


class OutputLock:
    """Held while a run writes to the output; raises OutputInUseError when another one holds it."""

    def __init__(self, output: Path) -> None:
        self._output = output
        # A file of its own, and never removed: the output itself is replaced, and a lock on a removed file is no lock.
        self._lock = FileLock(output.with_name(f".{output.name}.lock"), timeout=0, mode=0o644)
        self._holder = output.with_name(f".{output.name}.holder")

    def __enter__(self) -> OutputLock:
        try:
            self._lock.acquire()
        except Timeout:
            raise OutputInUseError(
                f"{self._output}: another run is writing to it ({self._held_by()}); "
                "wait for it or choose another output"
            ) from None
        except (OSError, NotImplementedError) as error:
            raise cannot_write(self._output, error) from error
        self._sign()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._holder.unlink(missing_ok=True)
        self._lock.release()

    def _held_by(self) -> str:
        try:
            return self._holder.read_text(encoding="utf-8", errors="replace").strip() or "unknown"
        except OSError:
            return "unknown"

    def _sign(self) -> None:
        """Says who holds the lock; on a full disk it goes unsaid."""
        try:
            self._holder.write_text(f"process {os.getpid()} on {socket.gethostname()}", encoding="utf-8")
        except OSError:
            return
