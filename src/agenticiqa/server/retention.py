"""Forgetting: old runs go, and so do the oldest when the folder grows too large."""

from __future__ import annotations

import logging
import shutil
import time
from contextlib import suppress
from pathlib import Path

from agenticiqa.server.options import MEGABYTE
from agenticiqa.server.store import Store

logger = logging.getLogger("agenticiqa.server.retention")

# A folder this young may belong to an upload that is still being taken in.
YOUNG = 3600.0


def sweep(store: Store, folder: Path, keep_days: float, keep_megabytes: int) -> int:
    """Removes what is older than the limit, then the oldest until the rest fits; returns how many runs went."""
    now = time.time()
    gone = store.ended_before(now - keep_days * 86_400)
    for run_id in gone:
        _forget(store, folder, run_id)
    _remove_strays(store, folder, now)
    total = sum(_size(child) for child in folder.iterdir())
    for run_id in store.ended_before(now):
        if total <= keep_megabytes * MEGABYTE:
            break
        total -= _size(folder / run_id)
        _forget(store, folder, run_id)
        gone.append(run_id)
    return len(gone)


def _forget(store: Store, folder: Path, run_id: str) -> None:
    store.forget(run_id)
    shutil.rmtree(folder / run_id, ignore_errors=True)


def _remove_strays(store: Store, folder: Path, now: float) -> None:
    known = store.ids()
    for child in folder.iterdir():
        # Runs that end meanwhile take their folders with them.
        with suppress(FileNotFoundError):
            if child.name not in known and now - child.stat().st_mtime > YOUNG:
                shutil.rmtree(child, ignore_errors=True)


def _size(folder: Path) -> int:
    try:
        return sum(file.stat().st_size for file in folder.glob("*") if file.is_file())
    except FileNotFoundError:
        return 0
