"""The few things a batch needs of a disk and of a clock, so that whoever tests it can let them fail; and the lock that
keeps two runs from one output, which the system lets go of when the process ends, however it ends."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path
from types import TracebackType

from filelock import FileLock, Timeout

from agenticiqa.errors import OutputInUseError, cannot_write


class Disk:
    """Writing that is on the disk when it returns; every method may raise OSError."""

    def open(self, path: Path, *, empty: bool = False) -> int:
        """A descriptor that appends to the file, which is created; `empty` begins it anew."""
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | (os.O_TRUNC if empty else 0) | getattr(os, "O_BINARY", 0)
        return os.open(path, flags, 0o644)

    def write(self, descriptor: int, content: bytes) -> int:
        """How many bytes were taken."""
        return os.write(descriptor, content)

    def sync(self, descriptor: int) -> None:
        """Waits until what was written is on the disk."""
        os.fsync(descriptor)

    def truncate(self, descriptor: int, size: int) -> None:
        """Cuts the file to this size."""
        os.ftruncate(descriptor, size)

    def close(self, descriptor: int) -> None:
        """Lets go of the file."""
        os.close(descriptor)

    def replace(self, source: Path, target: Path) -> None:
        """Puts one file in the place of another in one step."""
        os.replace(source, target)

    def sync_folder(self, folder: Path) -> None:
        """Waits until the names in a folder are on the disk."""
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def write_all(self, descriptor: int, content: bytes) -> None:
        """Writes everything in as few steps as the system takes, one as a rule."""
        view = memoryview(content)
        while view:
            view = view[self.write(descriptor, bytes(view)) :]


class Clock:
    """The time that passes."""

    def monotonic(self) -> float:
        """Seconds since some moment, never going back."""
        return time.monotonic()


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
