"""The few things a batch needs of a disk and of a clock, so that whoever tests it can let them fail."""

from __future__ import annotations

import os
import time
from pathlib import Path


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
