"""Worker processes, each minded by a thread: claims runs, passes events on, enforces the time limit."""

from __future__ import annotations

import logging
import multiprocessing
import threading
import time
from collections import Counter
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Protocol

from agenticiqa.batch.workers import MAX_WORKER_DEATHS, worker_environment, worker_setup_of
from agenticiqa.config import Settings
from agenticiqa.errors import AgenticIQAError
from agenticiqa.server.problems import Problem, problem_of
from agenticiqa.server.storage.database import Run
from agenticiqa.server.workers.messages import Json
from agenticiqa.server.workers.worker import EVENT, PROBLEM, READY, work

logger = logging.getLogger("agenticiqa.server.pool")

# All in seconds: how often a thread looks up, the longest pause after a failure, and how long models may load.
POLL = 0.25
PAUSE = 5.0
START_LIMIT = 600.0


class RunQueue(Protocol):
    """Where the pool gets its runs and puts what becomes of them; called from the pool's threads."""

    def claim(self) -> Run | None:
        """The next run, if one is waiting."""

    def prepare(self, run: Run) -> Path:
        """The folder with the files of the run; raises what makes that impossible."""

    def happened(self, run: Run, kind: str, data: Json) -> None:
        """Something happened to a run."""

    def ended(self, run: Run, outcome: str, data: Json) -> None:
        """A run has its result or its problem."""

    def put_back(self, run: Run) -> None:
        """A run was interrupted and has to begin again."""


class Cancelled(Exception):  # noqa: N818 - not a failure: somebody asked for it
    """The run was cancelled while a worker had it."""


class WorkerDied(Exception):  # noqa: N818 - whether the run has failed is decided by how often it happens
    """The worker process ended while it had a run."""


class Interrupted(Exception):  # noqa: N818 - not a failure: the run goes back into the queue
    """The pool is stopping and the worker did not finish in time."""


class Pool:
    """A fixed number of workers; one that dies, or whose run takes too long, is replaced at once."""

    def __init__(self, queue: RunQueue, settings: Settings, workers: int, time_limit: float) -> None:
        self.queue = queue
        self.settings = settings
        self.time_limit = time_limit
        self.stopping = threading.Event()
        self._threads = [_WorkerThread(self, place) for place in range(workers)]
        self._news = threading.Condition()
        self._deadline = float("inf")
        self._deaths: Counter[str] = Counter()

    @property
    def ready(self) -> int:
        """How many workers are alive and have their models loaded."""
        return sum(thread.is_ready and thread.is_alive_worker() for thread in self._threads)

    @property
    def busy(self) -> int:
        return sum(thread.is_busy for thread in self._threads)

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def notify(self) -> None:
        with self._news:
            self._news.notify()

    def stop(self, grace: float) -> None:
        """Takes no new runs; those at work have `grace` seconds left, then they are put back."""
        self._deadline = min(self._deadline, time.monotonic() + grace)
        self.stopping.set()
        with self._news:
            self._news.notify_all()

    def join(self) -> None:
        """Waits until every worker has ended; call `stop` first."""
        for thread in self._threads:
            thread.join()

    def cancel(self, run_id: str) -> None:
        for thread in self._threads:
            thread.cancel(run_id)

    def count_death(self, run_id: str) -> int:
        """How many workers have died over this run, with the one that has now."""
        self._deaths[run_id] += 1
        return self._deaths[run_id]

    def next_run(self) -> Run | None:
        """The next run, waited for a moment; None if there is none."""
        try:
            run = self.queue.claim()
        except Exception:
            # A full disk may have room again; a worker that gave up would be missing until the next start.
            logger.exception("no run could be claimed; it is tried again")
            self.stopping.wait(PAUSE)
            return None
        if run is None:
            with self._news:
                self._news.wait(POLL)
        return run

    def is_over(self) -> bool:
        """Whether the grace of a stopping pool has passed."""
        return time.monotonic() > self._deadline


class _WorkerThread(threading.Thread):
    """The thread beside one worker process."""

    def __init__(self, pool: Pool, place: int) -> None:
        super().__init__(name=f"worker-{place}", daemon=True)
        self._pool = pool
        self._process: SpawnProcess | None = None
        self._connection: Connection | None = None
        self._current: str | None = None
        self._cancelled: str | None = None
        self._failed_starts = 0
        self.is_ready = False

    @property
    def is_busy(self) -> bool:
        return self._current is not None

    def run(self) -> None:
        """Serves until the pool stops; a worker that has died is replaced although nobody asks for it."""
        try:
            while not self._pool.stopping.is_set():
                if not self.is_alive_worker():
                    self._try_to_start()
                elif (run := self._pool.next_run()) is not None:
                    self._serve_or_give_up(run)
        finally:
            self._kill()

    def cancel(self, run_id: str) -> None:
        # By its name: a mark that outlived its run would end the start of the next worker, or the next run.
        if self._current == run_id:
            self._cancelled = run_id

    def is_alive_worker(self) -> bool:
        return self._connection is not None and self._process is not None and self._process.is_alive()

    def _serve_or_give_up(self, run: Run) -> None:
        self._current = run.id
        try:
            self._serve(run)
        except Interrupted:
            self._pool.queue.put_back(run)
        except Cancelled:
            logger.info("run %s was cancelled", run.id)
        except WorkerDied:
            self._after_death(run)
        except Exception:
            logger.exception("run %s could not be carried out", run.id)
            # What this worker still has to say of the run must not be taken for the next one's result.
            self._kill()
            self._give_up(run)
        finally:
            self._current = None

    def _after_death(self, run: Run) -> None:
        """Puts the run back for another worker, unless it has cost too many."""
        if self._pool.count_death(run.id) < MAX_WORKER_DEATHS:
            logger.warning("a worker died during run %s; it begins again", run.id)
            self._pool.queue.put_back(run)
            return
        died = f"{MAX_WORKER_DEATHS} worker processes died over this run; a smaller image may help"
        logger.error("run %s is given up: %s", run.id, died)
        self._fail(run, Problem("worker_failed", died))

    def _give_up(self, run: Run) -> None:
        try:
            self._fail(run, Problem("failed", "the run could not be carried out"))
        except Exception:
            logger.exception("the end of run %s could not be kept; it begins again with the next start", run.id)

    def _fail(self, run: Run, problem: Problem) -> None:
        self._pool.queue.ended(run, PROBLEM, problem.as_details())

    def _serve(self, run: Run) -> None:
        try:
            folder = self._pool.queue.prepare(run)
        except (AgenticIQAError, Problem, OSError) as error:
            self._fail(run, problem_of(error))
            return
        if not self.is_alive_worker():
            # It died while it waited; the run is not to blame.
            self._start_process()
        limit = self._pool.time_limit * len(run.request.images)
        try:
            outcome, data = self._carried_out(run, folder, time.monotonic() + limit)
        except TimeoutError:
            self._kill()
            self._fail(run, Problem("time_limit", f"the run took longer than {limit:g} seconds and was ended"))
        except (EOFError, OSError) as error:
            self._kill()
            raise WorkerDied from error
        else:
            self._pool.queue.ended(run, outcome, data)

    def _carried_out(self, run: Run, folder: Path, deadline: float) -> tuple[str, Json]:
        assert self._connection is not None
        self._connection.send((run.kind, folder, run.request))
        while True:
            kind, data = self._received(self._connection, deadline)
            if kind != EVENT:
                return kind, data
            self._pool.queue.happened(run, data.pop("type"), data)

    def _received(self, connection: Connection, deadline: float, is_starting: bool = False) -> tuple[str, Json]:
        while not (self._was_cancelled() or connection.poll(POLL)):
            # A worker that is only loading its models has nothing to finish.
            if self._pool.is_over() or (is_starting and self._pool.stopping.is_set()):
                self._kill()
                raise Interrupted
            if time.monotonic() > deadline:
                raise TimeoutError
        if self._was_cancelled():
            self._kill()
            raise Cancelled
        message: tuple[str, Json] = connection.recv()
        return message

    def _was_cancelled(self) -> bool:
        return self._current is not None and self._current == self._cancelled

    def _try_to_start(self) -> None:
        try:
            self._start_process()
            self._failed_starts = 0
        except Interrupted:
            pass
        except Exception:
            # Whatever it was: a thread that ended would be a worker less until the service is started again.
            self._failed_starts += 1
            pause = min(PAUSE, 2.0**self._failed_starts / 10)
            logger.exception("a worker could not be started; it is tried again in %g seconds", pause)
            self._pool.stopping.wait(pause)

    def _start_process(self) -> None:
        self._kill()
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        settings = self._pool.settings
        self._process = context.Process(target=work, args=(theirs, settings, worker_setup_of(settings)), daemon=True)
        with worker_environment():
            self._process.start()
        # Only the worker may hold its end: otherwise its death would not be noticed here.
        theirs.close()
        self._connection = ours
        try:
            kind, _ = self._received(ours, time.monotonic() + START_LIMIT, is_starting=True)
        except (EOFError, OSError):
            self._kill()
            raise
        self.is_ready = kind == READY

    def _kill(self) -> None:
        self.is_ready = False
        if self._process is not None:
            self._process.kill()
            self._process.join()
        if self._connection is not None:
            self._connection.close()
        self._process = self._connection = None
