"""What is left to do: the manifest laid beside the records there are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agenticiqa.batch.manifest import Entry, Manifest
from agenticiqa.batch.records import Spent, is_done, spent_on
from agenticiqa.batch.samples import Sample, id_digest, question_digest
from agenticiqa.errors import ChangedSettingsError


class Known:
    """What an output's records say, held in a few dozen bytes per record."""

    def __init__(self, records: Iterable[Mapping[str, Any]] = ()) -> None:
        self._questions: dict[bytes, int | None] = {}
        self._spent, self._paid = Spent(), 0
        for record in records:
            self.add(record)

    def __len__(self) -> int:
        return len(self._questions)

    def add(self, record: Mapping[str, Any]) -> None:
        """Takes note of a record; a later one of the same id counts."""
        self._questions[id_digest(record["sample_id"])] = question_digest(record) if is_done(record) else None
        spent = spent_on(record)
        if spent.calls:
            self._spent, self._paid = self._spent.plus(spent), self._paid + 1

    def state_of(self, sample: Sample) -> str:
        """`new`, `failed`, `done`, or `changed` when the record answers another question."""
        digest = id_digest(sample.sample_id)
        if digest not in self._questions:
            return "new"
        answered = self._questions[digest]
        if answered is None:
            return "failed"
        return "done" if answered == question_digest(sample.carried()) else "changed"

    def mean_spending(self) -> Spent | None:
        """What a sample took on average, if one took anything."""
        if not self._paid:
            return None
        cost = self._spent.cost_usd
        return Spent(-(-self._spent.calls // self._paid), None if cost is None else cost / self._paid)


@dataclass(frozen=True)
class Plan:
    """How many samples are new, failed before, done, or asked another question since."""

    new: int = 0
    failed: int = 0
    done: int = 0
    changed: int = 0

    @property
    def samples(self) -> int:
        """All of them."""
        return self.new + self.failed + self.done + self.changed

    @property
    def to_do(self) -> int:
        """Those that will be assessed."""
        return self.samples - self.done


def with_query(manifest: Manifest, query: str | None) -> Manifest:
    """The manifest with a question for the samples that have none."""
    if query is None:
        return manifest

    def entries() -> Iterator[Entry]:
        for entry in manifest.entries():
            yield replace(entry, query=query) if isinstance(entry, Sample) and entry.query is None else entry

    return replace(manifest, entries=entries)


def make_plan(manifest: Manifest, known: Known) -> Plan:
    """What there is to do."""
    counts = {"new": 0, "failed": 0, "done": 0, "changed": 0}
    for sample in manifest:
        counts[known.state_of(sample)] += 1
    return Plan(**counts)


def refuse_changes(manifest: Manifest, known: Known, output: Path) -> None:
    """Raises ChangedSettingsError with the first sample whose record answers another question."""
    for sample in manifest:
        if known.state_of(sample) == "changed":
            where = f" (line {sample.line})" if sample.line else ""
            raise ChangedSettingsError(
                f"{output}: holds the answer to another question about {sample.sample_id!r}{where}; "
                "choose another output, or add --force to ask again"
            )


def left_over(manifest: Manifest, known: Known) -> Iterator[Sample]:
    """The samples that are not done, in the manifest's order."""
    return (sample for sample in manifest if known.state_of(sample) != "done")
