"""What is kept: one cache on disk for replies and tool results, shared and self-healing; a few values in memory."""

from __future__ import annotations

import hashlib
import logging
import os
import sqlite3
import threading
import time
import zlib
from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

logger = logging.getLogger("agenticiqa.cache")

SCHEMA_VERSION = 1
BUSY_SECONDS = 30.0
# What a row costs in the file beside its value.
_ROW_OVERHEAD = 120
_SCHEMA = """
CREATE TABLE IF NOT EXISTS entries (
    namespace TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL,
    checksum INTEGER NOT NULL, bytes INTEGER NOT NULL, used INTEGER NOT NULL,
    PRIMARY KEY (namespace, key)
);
CREATE INDEX IF NOT EXISTS by_use ON entries (used, bytes);
"""
# Drops the least recently used entries until the rest fit.
_EVICT = (
    "DELETE FROM entries WHERE rowid IN (SELECT rowid FROM"
    " (SELECT rowid, SUM(bytes) OVER (ORDER BY used DESC, rowid DESC) AS kept FROM entries) WHERE kept > ?)"
)
_SIZES = "SELECT namespace, COUNT(*), SUM(bytes) FROM entries GROUP BY namespace"
_Result = TypeVar("_Result")
_Kept = TypeVar("_Kept")


@dataclass(frozen=True)
class CacheStatistics:
    """What one namespace holds, and how often this process found what it looked for."""

    hits: int
    misses: int
    entries: int
    bytes: int


def cache_key(*parts: object) -> str:
    """One key for these parts, different whenever a part differs."""
    digest = hashlib.sha256()
    for part in parts:
        text = repr(part).encode()
        digest.update(len(text).to_bytes(8, "big") + text)
    return digest.hexdigest()


class Recent(Generic[_Kept]):
    """The values that were put or asked for last, by key, in memory; safe for threads."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._values: OrderedDict[str, _Kept] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: str) -> _Kept | None:
        """The value kept under the key, now the newest."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def put(self, key: str, value: _Kept) -> None:
        """Keeps the value; the oldest goes where there is no more room."""
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            while len(self._values) > self._capacity:
                self._values.popitem(last=False)


class Cache:
    """Texts by namespace and key in one SQLite file; the least recently used go when the cap is reached.

    A cache never breaks a run: what cannot be read is a miss, what cannot be written is not kept, both with a warning.
    """

    def __init__(self, path: Path, max_bytes: int = 512_000_000) -> None:
        self.path = path
        self.max_bytes = max_bytes
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._process = os.getpid()
        self._hits, self._misses = Counter[str](), Counter[str]()
        self._bytes_since_check = max_bytes

    def get(self, namespace: str, key: str) -> str | None:
        """The text stored under this key, or None."""
        with self._lock:
            found = self._attempt(lambda database: _read(database, namespace, key))
            (self._misses if found is None else self._hits)[namespace] += 1
            return found

    def put(self, namespace: str, key: str, value: str) -> None:
        """Stores the text, replacing what was there."""
        with self._lock:
            data = value.encode()
            size = len(data) + _ROW_OVERHEAD
            if size > self.max_bytes:
                return
            row = (namespace, key, data, zlib.crc32(data), size, time.time_ns())
            self._attempt(
                lambda database: database.execute("INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?, ?, ?)", row)
            )
            self._bytes_since_check += size
            # Summing sizes on every write would be slow; the cap may be passed by one percent.
            if self._bytes_since_check * 100 >= self.max_bytes:
                self._attempt(lambda database: database.execute(_EVICT, (self.max_bytes,)))
                self._bytes_since_check = 0

    def statistics(self) -> dict[str, CacheStatistics]:
        """Contents and hit counts by namespace."""
        with self._lock:
            rows = self._attempt(lambda database: list(database.execute(_SIZES))) or []
            held = {name: (count, size) for name, count, size in rows}
            names = sorted({*held, *self._hits, *self._misses})
            return {
                name: CacheStatistics(self._hits[name], self._misses[name], *held.get(name, (0, 0))) for name in names
            }

    def clear(self, namespace: str | None = None) -> None:
        """Forgets one namespace, or everything."""
        with self._lock:
            where, names = ("", ()) if namespace is None else (" WHERE namespace=?", (namespace,))
            self._attempt(lambda database: database.execute(f"DELETE FROM entries{where}", names))

    def close(self) -> None:
        """Closes the file; the next use opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _attempt(self, operation: Callable[[sqlite3.Connection], _Result]) -> _Result | None:
        for _ in range(2):
            try:
                with self._open() as database:
                    return operation(database)
            except (sqlite3.OperationalError, OSError) as error:
                logger.warning("cache %s: %s; going on without it", self.path, error)
                # Opened anew next time: another process may have replaced a damaged file.
                self.close()
                return None
            except sqlite3.DatabaseError as error:
                logger.warning("cache %s is damaged (%s); starting an empty one", self.path, error)
                if not self._discard():
                    return None
        return None

    def _open(self) -> sqlite3.Connection:
        if self._connection is not None and self._process == os.getpid():
            return self._connection
        # A connection must not cross a fork: the child opens its own and leaves the parent's alone.
        self._process = os.getpid()
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # For this user alone; SQLite gives its other files the rights of this one.
        os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
        database = sqlite3.connect(self.path, timeout=BUSY_SECONDS, check_same_thread=False)
        try:
            _prepare(database)
        except BaseException:
            database.close()
            raise
        self._connection = database
        return database

    def _discard(self) -> bool:
        """Whether the damaged file could be removed."""
        self.close()
        try:
            for suffix in ("", "-wal", "-shm"):
                Path(f"{self.path}{suffix}").unlink(missing_ok=True)
        except OSError as error:
            logger.warning("cache %s cannot be removed (%s); going on without it", self.path, error)
            return False
        return True


def _prepare(database: sqlite3.Connection) -> None:
    database.execute("PRAGMA journal_mode=WAL")
    database.execute("PRAGMA synchronous=NORMAL")
    version = database.execute("PRAGMA user_version").fetchone()[0]
    if version not in (0, SCHEMA_VERSION):
        raise sqlite3.DatabaseError(f"schema version {version}, expected {SCHEMA_VERSION}")
    with database:
        for statement in _SCHEMA.split(";"):
            database.execute(statement)
        if version == 0:
            database.execute(f"PRAGMA user_version={SCHEMA_VERSION}")


def _read(database: sqlite3.Connection, namespace: str, key: str) -> str | None:
    where = (namespace, key)
    row = database.execute("SELECT value, checksum FROM entries WHERE namespace=? AND key=?", where).fetchone()
    if row is None:
        return None
    if zlib.crc32(row[0]) != row[1]:
        logger.warning("cache entry %s/%s is damaged; dropped", namespace, key)
        database.execute("DELETE FROM entries WHERE namespace=? AND key=?", where)
        return None
    database.execute("UPDATE entries SET used=? WHERE namespace=? AND key=?", (time.time_ns(), *where))
    return bytes(row[0]).decode()
