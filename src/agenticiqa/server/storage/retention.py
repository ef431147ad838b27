"""How long runs are kept and how much room they may take: what goes first, and what is said about it.

A job is kept or removed as a whole, and never while it runs. When the room is used up, what was fetched goes first,
the oldest before the rest; results nobody fetched stay until their days are over. If that is not enough, new uploads
are refused.
"""

from __future__ import annotations

import errno
import logging
import shutil
import sqlite3
import time
from contextlib import suppress
from pathlib import Path
from typing import Literal

from agenticiqa.server.service_options import MEGABYTE
from agenticiqa.server.storage.store import Store

logger = logging.getLogger("agenticiqa.server.retention")

SECONDS_A_DAY = 86_400
# A folder this many seconds young may belong to an upload that is still being taken in.
YOUNG = 3600.0
# Bytes kept for what must be written when the disk is full.
BALLAST = 4 * MEGABYTE
_SQLITE_FULL = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)


class Retention:
    """Removes what may be removed, and keeps a little room for what must be written when the disk is full."""

    def __init__(self, store: Store, folder: Path, keep_days: float, keep_megabytes: int) -> None:
        self._store = store
        self._folder = folder
        self._keep_days = keep_days
        self._max_bytes = keep_megabytes * MEGABYTE
        self._ballast = folder.parent / "ballast"

    def sweep(self) -> None:
        """Removes what is older than the limit, then enough for the rest to fit."""
        for what, name in self._store.removable(time.time() - self._keep_days * SECONDS_A_DAY, fetched_only=False):
            self.remove(what, name, f"it was kept for {self._keep_days:g} days")
        self._remove_strays()
        self.make_room()

    def make_room(self, part: float = 1.0) -> None:
        """Removes fetched results, the oldest first, until the rest takes at most that part of the limit."""
        if self._store.stored_bytes() <= self._max_bytes * part:
            return
        for what, name in self._store.removable(time.time(), fetched_only=True):
            self.remove(what, name, "it had been fetched, and room was needed")
            if self._store.stored_bytes() <= self._max_bytes * part:
                return

    def is_full(self) -> bool:
        return self._store.stored_bytes() > self._max_bytes

    def remove(self, what: Literal["run", "job"], name: str, reason: str) -> None:
        """Removes a run or a job with all that belongs to it."""
        # Files first: a service that is killed in between removes the rest with its next sweep.
        for folder in [name] if what == "run" else self._store.ids(job_id=name):
            shutil.rmtree(self._folder / folder, ignore_errors=True)
        self._store.forget(what, name, reason)

    def release_ballast(self) -> None:
        """Gives up the room kept for emergencies."""
        with suppress(OSError):
            self._ballast.unlink(missing_ok=True)

    def restore_ballast(self) -> None:
        """Takes the room for emergencies again, if there is enough."""
        with suppress(OSError):
            if not self._ballast.exists() and shutil.disk_usage(self._folder).free >= 4 * BALLAST:
                self._ballast.write_bytes(b"\0" * BALLAST)

    def _remove_strays(self) -> None:
        known = self._store.ids()
        for child in self._folder.iterdir():
            # Runs that end meanwhile take their folders with them.
            with suppress(FileNotFoundError):
                if child.name not in known and time.time() - child.stat().st_mtime > YOUNG:
                    shutil.rmtree(child, ignore_errors=True)


def is_disk_full(error: BaseException | None) -> bool:
    """Whether an error, or what caused it, says that nothing more can be written."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            return True
        if isinstance(error, sqlite3.OperationalError) and (error.sqlite_errorcode & 0xFF) in _SQLITE_FULL:
            return True
        error = error.__cause__ or error.__context__
    return False


def folder_size(folder: Path) -> int:
    try:
        return sum(file.stat().st_size for file in folder.glob("*") if file.is_file())
    except FileNotFoundError:
        # Somebody cancelled the run meanwhile.
        return 0
