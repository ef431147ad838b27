"""What the engines share: how samples are handed out, and what a worker outside this process needs before it starts.

Threads of this process, for backends that wait for a network, are the simplest engine and stand here too.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Protocol

from agenticiqa.batch.samples import Assessing, BatchRecord, Prepare, Sample, attempt
from agenticiqa.config import LoggingSettings, Settings
from agenticiqa.logs import configure_logging

# The environment is one for all threads of the process.
_starting = threading.Lock()
Feed = Callable[[int], Sample | None]
"""The next sample, given how many are under way; None when there is none to give now."""

# How long threads are waited for at the end: one that computes while Python shuts down may abort the process.
GRACE_SECONDS = 2.0
MAX_WORKER_DEATHS = 3
"""Workers that may die on a sample before it is given up: once may be chance, or somebody's kill."""


# No module is taken from the folder one happens to stand in. There is a worker for every core: threads of a library for
# matrices would wait for each other's, and burn as much again of the processor while they do.
_OF_WORKERS = {"PYTHONSAFEPATH": "1", "OPENBLAS_NUM_THREADS": "1"}


@contextmanager
def worker_environment() -> Iterator[None]:
    """Python processes started inside have the variables of workers.

    They are taken back at the end: programs that use this package may start Python processes of their own.
    """
    with _starting:
        before = {name: os.environ.get(name) for name in _OF_WORKERS}
        os.environ.update(_OF_WORKERS)
        try:
            yield
        finally:
            for name, value in before.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value


@dataclass(frozen=True)
class WorkerSetup:
    """What a worker process sets up before it starts: the log of the process that began the batch."""

    level: str
    logging: LoggingSettings
    secrets: tuple[str, ...]

    def apply(self) -> None:
        """Sets this process up, and has it end with its parent."""
        import cv2

        end_with_parent()
        # There is a worker for every core; more threads would only get in each other's way.
        cv2.setNumThreads(1)
        file = Path(self.logging.file) if self.logging.file else None
        configure_logging(self.level, self.logging.format, file, self.secrets)


def end_with_parent() -> None:
    """Has this process end as soon as the one that started it has, however that happened."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, name="end-with-parent", daemon=True).start()


def worker_setup_of(settings: Settings) -> WorkerSetup:
    """The setup that gives a worker the log level and log file of this process."""
    level = logging.getLogger("agenticiqa").getEffectiveLevel()
    return WorkerSetup(logging.getLevelName(level), settings.pipeline.logging, settings.secrets())


class WorkerPool(Protocol):
    """Workers on one machine or many; what one of them was doing when it died is done again by another."""

    def has_room(self) -> bool:
        """Whether a worker is waiting for a sample."""

    def submit(self, sample: Sample) -> None:
        """Gives a waiting worker a sample."""

    def wait(self) -> list[BatchRecord]:
        """The records finished since the last call, after something happened; there may be none."""

    def close(self) -> None:
        """Ends all workers, whatever they are doing."""


def carry_out(pool: WorkerPool, feed: Feed) -> Iterator[BatchRecord]:
    """The records of all samples fed, as they are finished."""
    under_way = 0
    while True:
        while pool.has_room() and (sample := feed(under_way)) is not None:
            pool.submit(sample)
            under_way += 1
        if under_way == 0 and pool.has_room():
            return
        for record in pool.wait():
            under_way -= 1
            yield record


class ThreadPool:
    """Threads that share one set of loaded parts."""

    def __init__(self, prepare: Prepare, width: int) -> None:
        self._free = self._width = width
        self._samples: SimpleQueue[Sample | None] = SimpleQueue()
        self._records: SimpleQueue[BatchRecord] = SimpleQueue()
        self._assess = prepare()
        # Daemons: nobody must have to wait for a service that does not answer.
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(width)]
        for thread in self._threads:
            thread.start()

    def has_room(self) -> bool:
        return self._free > 0

    def submit(self, sample: Sample) -> None:
        self._free -= 1
        self._samples.put(sample)

    def wait(self) -> list[BatchRecord]:
        """At least one record, and all others that are finished."""
        records = [self._records.get()]
        while True:
            try:
                records.append(self._records.get_nowait())
            except Empty:
                break
        self._free += len(records)
        return records

    def close(self) -> None:
        """Lets the threads end after what they are doing, for a moment, and lets go of connections."""
        for _ in range(self._width):
            self._samples.put(None)
        if isinstance(self._assess, Assessing):
            self._assess.close()
        deadline = time.monotonic() + GRACE_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    def _work(self) -> None:
        while (sample := self._samples.get()) is not None:
            self._records.put(attempt(self._assess, sample))
