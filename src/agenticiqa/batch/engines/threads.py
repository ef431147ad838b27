"""Threads of this process: for backends that wait for a network."""

from __future__ import annotations

from queue import Empty, SimpleQueue
from threading import Thread

from agenticiqa.batch.journal import Record
from agenticiqa.batch.records import Assessing, Prepare, attempt
from agenticiqa.batch.samples import Sample


class ThreadPool:
    """Threads that share one set of loaded parts."""

    def __init__(self, prepare: Prepare, width: int) -> None:
        self._free = self._width = width
        self._samples: SimpleQueue[Sample | None] = SimpleQueue()
        self._records: SimpleQueue[Record] = SimpleQueue()
        self._assess = prepare()
        for _ in range(width):
            # Daemons: a second Ctrl-C must not wait for a service that does not answer.
            Thread(target=self._work, daemon=True).start()

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
        """Lets the threads end after what they are doing, and lets go of connections."""
        for _ in range(self._width):
            self._samples.put(None)
        if isinstance(self._assess, Assessing):
            self._assess.close()

    def _work(self) -> None:
        while (sample := self._samples.get()) is not None:
            self._records.put(attempt(self._assess, sample))
