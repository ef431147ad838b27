"""How long runs are kept and how much room they may take: what goes first, and what is said about it.

A job is kept or removed as a whole, and never while it runs. When the room is used up, what was fetched goes first,
the oldest before the rest, then the pictures of runs nobody fetched; results nobody fetched stay until their days are
over. If that is not enough, new uploads are refused.
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

# A folder this young may belong to an upload that is still being taken in.
YOUNG = 3600.0
BALLAST = 4 * MEGABYTE
_SQLITE_FULL = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)


class Retention:
    """Removes what may be removed, and keeps a little room for what must be written when the disk is full."""

    def __init__(self, store: Store, folder: Path, keep_days: float, keep_megabytes: int) -> None:
        self._store = store
        self._folder = folder
        self._keep_days = keep_days
        self._most = keep_megabytes * MEGABYTE
        self._ballast = folder.parent / "ballast"

    def sweep(self) -> int:
        """Removes what is older than the limit, then enough for the rest to fit; returns how many went."""
        now = time.time()
        expired = self._store.removable(now - self._keep_days * 86_400, fetched_only=False)
        for what, name in expired:
            self.remove(what, name, f"it was kept for {self._keep_days:g} days")
        self._remove_strays(now)
        return len(expired) + self.make_room()

    def make_room(self, below: float = 1.0) -> int:
        """Removes fetched results, the oldest first, until the rest takes less than that part of the limit."""
        aim, gone = self._most * below, 0
        if self._store.stored_bytes() <= aim:
            return 0
        for what, name in self._store.removable(time.time(), fetched_only=True):
            self.remove(what, name, "it had been fetched, and room was needed")
            gone += 1
            if self._store.stored_bytes() <= aim:
                break
        if gone:
            logger.info("%d runs or jobs that had been fetched were removed to make room", gone)
        return gone

    def is_full(self) -> bool:
        """Whether what is kept takes more than it may."""
        return self._store.stored_bytes() > self._most

    def seconds_to_next(self) -> float:
        """When the next run will have been kept long enough, at most ten minutes from now."""
        first = self._store.next_expiry()
        if first is None:
            return 600.0
        return min(600.0, max(0.2, first + self._keep_days * 86_400 - time.time()))

    def remove(self, what: Literal["run", "job"], name: str, reason: str) -> None:
        """Removes a run or a job with all that belongs to it."""
        folders = [name] if what == "run" else self._store.job_run_ids(name)
        # Files first: a service that is killed in between removes the rest with its next sweep.
        for folder in folders:
            shutil.rmtree(self._folder / folder, ignore_errors=True)
        self._store.forget(what, name, reason)

    def release_ballast(self) -> None:
        """Gives up the room kept for emergencies, and whatever else may go at once."""
        with suppress(OSError):
            self._ballast.unlink(missing_ok=True)

    def restore_ballast(self) -> None:
        """Takes the room for emergencies again, if there is enough."""
        with suppress(OSError):
            if self._ballast.exists() or shutil.disk_usage(self._folder).free < 4 * BALLAST:
                return
            self._ballast.write_bytes(b"\0" * BALLAST)

    def _remove_strays(self, now: float) -> None:
        known = self._store.ids()
        for child in self._folder.iterdir():
            # Runs that end meanwhile take their folders with them.
            with suppress(FileNotFoundError):
                if child.name not in known and now - child.stat().st_mtime > YOUNG:
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
    """The bytes of a run's files."""
    try:
        return sum(file.stat().st_size for file in folder.glob("*") if file.is_file())
    except FileNotFoundError:
        return 0
