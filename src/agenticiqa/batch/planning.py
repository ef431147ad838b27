"""What is left to do: the manifest laid beside the records there are."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from agenticiqa.batch.manifest import Entry, Manifest
from agenticiqa.batch.samples import (
    BatchRecord,
    Sample,
    Spent,
    content_digest,
    content_of,
    id_digest,
    question_digest,
)
from agenticiqa.errors import ChangedSettingsError

State = Literal["new", "failed", "done", "changed", "stale", "outdated"]
"""What a sample's record is worth: `changed` answers another question, `stale` is about a picture that was overwritten
since, `outdated` was made with other settings or another model."""


class Known:
    """What an output's records say, held in a few dozen bytes per record.

    `made_with` names the settings of this run; `made_before` those of records that do not say theirs.
    """

    def __init__(
        self,
        records: Iterable[BatchRecord] = (),
        made_with: str | None = None,
        made_before: str | None = None,
    ) -> None:
        self._marks: dict[bytes, bytes | None] = {}
        self._states: dict[bytes, State] = {}
        self._made_with, self._made_before = _short(made_with), made_before or made_with
        self._spent, self._paid = Spent(), 0
        for record in records:
            self.add(record)

    def __len__(self) -> int:
        return len(self._marks)

    def add(self, record: BatchRecord) -> None:
        """Takes note of a record; a later one of the same id counts, and one that is gone counts as none."""
        digest = id_digest(record.sample_id)
        if record.is_gone:
            self._marks.pop(digest, None)
            return
        self._marks[digest] = self._mark(record) if record.is_done else None
        spent = record.spent
        if spent.calls:
            self._spent, self._paid = self._spent.plus(spent), self._paid + 1

    def state_of(self, sample: Sample) -> State:
        """What the sample's record is worth; the files are read once, whatever comes to pass later."""
        digest = id_digest(sample.sample_id)
        if digest not in self._states:
            self._states[digest] = self._compare(digest, sample)
        return self._states[digest]

    def _compare(self, digest: bytes, sample: Sample) -> State:
        if digest not in self._marks:
            return "new"
        mark = self._marks[digest]
        if mark is None:
            return "failed"
        question, content, made = mark[:8], mark[8:16], mark[16:]
        if question != _packed(question_digest(sample)):
            return "changed"
        if made != self._made_with:
            return "outdated"
        return "done" if content == _packed(content_digest(content_of(sample))) else "stale"

    def _mark(self, record: BatchRecord) -> bytes:
        made = _short(record.made_with or self._made_before)
        return _packed(question_digest(record)) + _packed(content_digest(record.judged_content)) + made

    def mean_spending(self) -> Spent | None:
        """What a sample took on average, if one took anything."""
        if not self._paid:
            return None
        cost = self._spent.cost_usd
        calls, paid = (-(-number // self._paid) for number in (self._spent.calls, self._spent.paid_calls))
        return Spent(calls, None if cost is None else cost / self._paid, paid)


@dataclass(frozen=True)
class Plan:
    """How many samples are in which state (see `State`)."""

    new: int = 0
    failed: int = 0
    done: int = 0
    changed: int = 0
    stale: int = 0
    outdated: int = 0

    @property
    def samples(self) -> int:
        """All of them."""
        return self.new + self.failed + self.done + self.judged_again

    @property
    def judged_again(self) -> int:
        """Those with an answer that no longer holds."""
        return self.changed + self.stale + self.outdated

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
    counts = Counter[str](known.state_of(sample) for sample in manifest)
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


def gone_records(manifest: Manifest, records: Iterable[BatchRecord]) -> Iterator[BatchRecord]:
    """The records that this run does not ask for and whose picture is no longer what was judged, marked so."""
    asked = {id_digest(sample.sample_id) for sample in manifest}
    for record in records:
        judged = record.judged_content
        if id_digest(record.sample_id) in asked or record.is_gone or judged.get("image") is None:
            continue
        now = content_of(record)
        if now["image"] != judged["image"]:
            yield record.model_copy(update={"gone": "deleted" if now["image"] is None else "overwritten"})


def _packed(number: int) -> bytes:
    return number.to_bytes(8, "big")


def _short(name: str | None) -> bytes:
    return hashlib.blake2b((name or "").encode(), digest_size=8).digest()
