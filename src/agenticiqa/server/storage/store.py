"""Where runs and jobs are stored: one SQLite file that is the queue itself, so that a restart loses nothing."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from agenticiqa.server.storage.database import (
    Event,
    Job,
    Run,
    Status,
    add_event_row,
    is_damage,
    open_sound_database,
    read_job,
    read_run,
)
from agenticiqa.server.workers.messages import Json, Kind, RunRequest

# Removed runs and jobs that are still told apart from those that never were.
_REMEMBERED = 50_000
# So many runs may wait for the work of others, for each place in the queue.
_FOLLOWERS_PER_PLACE = 16


class QueueFullError(Exception):
    """No more runs may wait."""


class Store:
    """The database; every method is one short transaction and may be called from any thread."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        self._connection, self.moved_aside = open_sound_database(path)
        self.is_damaged = False
        """Whether the file was found to be damaged since it was opened."""

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                yield self._connection
            except sqlite3.DatabaseError as error:
                self.is_damaged = self.is_damaged or is_damage(error)
                raise

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """All that is written, or nothing."""
        with self._reading() as sql, sql:
            yield sql

    def _rows(self, query: str, *values: object) -> list[sqlite3.Row]:
        with self._reading() as sql:
            return sql.execute(query, values).fetchall()

    def submit(
        self, run_id: str, kind: Kind, request: RunRequest, key: str, limit: int, fresh: bool, size: int
    ) -> tuple[Run, Run | None]:
        """The new run and the identical one whose work it shares, if there is one; raises QueueFullError.

        A run that shares the work of one that has not ended waits for it and is claimed by nobody.
        """
        with self._transaction() as sql:
            same = sql.execute(
                "SELECT * FROM runs WHERE key = ? AND status IN ('queued', 'running', 'finished') "
                "AND shares IS NULL ORDER BY place DESC LIMIT 1",
                (key,),
            ).fetchone()
            leader = read_run(same) if same and not fresh else None
            waiting, followers = sql.execute(
                "SELECT COUNT(*) FILTER (WHERE job_id IS NULL AND shares IS NULL), COUNT(shares) "
                "FROM runs WHERE status = 'queued'"
            ).fetchone()
            if (leader is None and waiting >= limit) or followers >= _FOLLOWERS_PER_PLACE * limit:
                raise QueueFullError
            row = sql.execute(
                "INSERT INTO runs (id, kind, status, key, request, created, shares, size) "
                "VALUES (?, ?, 'queued', ?, ?, ?, ?, ?) RETURNING *",
                (run_id, kind, key, request.model_dump_json(), time.time(), leader.id if leader else None, size),
            ).fetchone()
            add_event_row(sql, run_id, "queued", {"position": waiting + 1})
            return read_run(row), leader

    def submit_job(
        self,
        job_id: str,
        requests: Iterable[tuple[str, RunRequest]],
        limit: int,
        client_key: str | None,
        digest: str | None,
        sizes: Mapping[str, int],
    ) -> tuple[Job, bool]:
        """A job with one run per request, and True; or the job of the same client key, and False.

        Raises QueueFullError when too many jobs are open.
        """
        with self._transaction() as sql:
            known = sql.execute("SELECT rowid, * FROM jobs WHERE client_key = ?", (client_key,)).fetchone()
            if known:
                return read_job(sql, known), False
            (open_jobs,) = sql.execute(
                "SELECT COUNT(DISTINCT job_id) FROM runs WHERE status IN ('queued', 'running')"
            ).fetchone()
            if open_jobs >= limit:
                raise QueueFullError
            now = time.time()
            row = sql.execute(
                "INSERT INTO jobs (id, created, client_key, digest) VALUES (?, ?, ?, ?) RETURNING rowid, *",
                (job_id, now, client_key, digest),
            ).fetchone()
            sql.executemany(
                "INSERT INTO runs (id, kind, status, job_id, request, created, size) "
                "VALUES (?, 'assess', 'queued', ?, ?, ?, ?)",
                [(name, job_id, one.model_dump_json(), now, sizes[name]) for name, one in requests],
            )
            return read_job(sql, row), True

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

    def add_event(self, run_id: str, kind: str, data: Json) -> None:
        with self._transaction() as sql:
            add_event_row(sql, run_id, kind, data)

    def finish(self, run: Run, result: Json, summary: Json, size: int) -> None:
        """Keeps the result of a run; one that has ended already stays as it is."""
        self._end(run, "finished", summary, size, result=json.dumps(result))

    def fail(self, run: Run, problem: Json) -> None:
        """Keeps the reason why a run has no result; one that has ended already stays as it is."""
        self._end(run, "failed", problem, 0, problem=json.dumps(problem))

    def _end(
        self, run: Run, status: Status, data: Json, size: int, result: str | None = None, problem: str | None = None
    ) -> None:
        with self._transaction() as sql:
            changed = sql.execute(
                "UPDATE runs SET status = ?, finished = ?, size = ?, result = ?, problem = ? "
                "WHERE id = ? AND status IN ('queued', 'running')",
                (status, time.time(), size, result, problem, run.id),
            ).rowcount
            if changed and run.job_id is None:
                add_event_row(sql, run.id, status, data)

    def followers(self, run_id: str) -> list[Run]:
        """The runs that wait for this one's work."""
        rows = self._rows("SELECT * FROM runs WHERE shares = ? AND status = 'queued' ORDER BY place", run_id)
        return [read_run(row) for row in rows]

    def release_followers(self, run_id: str) -> bool:
        """Has the first run that waited for this one do the work itself, and the others wait for that one."""
        with self._transaction() as sql:
            (first,) = sql.execute(
                "SELECT MIN(place) FROM runs WHERE shares = ? AND status = 'queued'", (run_id,)
            ).fetchone()
            sql.execute(
                "UPDATE runs SET shares = CASE WHEN place = ?1 THEN NULL ELSE (SELECT id FROM runs WHERE place = ?1) "
                "END WHERE shares = ?2 AND status = 'queued'",
                (first, run_id),
            )
            return first is not None

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

    def release_orphans(self) -> None:
        """Has the runs do the work themselves that wait for one which has ended or is no longer there."""
        with self._transaction() as sql:
            sql.execute(
                "UPDATE runs SET shares = NULL WHERE status = 'queued' AND NOT EXISTS (SELECT 1 FROM runs AS leader "
                "WHERE leader.id = runs.shares AND leader.status IN ('queued', 'running'))"
            )

    def run(self, run_id: str) -> Run | None:
        rows = self._rows("SELECT * FROM runs WHERE id = ?", run_id)
        return read_run(rows[0]) if rows else None

    def list_runs(self, before: int | None, limit: int, status: str | None = None) -> list[Run]:
        """The newest runs that belong to no job and came before that place, without their results."""
        rows = self._rows(
            "SELECT place, id, kind, status, key, job_id, request, created, started, finished, NULL AS result, "
            "problem, shares, fetched, size FROM runs WHERE job_id IS NULL AND place < COALESCE(?, place + 1) "
            "AND status = COALESCE(?, status) ORDER BY place DESC LIMIT ?",
            before,
            status,
            limit,
        )
        return [read_run(row) for row in rows]

    def position(self, run: Run) -> int | None:
        """How many runs have to begin before and including this one; None once it has begun."""
        if run.status != "queued":
            return None
        ((before,),) = self._rows(
            "SELECT COUNT(*) FROM runs WHERE status = 'queued' AND job_id IS NULL AND shares IS NULL AND place < ?",
            run.place,
        )
        return 1 + int(before)

    def events(self, run_id: str, after: int) -> list[Event]:
        """What happened to the run since that event."""
        query = "SELECT number, type, data FROM events WHERE run_id = ? AND number > ? ORDER BY number"
        return [Event(row["number"], row["type"], json.loads(row["data"])) for row in self._rows(query, run_id, after)]

    def waiting(self) -> int:
        """How many runs are queued, those of jobs too."""
        ((count,),) = self._rows("SELECT COUNT(*) FROM runs WHERE status = 'queued'")
        return int(count)

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
        with self._reading() as sql:
            row = sql.execute("SELECT rowid, * FROM jobs WHERE id = ?", (job_id,)).fetchone()
            return read_job(sql, row) if row else None

    def list_jobs(self, before: int | None, limit: int) -> list[Job]:
        """The newest jobs that came before that place."""
        query = "SELECT rowid, * FROM jobs WHERE rowid < COALESCE(?, rowid + 1) ORDER BY rowid DESC LIMIT ?"
        with self._reading() as sql:
            return [read_job(sql, row) for row in sql.execute(query, (before, limit)).fetchall()]

    def cancel_job(self, job_id: str) -> Job | None:
        """The job with everything cancelled that has not begun; one that has ended stays as it is."""
        with self._transaction() as sql:
            changed = sql.execute(
                "UPDATE runs SET status = 'cancelled', finished = ? WHERE job_id = ? AND status = 'queued'",
                (time.time(), job_id),
            ).rowcount
            if changed:
                sql.execute("UPDATE jobs SET cancelled = 1 WHERE id = ?", (job_id,))
        return self.job(job_id)

    def job_runs(self, job_id: str, after: int, limit: int = 100) -> list[Run]:
        """The next runs of a job, in the order they were asked for."""
        query = "SELECT * FROM runs WHERE job_id = ? AND place > ? ORDER BY place LIMIT ?"
        return [read_run(row) for row in self._rows(query, job_id, after, limit)]

    def mark_fetched(self, table: Literal["runs", "jobs"], name: str) -> None:
        """Notes that the result of an ended run or job has been handed out."""
        with self._transaction() as sql:
            sql.execute(f"UPDATE {table} SET fetched = COALESCE(fetched, ?) WHERE id = ?", (time.time(), name))

    def ids(self, job_id: str | None = None) -> set[str]:
        """The names of all runs, or of those of a job."""
        return {row[0] for row in self._rows("SELECT id FROM runs WHERE ?1 IS NULL OR job_id = ?1", job_id)}

    def stored_bytes(self) -> int:
        """The size of all runs' files and results, as far as they are known."""
        ((found,),) = self._rows("SELECT COALESCE(SUM(size), 0) + COALESCE(SUM(LENGTH(result)), 0) FROM runs")
        return int(found)

    def removable(self, ended_before: float, fetched_only: bool) -> list[tuple[Literal["run", "job"], str]]:
        """Runs of no job, and whole jobs, that ended before that moment, the oldest first."""
        fetched = "fetched IS NOT NULL" if fetched_only else "1"
        rows = self._rows(
            f"SELECT 'run' AS what, id, finished AS ended FROM runs WHERE job_id IS NULL AND {fetched} "
            "AND status IN ('finished', 'failed', 'cancelled') AND finished < ?1 "
            "UNION ALL SELECT 'job', job_id, MAX(finished) FROM runs WHERE job_id IN "
            f"(SELECT id FROM jobs WHERE {fetched}) GROUP BY job_id "
            "HAVING SUM(status IN ('queued', 'running')) = 0 AND MAX(finished) < ?1 ORDER BY ended",
            ended_before,
        )
        return [(row["what"], row["id"]) for row in rows]

    def forget(self, what: Literal["run", "job"], name: str, reason: str) -> None:
        """Removes a run, or a job with its runs, and remembers why."""
        column = "id" if what == "run" else "job_id"
        with self._transaction() as sql:
            sql.execute(f"DELETE FROM events WHERE run_id IN (SELECT id FROM runs WHERE {column} = ?)", (name,))
            sql.execute(f"DELETE FROM runs WHERE {column} = ?", (name,))
            sql.execute("DELETE FROM jobs WHERE id = ?", (name,))
            sql.execute("INSERT OR REPLACE INTO gone VALUES (?, ?, ?)", (name, reason, time.time()))
            sql.execute("DELETE FROM gone WHERE rowid <= (SELECT MAX(rowid) FROM gone) - ?", (_REMEMBERED,))

    def why_gone(self, name: str) -> str | None:
        """Why a run or job was removed; None for one that never was."""
        rows = self._rows("SELECT reason FROM gone WHERE id = ?", name)
        return rows[0]["reason"] if rows else None
