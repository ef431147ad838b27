"""Processes of this machine: for backends that compute."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import Counter
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

from agenticiqa.batch.samples import BatchRecord, Prepare, Sample, attempt, lost_record
from agenticiqa.batch.workers import MAX_WORKER_DEATHS, WorkerSetup, worker_environment
from agenticiqa.errors import AgenticIQAError

_READY = "ready"


@dataclass(eq=False)
class _Worker:
    process: Any
    connection: Connection
    ready: bool = False
    sample: Sample | None = None


class ProcessPool:
    """Processes that each load the parts once; one that dies is replaced and its sample done again."""

    def __init__(self, prepare: Prepare, width: int, setup: WorkerSetup) -> None:
        self._prepare, self._setup = prepare, setup
        # Spawned, not forked: a fork copies locks that threads of the parent may hold.
        self._context = multiprocessing.get_context("spawn")
        self._deaths: Counter[str] = Counter()
        self._failed_starts = 0
        self._workers = [self._start_worker() for _ in range(width)]

    def has_room(self) -> bool:
        return any(worker.ready and worker.sample is None for worker in self._workers)

    def submit(self, sample: Sample) -> None:
        worker = next(worker for worker in self._workers if worker.ready and worker.sample is None)
        self._send(worker, sample)

    def wait(self) -> list[BatchRecord]:
        """The records that arrived; raises what kept a worker from loading its parts."""
        arrived = set(wait([worker.connection for worker in self._workers]))
        records = []
        for place, worker in enumerate(self._workers):
            if worker.connection in arrived:
                record = self._receive(place, worker)
                records += [record] if record else []
        return records

    def close(self) -> None:
        for worker in self._workers:
            worker.connection.close()
        for worker in self._workers:
            if worker.sample is not None or not worker.ready:
                worker.process.terminate()
            worker.process.join(timeout=5)
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()
            worker.process.close()

    def _start_worker(self) -> _Worker:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_work, args=(theirs, self._prepare, self._setup), daemon=True)
        with worker_environment():
            process.start()
        theirs.close()
        return _Worker(process, ours)

    def _send(self, worker: _Worker, sample: Sample) -> None:
        worker.sample = sample
        try:
            worker.connection.send(sample)
        except OSError:
            # It died while it waited; its end is heard of next.
            return

    def _receive(self, place: int, worker: _Worker) -> BatchRecord | None:
        try:
            message = worker.connection.recv()
        except (EOFError, OSError):
            return self._replace_dead(place, worker)
        if isinstance(message, Exception):
            raise message
        worker.ready = True
        if message == _READY:
            return None
        worker.sample = None
        record: BatchRecord = message
        return record

    def _replace_dead(self, place: int, worker: _Worker) -> BatchRecord | None:
        """Puts a new worker in the place of a dead one; a sample that ends one worker after the other is given up."""
        worker.process.join()
        ending = _ending(worker.process.exitcode)
        if not worker.ready:
            self._failed_starts += 1
            if self._failed_starts >= MAX_WORKER_DEATHS:
                raise AgenticIQAError(f"the workers end while they load ({ending}); try fewer with --concurrency")
        worker.process.close()
        worker.connection.close()
        replacement = self._workers[place] = self._start_worker()
        sample = worker.sample
        if sample is None:
            return None
        self._deaths[sample.sample_id] += 1
        if self._deaths[sample.sample_id] >= MAX_WORKER_DEATHS:
            return lost_record(
                sample, f"{MAX_WORKER_DEATHS} workers ended on this sample ({ending}); is there enough memory?"
            )
        self._send(replacement, sample)
        return None


def _ending(code: int | None) -> str:
    return signal.Signals(-code).name if code is not None and code < 0 else f"exit code {code}"


def _work(connection: Connection, prepare: Prepare, setup: WorkerSetup) -> None:
    """Loads the parts, then assesses one sample after the other until the pipe is closed."""
    # Ctrl-C reaches all processes of a terminal, but only the first one decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        setup.apply()
        assess = prepare()
    except Exception as error:
        connection.send(error)
        return
    try:
        connection.send(_READY)
        while True:
            connection.send(attempt(assess, connection.recv()))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        # The parent is gone; what it did not hear of, the next run does.
        os._exit(0)
