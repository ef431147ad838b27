"""Threads of this process: for backends that wait for a network."""

from __future__ import annotations

import time
from queue import Empty, SimpleQueue
from threading import Thread

from agenticiqa.batch.journal import Record
from agenticiqa.batch.records import Assessing, Prepare, attempt
from agenticiqa.batch.samples import Sample

# How long threads are waited for at the end: one that computes while Python shuts down may abort the process.
GRACE = 2.0


class ThreadPool:
    """Threads that share one set of loaded parts."""

    def __init__(self, prepare: Prepare, width: int) -> None:
        self._free = self._width = width
        self._samples: SimpleQueue[Sample | None] = SimpleQueue()
        self._records: SimpleQueue[Record] = SimpleQueue()
        self._assess = prepare()
        # Daemons: nobody must have to wait for a service that does not answer.
        self._threads = [Thread(target=self._work, daemon=True) for _ in range(width)]
        for thread in self._threads:
            thread.start()

    def has_room(self) -> bool:
        """Whether a thread is waiting."""
        return self._free > 0

    def submit(self, sample: Sample) -> None:
        """Gives a waiting thread the sample."""
        self._free -= 1
        self._samples.put(sample)

    def wait(self) -> list[Record]:
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
        deadline = time.monotonic() + GRACE
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    def _work(self) -> None:
        while (sample := self._samples.get()) is not None:
            self._records.put(attempt(self._assess, sample))
