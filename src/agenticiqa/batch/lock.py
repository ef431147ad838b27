"""One run per output: a lock that the system lets go of when the process ends, however it ends."""

from __future__ import annotations

import fcntl
import os
import socket
from pathlib import Path
from types import TracebackType

from agenticiqa.errors import OutputError, OutputInUseError


class OutputLock:
    """Held while a run writes to the output; raises OutputInUseError when another one holds it."""

    def __init__(self, output: Path) -> None:
        self._output = output
        # A file of its own, and never removed: the output itself is replaced, and a lock on a removed file is no lock.
        self._path = output.with_name(f".{output.name}.lock")
        self._descriptor = -1

    def __enter__(self) -> OutputLock:
        try:
            self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise _cannot_write(self._output, error) from error
        try:
            self._take()
        except BaseException:
            os.close(self._descriptor)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._descriptor)

    def _take(self) -> None:
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(self._descriptor, 200, 0).decode("utf-8", "replace").strip() or "unknown"
            raise OutputInUseError(
                f"{self._output}: another run is writing to it ({holder}); wait for it or choose another output"
            ) from None
        except OSError as error:
            raise _cannot_write(self._output, error) from error
        self._sign()

    def _sign(self) -> None:
        """Says who holds the lock; on a full disk it goes unsaid."""
        try:
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, f"process {os.getpid()} on {socket.gethostname()}".encode(), 0)
        except OSError:
            return


def _cannot_write(output: Path, error: OSError) -> OutputError:
    return OutputError(f"{output}: cannot be written ({error.strerror}); choose a place you may write to")
