"""What an output holds already, and so what is left to do.

Beside it is kept what it was begun with, so that two ways of assessing are not mixed by accident; the manifest is laid
beside its records.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from agenticiqa.batch.manifest import Entry, Manifest
from agenticiqa.batch.samples import (
    BatchRecord,
    Sample,
    Spent,
    content_digest,
    content_of,
    digest,
    id_digest,
    question_digest,
)
from agenticiqa.config import ROLES, Settings
from agenticiqa.errors import ChangedSettingsError, OutputError
from agenticiqa.logs import redact
from agenticiqa.outputs import Place, refuse_overwriting, write_whole
from agenticiqa.weights import manifest as shipped_weights

# How a result is reached, kept or logged does not change it.
_WITHOUT_EFFECT_ON_RESULTS = ("cache", "logging", "transport", "offline")
_MOST_CHANGES_NAMED = 5

Header = dict[str, Any]
State = Literal["new", "failed", "done", "changed", "stale", "outdated"]
"""What a sample's record is worth: `changed` answers another question, `stale` is about a picture that was overwritten
since, `outdated` was made with other settings or another model."""


def header_path(output: Path) -> Path:
    return output.with_name(f"{output.name}.batch.json")


def header_of(settings: Settings, more: Mapping[str, Any]) -> Header:
    """Everything the records depend on beside their samples; keys and passwords are not in it."""
    content: dict[str, Any] = json.loads(settings.model_dump_json())
    for name in _WITHOUT_EFFECT_ON_RESULTS:
        content["pipeline"].pop(name, None)
    for role in ROLES:
        content[role].pop("timeout", None)
    is_embedded = any(settings.role(role).backend.startswith("builtin") for role in ROLES)
    overlay = settings.tools_overlay_path()
    header = {
        "version": version("agenticiqa"),
        "weights": header_digest(shipped_weights()) if is_embedded else None,
        "calibrations": hashlib.sha256(overlay.read_bytes()).hexdigest()[:16] if overlay.is_file() else None,
        **more,
        "settings": content,
    }
    redacted: Header = json.loads(redact(json.dumps(header), settings.secrets()))
    return redacted


def header_digest(header: Header | None) -> str | None:
    """The header in one word, as a record carries it; None where there is none."""
    if header is None:
        return None
    return digest(json.dumps(header, sort_keys=True)).hex()


def store_header(output: Path, header: Header) -> None:
    """Keeps what the output was begun with; raises OutputError."""
    write_whole(header_path(output), json.dumps(header, indent=2) + "\n")


def stored_header(output: Path) -> Header | None:
    """What the output was begun with, if anything says so."""
    try:
        header: Header = json.loads(header_path(output).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return header


def refuse_unsuitable_output(output: Path, inputs: Iterable[Place], force: bool) -> None:
    """Raises OutputError when the output is one of the inputs, a table, or a file that no batch began."""
    if output.suffix.lower() in (".csv", ".parquet"):
        kind = output.suffix.lower().removeprefix(".")
        raise OutputError(f"{output}: records are JSON Lines; write -o {output.with_suffix('.jsonl')} --to {kind}")
    refuse_overwriting([output, header_path(output)], inputs)
    if not output.is_file() or not output.stat().st_size:
        return
    if not header_path(output).exists() and not force:
        raise ChangedSettingsError(_refusal(output, None, {}))


def refuse_other_settings(output: Path, wanted: Header) -> None:
    """Raises ChangedSettingsError when the output was begun with other settings."""
    found = stored_header(output)
    if found != wanted:
        raise ChangedSettingsError(_refusal(output, found, wanted))


def _refusal(output: Path, found: Header | None, wanted: Header) -> str:
    way_out = "choose another output, or add --force to judge its samples again with these"
    if found is None:
        return f"{output}: exists already, and nothing says with which settings it was made; {way_out}"
    changes = list(_changes(found, wanted))
    if len(changes) > _MOST_CHANGES_NAMED:
        changes[_MOST_CHANGES_NAMED:] = [f"and {len(changes) - _MOST_CHANGES_NAMED} more"]
    return f"{output}: was begun with other settings ({'; '.join(changes)}); {way_out}"


def _changes(old: Any, new: Any, name: str = "") -> Iterator[str]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted({*old, *new}):
            yield from _changes(old.get(key), new.get(key), f"{name}.{key}" if name else key)
    elif old != new:
        yield f"{name.removeprefix('settings.')}: {old} → {new}"


class KnownRecords:
    """What an output's records say, held in a few dozen bytes per record.

    `made_with` names the settings of this run; `made_before` those of records that do not say theirs.
    """

    def __init__(
        self,
        records: Iterable[BatchRecord] = (),
        made_with: str | None = None,
        made_before: str | None = None,
    ) -> None:
        # Of each id, in eight bytes each: question, files, settings. None where it has no answer.
        self._marks: dict[bytes, bytes | None] = {}
        self._states: dict[bytes, State] = {}
        self._made_with, self._made_before = digest(made_with or ""), made_before or made_with
        self._spent, self._paid = Spent(), 0
        for record in records:
            self._add(record)

    def __len__(self) -> int:
        return len(self._marks)

    def _add(self, record: BatchRecord) -> None:
        """Takes note of a record; a later one of the same id counts, and one that is gone counts as none."""
        name = id_digest(record.sample_id)
        if record.is_gone:
            self._marks.pop(name, None)
            return
        made = digest(record.made_with or self._made_before or "")
        mark = question_digest(record) + content_digest(record.judged_content) + made
        self._marks[name] = mark if record.is_done else None
        spent = record.spent
        if spent.calls:
            self._spent, self._paid = self._spent.plus(spent), self._paid + 1

    def state_of(self, sample: Sample) -> State:
        """What the sample's record is worth; the files are read once, whatever comes to pass later."""
        name = id_digest(sample.sample_id)
        if name not in self._states:
            self._states[name] = self._compare(self._marks[name], sample) if name in self._marks else "new"
        return self._states[name]

    def _compare(self, mark: bytes | None, sample: Sample) -> State:
        if mark is None:
            return "failed"
        if mark[:8] != question_digest(sample):
            return "changed"
        if mark[16:] != self._made_with:
            return "outdated"
        return "done" if mark[8:16] == content_digest(content_of(sample)) else "stale"

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
        return self.new + self.failed + self.done + self.judged_again

    @property
    def judged_again(self) -> int:
        """Those with an answer that no longer holds."""
        return self.changed + self.stale + self.outdated

    @property
    def to_do(self) -> int:
        return self.samples - self.done


def with_query(manifest: Manifest, query: str | None) -> Manifest:
    """The manifest with a question for the samples that have none."""
    if query is None:
        return manifest

    def entries() -> Iterator[Entry]:
        for entry in manifest.entries():
            yield replace(entry, query=query) if isinstance(entry, Sample) and entry.query is None else entry

    return replace(manifest, entries=entries)


def make_plan(manifest: Manifest, known: KnownRecords) -> Plan:
    return Plan(**Counter[str](known.state_of(sample) for sample in manifest))


def refuse_changes(manifest: Manifest, known: KnownRecords, output: Path) -> None:
    """Raises ChangedSettingsError with the first sample whose record answers another question."""
    for sample in manifest:
        if known.state_of(sample) == "changed":
            where = f" (line {sample.line})" if sample.line else ""
            raise ChangedSettingsError(
                f"{output}: holds the answer to another question about {sample.sample_id!r}{where}; "
                "choose another output, or add --force to ask again"
            )


def left_over(manifest: Manifest, known: KnownRecords) -> Iterator[Sample]:
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
