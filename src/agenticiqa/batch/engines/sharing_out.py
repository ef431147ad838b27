"""Who does the work, and how samples are handed out: never more at once than the crew has hands for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

from agenticiqa.batch.journal import Record
from agenticiqa.batch.samples import Sample

Feed = Callable[[int], Sample | None]
"""The next sample, given how many are under way; None when there is none to give now."""

LIVES = 3
"""Workers that may die on a sample before it is given up."""


class Crew(Protocol):
    """Workers on one machine or many; what one of them was doing when it died is done again by another."""

    def has_room(self) -> bool:
        """Whether a worker is waiting for a sample."""

    def submit(self, sample: Sample) -> None:
        """Gives a waiting worker a sample."""

    def wait(self) -> list[Record]:
        """The records finished since the last call, after something happened; there may be none."""

    def close(self) -> None:
        """Sends everybody home, whatever they are doing."""


def carry_out(crew: Crew, feed: Feed) -> Iterator[Record]:
    """The records of all samples fed, as they are finished."""
    under_way = 0
    while True:
        while crew.has_room() and (sample := feed(under_way)) is not None:
            crew.submit(sample)
            under_way += 1
        if under_way == 0 and crew.has_room():
            return
        for record in crew.wait():
            under_way -= 1
            yield record
