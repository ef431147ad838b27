"""The SQLite file of the service: its tables, and their rows as runs, events and jobs."""

from __future__ import annotations

import json
import logging
import secrets
import sqlite3
import time
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agenticiqa.server.workers.messages import Json, Kind, RunRequest

logger = logging.getLogger("agenticiqa.server.storage")

Status = Literal["queued", "running", "finished", "failed", "cancelled"]

_SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
    place INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    status TEXT NOT NULL,
    key TEXT,
    job_id TEXT,
    request TEXT NOT NULL,
    created REAL NOT NULL,
    started REAL,
    finished REAL,
    result TEXT,
    problem TEXT
);
CREATE INDEX IF NOT EXISTS runs_waiting ON runs (status, job_id, place);
CREATE INDEX IF NOT EXISTS runs_by_key ON runs (key);
CREATE INDEX IF NOT EXISTS runs_by_job ON runs (job_id, place);
CREATE TABLE IF NOT EXISTS events (
    run_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    type TEXT NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (run_id, number)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS jobs (
    id TEXT PRIMARY KEY,
    created REAL NOT NULL,
    cancelled INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS gone (
    id TEXT PRIMARY KEY,
    reason TEXT NOT NULL,
    moment REAL NOT NULL
);
"""
# Added after the first release; a database of that one gets them when it is opened.
_LATER_COLUMNS = (
    ("runs", "shares", "TEXT"),
    ("runs", "fetched", "REAL"),
    ("runs", "size", "INTEGER NOT NULL DEFAULT 0"),
    ("jobs", "fetched", "REAL"),
    ("jobs", "client_key", "TEXT"),
    ("jobs", "digest", "TEXT"),
)
_LATER_INDEXES = """
CREATE INDEX IF NOT EXISTS runs_by_leader ON runs (shares);
CREATE UNIQUE INDEX IF NOT EXISTS jobs_by_client_key ON jobs (client_key);
"""


@dataclass(frozen=True)
class Run:
    """One request about an image or several, and what became of it."""

    place: int
    id: str
    kind: Kind
    status: Status
    key: str | None
    job_id: str | None
    request: RunRequest
    created: float
    started: float | None
    finished: float | None
    result: Json | None
    problem: Json | None
    shares: str | None = None
    fetched: float | None = None
    size: int = 0

    @property
    def has_ended(self) -> bool:
        return self.status in ("finished", "failed", "cancelled")


@dataclass(frozen=True)
class Event:
    """Something that happened to a run."""

    number: int
    type: str
    data: Json


@dataclass(frozen=True)
class Job:
    """A batch: how many of its runs are in which state."""

    id: str
    created: float
    cancelled: bool
    counts: dict[str, int]
    digest: str | None
    place: int

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def status(self) -> Status:
        """Queued until something runs, then running until everything ended."""
        queued = self.counts.get("queued", 0)
        if queued + self.counts.get("running", 0) == 0:
            return "cancelled" if self.cancelled else "finished"
        return "queued" if queued == self.total else "running"

    @property
    def has_ended(self) -> bool:
        return self.status in ("finished", "cancelled")


def new_id() -> str:
    """A name nobody can guess."""
    return secrets.token_hex(12)


def open_sound_database(path: Path) -> tuple[sqlite3.Connection, Path | None]:
    """A connection to the file; a damaged one is moved aside first and named, and a new one takes its place."""
    damage = _damage_of(path) if path.exists() else None
    if damage is None:
        return _open_database(path), None
    aside = path.with_name(f"{path.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(2)}")
    for suffix in ("", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            path.with_name(path.name + suffix).rename(aside.with_name(aside.name + suffix))
    logger.error(
        "%s: is damaged (%s) and was moved to %s with the files of its runs; new runs are kept", path, damage, aside
    )
    return _open_database(path), aside


def _damage_of(path: Path) -> str | None:
    try:
        with closing(sqlite3.connect(path)) as connection:
            found = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.DatabaseError as error:
        if is_damage(error):
            return str(error)
        raise
    return None if found[0] == "ok" else str(found[0])


def is_damage(error: sqlite3.Error) -> bool:
    """Whether an error says that the file itself is damaged."""
    return (getattr(error, "sqlite_errorcode", 0) & 0xFF) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def _open_database(path: Path) -> sqlite3.Connection:
    """A connection for all threads, with every table, column and index in place."""
    connection = sqlite3.connect(path, check_same_thread=False, isolation_level="IMMEDIATE")
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.executescript(_SCHEMA)
    for table, name, kind in _LATER_COLUMNS:
        if name not in {row["name"] for row in connection.execute(f"PRAGMA table_info({table})")}:
            connection.execute(f"ALTER TABLE {table} ADD COLUMN {name} {kind}")
    connection.executescript(_LATER_INDEXES)
    return connection


def add_event_row(sql: sqlite3.Connection, run_id: str, kind: str, data: Json) -> None:
    """Adds what happened to a run, numbered after its last event."""
    sql.execute(
        "INSERT INTO events SELECT ?, COALESCE(MAX(number), 0) + 1, ?, ? FROM events WHERE run_id = ?",
        (run_id, kind, json.dumps(data), run_id),
    )


def read_job(sql: sqlite3.Connection, row: sqlite3.Row) -> Job:
    """The job in this row, which has its rowid too, with its runs counted."""
    query = "SELECT status, COUNT(*) FROM runs WHERE job_id = ? GROUP BY status"
    counts = sql.execute(query, (row["id"],)).fetchall()
    return Job(row["id"], row["created"], bool(row["cancelled"]), dict(counts), row["digest"], row["rowid"])


def read_run(row: sqlite3.Row) -> Run:
    values = dict(row)
    for name in ("result", "problem"):
        values[name] = json.loads(values[name]) if values[name] else None
    return Run(**{**values, "request": RunRequest.model_validate_json(values["request"])})
