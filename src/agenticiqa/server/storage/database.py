"""The SQLite file of the service: its tables, and their rows as runs, events and jobs."""

from __future__ import annotations

import json
import logging
import secrets
import sqlite3
import time
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

logger = logging.getLogger("agenticiqa.server.storage")

Kind = Literal["assess", "compare", "measure", "audit", "encode"]
Status = Literal["queued", "running", "finished", "failed", "cancelled"]
ENDED: tuple[Status, ...] = ("finished", "failed", "cancelled")
Json = dict[str, Any]

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
_LATER = {
    "runs": {
        "shares": "TEXT",
        "fetched": "REAL",
        "size": "INTEGER NOT NULL DEFAULT 0",
    },
    "jobs": {"fetched": "REAL", "client_key": "TEXT", "digest": "TEXT"},
}
_INDEXES = """
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
    request: Json
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
        """Whether nothing more will happen to it."""
        return self.status in ENDED


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
    digest: str | None = None
    place: int = 0

    @property
    def status(self) -> Status:
        """Queued until something runs, then running until everything ended."""
        open_runs = self.counts.get("queued", 0) + self.counts.get("running", 0)
        if open_runs == 0:
            return "cancelled" if self.cancelled else "finished"
        return "queued" if open_runs == sum(self.counts.values()) == self.counts.get("queued", 0) else "running"

    @property
    def has_ended(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.status in ENDED


def new_id() -> str:
    """A name nobody can guess."""
    return secrets.token_hex(12)


def open_sound_database(path: Path) -> tuple[sqlite3.Connection, Path | None]:
    """A connection to the file; a damaged one is moved aside first and named, and a new one takes its place."""
    damage = found_damage(path)
    if damage is None:
        return open_database(path), None
    aside = path.with_name(f"{path.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(2)}")
    for suffix in ("", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            path.with_name(path.name + suffix).rename(aside.with_name(aside.name + suffix))
    logger.error(
        "%s: is damaged (%s) and was moved to %s with the files of its runs; new runs are kept", path, damage, aside
    )
    return open_database(path), aside


def found_damage(path: Path) -> str | None:
    """What is wrong with the file; None where it is sound or not there."""
    if not path.exists():
        return None
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


def open_database(path: Path) -> sqlite3.Connection:
    """A connection for all threads, with every table, column and index in place."""
    connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.executescript(_SCHEMA)
    _add_later_columns(connection)
    connection.executescript(_INDEXES)
    return connection


def _add_later_columns(sql: sqlite3.Connection) -> None:
    for table, columns in _LATER.items():
        known = {row["name"] for row in sql.execute(f"PRAGMA table_info({table})")}
        for name, kind in columns.items():
            if name not in known:
                sql.execute(f"ALTER TABLE {table} ADD COLUMN {name} {kind}")


def insert_run(
    sql: sqlite3.Connection,
    run_id: str,
    kind: str,
    request: Json,
    key: str | None,
    job: str | None,
    shares: str | None,
    size: int,
) -> None:
    """Adds a waiting run."""
    sql.execute(
        "INSERT INTO runs (id, kind, status, key, job_id, request, created, shares, size) "
        "VALUES (?, ?, 'queued', ?, ?, ?, ?, ?, ?)",
        (run_id, kind, key, job, json.dumps(request), time.time(), shares, size),
    )


def add_event_row(sql: sqlite3.Connection, run_id: str, kind: str, data: Mapping[str, Any]) -> None:
    """Adds what happened to a run, numbered after its last event."""
    sql.execute(
        "INSERT INTO events SELECT ?, COALESCE(MAX(number), 0) + 1, ?, ? FROM events WHERE run_id = ?",
        (run_id, kind, json.dumps(dict(data)), run_id),
    )


def count_runs(sql: sqlite3.Connection, condition: str, *values: object) -> int:
    """How many runs meet the condition."""
    return int(sql.execute(f"SELECT COUNT(*) FROM runs WHERE {condition}", values).fetchone()[0])


def read_job(sql: sqlite3.Connection, job_id: str) -> Job:
    """The job of this name with its runs counted; it has to be there."""
    row = sql.execute("SELECT rowid, * FROM jobs WHERE id = ?", (job_id,)).fetchone()
    counts = sql.execute("SELECT status, COUNT(*) FROM runs WHERE job_id = ? GROUP BY status", (job_id,)).fetchall()
    found = {line[0]: line[1] for line in counts}
    return Job(job_id, row["created"], bool(row["cancelled"]), found, row["digest"], row["rowid"])


def read_run(row: sqlite3.Row) -> Run:
    """The run in this row."""
    values = dict(row)
    for name in ("request", "result", "problem"):
        values[name] = json.loads(values[name]) if values[name] else None
    return Run(**values)
