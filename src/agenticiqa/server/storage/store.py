"""Where runs and jobs are stored: one SQLite file that is the queue itself, so that a restart loses nothing."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from agenticiqa.server.storage.database import (
    Event,
    Job,
    Json,
    Run,
    Status,
    add_event_row,
    count_runs,
    insert_run,
    is_damage,
    open_sound_database,
    read_job,
    read_run,
)

_REMEMBERED = 50_000
"""So many removed runs and jobs are still told apart from those that never were."""


class QueueFullError(Exception):
    """No more runs may wait."""


class Store:
    """The database; every method is one short transaction and may be called from any thread."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._connection, self.moved_aside = open_sound_database(path)
        self.is_damaged = False
        """Whether the file was found to be damaged since it was opened."""

    def close(self) -> None:
        """Closes the file."""
        with self._lock:
            self._connection.close()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._reading() as sql:
            sql.execute("BEGIN IMMEDIATE")
            try:
                yield sql
                sql.execute("COMMIT")
            except BaseException:
                # A full disk may have ended the transaction already.
                if sql.in_transaction:
                    sql.execute("ROLLBACK")
                raise

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                yield self._connection
            except sqlite3.DatabaseError as error:
                self.is_damaged = self.is_damaged or is_damage(error)
                raise

    def submit(
        self, run_id: str, kind: str, request: Json, key: str, limit: int, fresh: bool, size: int = 0
    ) -> tuple[Run, Run | None]:
        """The new run and the identical one whose work it shares, if there is one; raises QueueFullError.

        A run that shares the work of one that has not ended waits for it and is claimed by nobody.
        """
        with self._transaction() as sql:
            row = None if fresh else sql.execute(
                "SELECT * FROM runs WHERE key = ? AND status IN ('queued', 'running', 'finished') "
                "AND shares IS NULL ORDER BY place DESC LIMIT 1",
                (key,),
            ).fetchone()  # fmt: skip
            leader = read_run(row) if row else None
            waiting = count_runs(sql, "status = 'queued' AND job_id IS NULL AND shares IS NULL")
            followers = count_runs(sql, "status = 'queued' AND shares IS NOT NULL")
            if (leader is None and waiting >= limit) or followers >= 16 * limit:
                raise QueueFullError
            insert_run(sql, run_id, kind, request, key, None, leader.id if leader else None, size)
            add_event_row(sql, run_id, "queued", {"position": waiting + 1})
            return read_run(sql.execute("SELECT * FROM runs WHERE id = ?", (run_id,)).fetchone()), leader

    def submit_job(
        self,
        job_id: str,
        requests: Iterable[tuple[str, Json]],
        limit: int,
        client_key: str | None = None,
        digest: str | None = None,
        sizes: Mapping[str, int] | None = None,
    ) -> tuple[Job, bool]:
        """A job with one run per request, and True; or the job of the same client key, and False.

        Raises QueueFullError when too many jobs are open.
        """
        with self._transaction() as sql:
            known = client_key and sql.execute("SELECT id FROM jobs WHERE client_key = ?", (client_key,)).fetchone()
            if known:
                return read_job(sql, known["id"]), False
            open_jobs = sql.execute(
                "SELECT COUNT(DISTINCT job_id) FROM runs WHERE status IN ('queued', 'running') AND job_id IS NOT NULL"
            ).fetchone()[0]
            if open_jobs >= limit:
                raise QueueFullError
            sql.execute(
                "INSERT INTO jobs (id, created, client_key, digest) VALUES (?, ?, ?, ?)",
                (job_id, time.time(), client_key, digest),
            )
            for run_id, request in requests:
                insert_run(sql, run_id, "assess", request, None, job_id, None, (sizes or {}).get(run_id, 0))
            return read_job(sql, job_id), True

    def claim(self) -> Run | None:
        """The next run, now running: those people wait for come before those of jobs."""
        with self._transaction() as sql:
            row = sql.execute(
                "UPDATE runs SET status = 'running', started = ? WHERE place = (SELECT place FROM runs "
                "WHERE status = 'queued' AND shares IS NULL ORDER BY job_id IS NOT NULL, place LIMIT 1) RETURNING *",
                (time.time(),),
            ).fetchone()
            if row is None:
                return None
            if row["job_id"] is None:
                add_event_row(sql, row["id"], "started", {})
            return read_run(row)

    def add_event(self, run_id: str, kind: str, data: Mapping[str, Any]) -> None:
        """Notes that something happened to a run."""
        with self._transaction() as sql:
            add_event_row(sql, run_id, kind, data)

    def finish(self, run: Run, result: Json, summary: Json, size: int = 0) -> bool:
        """Keeps the result of a run; False if it has ended already, whose end then stands."""
        return self._end(run, "finished", summary, size, result=json.dumps(result))

    def fail(self, run: Run, problem: Json) -> bool:
        """Keeps the reason why a run has no result; False if it has ended already."""
        return self._end(run, "failed", problem, 0, problem=json.dumps(problem))

    def _end(self, run: Run, status: Status, data: Json, size: int, **columns: str) -> bool:
        names = ", ".join(f"{name} = ?" for name in columns)
        with self._transaction() as sql:
            changed = sql.execute(
                f"UPDATE runs SET status = ?, finished = ?, size = ?, {names} "
                "WHERE id = ? AND status IN ('queued', 'running')",
                (status, time.time(), size, *columns.values(), run.id),
            ).rowcount
            if changed and run.job_id is None:
                add_event_row(sql, run.id, status, data)
            return changed > 0

    def followers(self, run_id: str) -> list[Run]:
        """The runs that wait for this one's work."""
        with self._reading() as sql:
            rows = sql.execute(
                "SELECT * FROM runs WHERE shares = ? AND status = 'queued' ORDER BY place", (run_id,)
            ).fetchall()
        return [read_run(row) for row in rows]

    def release_followers(self, run_id: str) -> int:
        """Has the first run that waited for this one do the work itself, and the others wait for that one."""
        with self._transaction() as sql:
            rows = sql.execute(
                "SELECT id FROM runs WHERE shares = ? AND status = 'queued' ORDER BY place", (run_id,)
            ).fetchall()
            for place, row in enumerate(rows):
                leader = None if place == 0 else rows[0]["id"]
                sql.execute("UPDATE runs SET shares = ? WHERE id = ?", (leader, row["id"]))
            return len(rows)

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
                    add_event_row(sql, row["id"], "requeued", {"reason": reason})
            return len(rows)

    def orphaned_leaders(self) -> list[str]:
        """The runs that others wait for although they have ended or are no longer there."""
        with self._reading() as sql:
            rows = sql.execute(
                "SELECT DISTINCT shares FROM runs AS waiting WHERE status = 'queued' AND shares IS NOT NULL AND NOT "
                "EXISTS (SELECT 1 FROM runs WHERE id = waiting.shares AND status IN ('queued', 'running'))"
            ).fetchall()
        return [row[0] for row in rows]

    def run(self, run_id: str) -> Run | None:
        """The run of this name."""
        with self._reading() as sql:
            row = sql.execute("SELECT * FROM runs WHERE id = ?", (run_id,)).fetchone()
        return read_run(row) if row else None

    def list_runs(self, before: int | None, limit: int, status: str | None = None) -> list[Run]:
        """The newest runs that belong to no job and came before that place."""
        with self._reading() as sql:
            rows = sql.execute(
                "SELECT place, id, kind, status, key, job_id, request, created, started, finished, NULL AS result, "
                "problem, shares, fetched, size FROM runs WHERE job_id IS NULL AND place < COALESCE(?, place + 1) "
                "AND status = COALESCE(?, status) ORDER BY place DESC LIMIT ?",
                (before, status, limit),
            ).fetchall()
        return [read_run(row) for row in rows]

    def position(self, run: Run) -> int | None:
        """How many runs have to begin before and including this one; None once it has begun."""
        if run.status != "queued":
            return None
        with self._reading() as sql:
            return 1 + count_runs(
                sql, "status = 'queued' AND job_id IS NULL AND shares IS NULL AND place < ?", run.place
            )

    def events(self, run_id: str, after: int = 0) -> list[Event]:
        """What happened to the run since that event."""
        with self._reading() as sql:
            rows = sql.execute(
                "SELECT number, type, data FROM events WHERE run_id = ? AND number > ? ORDER BY number", (run_id, after)
            ).fetchall()
        return [Event(row["number"], row["type"], json.loads(row["data"])) for row in rows]

    def counts(self) -> dict[str, int]:
        """How many runs are in each state."""
        with self._reading() as sql:
            rows = sql.execute("SELECT status, COUNT(*) FROM runs GROUP BY status").fetchall()
        return {row[0]: row[1] for row in rows}

    def cancel_run(self, run_id: str) -> Run | None:
        """The run, cancelled unless it has ended before."""
        with self._transaction() as sql:
            changed = sql.execute(
                "UPDATE runs SET status = 'cancelled', finished = ? WHERE id = ? AND status IN ('queued', 'running')",
                (time.time(), run_id),
            ).rowcount
            row = sql.execute("SELECT * FROM runs WHERE id = ?", (run_id,)).fetchone()
            if changed and row["job_id"] is None:
                add_event_row(sql, run_id, "cancelled", {})
            return read_run(row) if row else None

    def job(self, job_id: str) -> Job | None:
        """The job of this name."""
        with self._reading() as sql:
            known = sql.execute("SELECT 1 FROM jobs WHERE id = ?", (job_id,)).fetchone()
            return read_job(sql, job_id) if known else None

    def list_jobs(self, before: int | None, limit: int) -> list[Job]:
        """The newest jobs that came before that place."""
        with self._reading() as sql:
            rows = sql.execute(
                "SELECT id FROM jobs WHERE rowid < COALESCE(?, rowid + 1) ORDER BY rowid DESC LIMIT ?", (before, limit)
            ).fetchall()
            return [read_job(sql, row["id"]) for row in rows]

    def cancel_job(self, job_id: str) -> Job | None:
        """The job with everything cancelled that has not begun; one that has ended stays as it is."""
        with self._transaction() as sql:
            changed = sql.execute(
                "UPDATE runs SET status = 'cancelled', finished = ? WHERE job_id = ? AND status = 'queued'",
                (time.time(), job_id),
            ).rowcount
            if changed:
                sql.execute("UPDATE jobs SET cancelled = 1 WHERE id = ?", (job_id,))
            known = sql.execute("SELECT 1 FROM jobs WHERE id = ?", (job_id,)).fetchone()
            return read_job(sql, job_id) if known else None

    def job_runs(self, job_id: str, after: int = 0, limit: int = 100) -> list[Run]:
        """The next runs of a job, in the order they were asked for."""
        with self._reading() as sql:
            rows = sql.execute(
                "SELECT * FROM runs WHERE job_id = ? AND place > ? ORDER BY place LIMIT ?", (job_id, after, limit)
            ).fetchall()
        return [read_run(row) for row in rows]

    def job_run_ids(self, job_id: str) -> list[str]:
        """The names of a job's runs."""
        with self._reading() as sql:
            return [row[0] for row in sql.execute("SELECT id FROM runs WHERE job_id = ?", (job_id,))]

    def mark_fetched(self, table: Literal["runs", "jobs"], name: str) -> None:
        """Notes that the result of an ended run or job has been handed out."""
        with self._transaction() as sql:
            sql.execute(f"UPDATE {table} SET fetched = COALESCE(fetched, ?) WHERE id = ?", (time.time(), name))

    def ids(self) -> set[str]:
        """The names of all runs."""
        with self._reading() as sql:
            return {row[0] for row in sql.execute("SELECT id FROM runs")}

    def stored_bytes(self) -> int:
        """The size of all runs' files and results, as far as they are known."""
        with self._reading() as sql:
            return int(
                sql.execute("SELECT COALESCE(SUM(size), 0) + COALESCE(SUM(LENGTH(result)), 0) FROM runs").fetchone()[0]
            )

    def removable(self, ended_before: float, fetched_only: bool) -> list[tuple[Literal["run", "job"], str]]:
        """Runs of no job, and whole jobs, that ended before that moment, the oldest first."""
        wanted = "AND fetched IS NOT NULL" if fetched_only else ""
        with self._reading() as sql:
            rows = sql.execute(
                "SELECT 'run' AS what, id, finished AS ended FROM runs WHERE job_id IS NULL "
                f"AND status IN ('finished', 'failed', 'cancelled') AND finished < ? {wanted} "
                "UNION ALL SELECT 'job', jobs.id, MAX(runs.finished) FROM jobs JOIN runs ON runs.job_id = jobs.id "
                f"WHERE 1 {wanted.replace('fetched', 'jobs.fetched')} GROUP BY jobs.id "
                "HAVING SUM(runs.status IN ('queued', 'running')) = 0 AND MAX(runs.finished) < ? ORDER BY ended",
                (ended_before, ended_before),
            ).fetchall()
        return [(row["what"], row["id"]) for row in rows]

    def next_expiry(self) -> float | None:
        """When the run that ended first did so."""
        with self._reading() as sql:
            found = sql.execute(
                "SELECT MIN(finished) FROM runs WHERE status IN ('finished', 'failed', 'cancelled')"
            ).fetchone()[0]
        return None if found is None else float(found)

    def forget(self, what: Literal["run", "job"], name: str, reason: str) -> None:
        """Removes a run, or a job with its runs, and remembers why."""
        column = "id" if what == "run" else "job_id"
        with self._transaction() as sql:
            sql.execute(f"DELETE FROM events WHERE run_id IN (SELECT id FROM runs WHERE {column} = ?)", (name,))
            sql.execute(f"DELETE FROM runs WHERE {column} = ?", (name,))
            sql.execute("DELETE FROM jobs WHERE id = ?", (name,))
            sql.execute("INSERT OR REPLACE INTO gone VALUES (?, ?, ?)", (name, reason, time.time()))
            sql.execute(
                "DELETE FROM gone WHERE rowid <= (SELECT MAX(rowid) FROM gone) - ?",
                (_REMEMBERED,),
            )

    def why_gone(self, name: str) -> str | None:
        """Why a run or job was removed; None for one that never was."""
        with self._reading() as sql:
            row = sql.execute("SELECT reason FROM gone WHERE id = ?", (name,)).fetchone()
        return row["reason"] if row else None
