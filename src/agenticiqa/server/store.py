"""Runs, jobs and their events in one SQLite file: the queue itself, so that a restart loses nothing."""

from __future__ import annotations

import json
import secrets
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

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
"""


@dataclass(frozen=True)
class Run:
    """One request for an assessment or a comparison, and what became of it."""

    place: int
    id: str
    kind: Literal["assess", "compare"]
    status: Status
    key: str | None
    job_id: str | None
    request: Json
    created: float
    started: float | None
    finished: float | None
    result: Json | None
    problem: Json | None

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

    @property
    def status(self) -> Status:
        """Queued until something runs, then running until everything ended."""
        open_runs = self.counts.get("queued", 0) + self.counts.get("running", 0)
        if open_runs == 0:
            return "cancelled" if self.cancelled else "finished"
        return "queued" if open_runs == sum(self.counts.values()) == self.counts.get("queued", 0) else "running"


class QueueFullError(Exception):
    """No more runs may wait."""


def new_id() -> str:
    """A name nobody can guess."""
    return secrets.token_hex(12)


class Store:
    """The database; every method is one short transaction and may be called from any thread."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self._connection.row_factory = sqlite3.Row
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = NORMAL")
        self._connection.executescript(_SCHEMA)

    def close(self) -> None:
        """Closes the file."""
        with self._lock:
            self._connection.close()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def submit(self, run_id: str, kind: str, request: Json, key: str, limit: int, fresh: bool) -> tuple[Run, bool]:
        """The new run, or the identical one that is already there and True; raises QueueFullError."""
        with self._transaction() as sql:
            row = None if fresh else sql.execute(
                "SELECT * FROM runs WHERE key = ? AND status IN ('queued', 'running', 'finished') "
                "ORDER BY place DESC LIMIT 1",
                (key,),
            ).fetchone()  # fmt: skip
            if row:
                return _run(row), True
            waiting = _count(sql, "status = 'queued' AND job_id IS NULL")
            if waiting >= limit:
                raise QueueFullError
            _insert(sql, run_id, kind, request, key, None)
            _add_event(sql, run_id, "queued", {"position": waiting + 1})
            return _run(sql.execute("SELECT * FROM runs WHERE id = ?", (run_id,)).fetchone()), False

    def submit_job(self, job_id: str, requests: Iterable[tuple[str, Json]], limit: int) -> Job:
        """A job with one run per request; raises QueueFullError when too many jobs are open."""
        with self._transaction() as sql:
            open_jobs = sql.execute(
                "SELECT COUNT(DISTINCT job_id) FROM runs WHERE status IN ('queued', 'running') AND job_id IS NOT NULL"
            ).fetchone()[0]
            if open_jobs >= limit:
                raise QueueFullError
            sql.execute("INSERT INTO jobs (id, created) VALUES (?, ?)", (job_id, time.time()))
            for run_id, request in requests:
                _insert(sql, run_id, "assess", request, None, job_id)
            return _job(sql, job_id)

    def claim(self) -> Run | None:
        """The next run, now running: those people wait for come before those of jobs."""
        with self._transaction() as sql:
            row = sql.execute(
                "UPDATE runs SET status = 'running', started = ? WHERE place = (SELECT place FROM runs "
                "WHERE status = 'queued' ORDER BY job_id IS NOT NULL, place LIMIT 1) RETURNING *",
                (time.time(),),
            ).fetchone()
            if row is None:
                return None
            if row["job_id"] is None:
                _add_event(sql, row["id"], "started", {})
            return _run(row)

    def add_event(self, run_id: str, kind: str, data: Mapping[str, Any]) -> None:
        """Notes that something happened to a run."""
        with self._transaction() as sql:
            _add_event(sql, run_id, kind, data)

    def finish(self, run: Run, result: Json, summary: Json) -> None:
        """Keeps the result of a run."""
        self._end(run, "finished", "finished", summary, result=json.dumps(result))

    def fail(self, run: Run, problem: Json) -> None:
        """Keeps the reason why a run has no result."""
        self._end(run, "failed", "failed", problem, problem=json.dumps(problem))

    def _end(self, run: Run, status: Status, event: str, data: Json, **columns: str) -> None:
        names = ", ".join(f"{name} = ?" for name in columns)
        with self._transaction() as sql:
            sql.execute(
                f"UPDATE runs SET status = ?, finished = ?, {names} WHERE id = ?",
                (status, time.time(), *columns.values(), run.id),
            )
            if run.job_id is None:
                _add_event(sql, run.id, event, data)

    def requeue(self, reason: str, run_id: str | None = None) -> int:
        """Puts one running run, or all of them, back into the queue, and returns how many."""
        with self._transaction() as sql:
            rows = sql.execute(
                "UPDATE runs SET status = 'queued', started = NULL WHERE status = 'running' AND id = COALESCE(?, id) "
                "RETURNING id, job_id",
                (run_id,),
            ).fetchall()
            for row in rows:
                if row["job_id"] is None:
                    _add_event(sql, row["id"], "requeued", {"reason": reason})
            return len(rows)

    def run(self, run_id: str) -> Run | None:
        """The run of this name."""
        with self._lock:
            row = self._connection.execute("SELECT * FROM runs WHERE id = ?", (run_id,)).fetchone()
        return _run(row) if row else None

    def position(self, run: Run) -> int | None:
        """How many runs have to begin before and including this one; None once it has begun."""
        if run.status != "queued":
            return None
        with self._lock:
            return 1 + _count(self._connection, "status = 'queued' AND job_id IS NULL AND place < ?", run.place)

    def events(self, run_id: str, after: int = 0) -> list[Event]:
        """What happened to the run since that event."""
        with self._lock:
            rows = self._connection.execute(
                "SELECT number, type, data FROM events WHERE run_id = ? AND number > ? ORDER BY number", (run_id, after)
            ).fetchall()
        return [Event(row["number"], row["type"], json.loads(row["data"])) for row in rows]

    def counts(self) -> dict[str, int]:
        """How many runs are in each state."""
        with self._lock:
            rows = self._connection.execute("SELECT status, COUNT(*) FROM runs GROUP BY status").fetchall()
        return {row[0]: row[1] for row in rows}

    def job(self, job_id: str) -> Job | None:
        """The job of this name."""
        with self._lock:
            known = self._connection.execute("SELECT 1 FROM jobs WHERE id = ?", (job_id,)).fetchone()
            return _job(self._connection, job_id) if known else None

    def cancel_job(self, job_id: str) -> Job | None:
        """The job with everything cancelled that has not begun."""
        with self._transaction() as sql:
            if sql.execute("UPDATE jobs SET cancelled = 1 WHERE id = ?", (job_id,)).rowcount == 0:
                return None
            sql.execute(
                "UPDATE runs SET status = 'cancelled', finished = ? WHERE job_id = ? AND status = 'queued'",
                (time.time(), job_id),
            )
            return _job(sql, job_id)

    def job_runs(self, job_id: str, after: int = 0, limit: int = 100) -> list[Run]:
        """The next runs of a job, in the order they were asked for."""
        with self._lock:
            rows = self._connection.execute(
                "SELECT * FROM runs WHERE job_id = ? AND place > ? ORDER BY place LIMIT ?", (job_id, after, limit)
            ).fetchall()
        return [_run(row) for row in rows]

    def ids(self) -> set[str]:
        """The names of all runs."""
        with self._lock:
            return {row[0] for row in self._connection.execute("SELECT id FROM runs")}

    def ended_before(self, moment: float) -> list[str]:
        """The runs nobody waits for any more that ended before that moment, the oldest first."""
        with self._lock:
            rows = self._connection.execute(
                "SELECT id FROM runs WHERE status IN ('finished', 'failed', 'cancelled') AND finished < ? "
                "ORDER BY finished",
                (moment,),
            ).fetchall()
        return [row[0] for row in rows]

    def forget(self, run_id: str) -> None:
        """Removes a run, and its job when that was its last one."""
        with self._transaction() as sql:
            sql.execute("DELETE FROM events WHERE run_id = ?", (run_id,))
            sql.execute("DELETE FROM runs WHERE id = ?", (run_id,))
            sql.execute("DELETE FROM jobs WHERE id NOT IN (SELECT job_id FROM runs WHERE job_id IS NOT NULL)")


def _insert(sql: sqlite3.Connection, run_id: str, kind: str, request: Json, key: str | None, job: str | None) -> None:
    sql.execute(
        "INSERT INTO runs (id, kind, status, key, job_id, request, created) VALUES (?, ?, 'queued', ?, ?, ?, ?)",
        (run_id, kind, key, job, json.dumps(request), time.time()),
    )


def _add_event(sql: sqlite3.Connection, run_id: str, kind: str, data: Mapping[str, Any]) -> None:
    sql.execute(
        "INSERT INTO events SELECT ?, COALESCE(MAX(number), 0) + 1, ?, ? FROM events WHERE run_id = ?",
        (run_id, kind, json.dumps(dict(data)), run_id),
    )


def _count(sql: sqlite3.Connection, condition: str, *values: object) -> int:
    return int(sql.execute(f"SELECT COUNT(*) FROM runs WHERE {condition}", values).fetchone()[0])


def _job(sql: sqlite3.Connection, job_id: str) -> Job:
    row = sql.execute("SELECT * FROM jobs WHERE id = ?", (job_id,)).fetchone()
    counts = sql.execute("SELECT status, COUNT(*) FROM runs WHERE job_id = ? GROUP BY status", (job_id,)).fetchall()
    return Job(job_id, row["created"], bool(row["cancelled"]), {line[0]: line[1] for line in counts})


def _run(row: sqlite3.Row) -> Run:
    values = dict(row)
    for name in ("request", "result", "problem"):
        values[name] = json.loads(values[name]) if values[name] else None
    return Run(**values)
