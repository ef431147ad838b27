"""`benchmarks/field.json`: every figure beside the best version's, the looks at the check half, and what is red."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from pydantic import BaseModel, ConfigDict

from benchmarks.field.figures import Better, Measured, difference, is_fall
from benchmarks.field.sources import Half

LEDGER = Path(__file__).resolve().parents[1] / "field.json"
# A reason written for one figure does not cover a further fall of more than this.
FURTHER = 0.005


class Entry(BaseModel):
    """A figure without its pictures; `apart` is its paired difference from the best earlier version, with interval.

    `earlier` has the figure of each earlier version on the pictures recorded for it.
    """

    model_config = ConfigDict(extra="forbid")

    half: Half
    version: str
    n: int
    value: float
    low: float
    high: float
    better: Better = "higher"
    best: str | None = None
    best_value: float | None = None
    apart: tuple[float, float, float] | None = None
    earlier: dict[str, float] = {}
    fall: bool = False
    reason: str | None = None

    @property
    def is_red(self) -> bool:
        """Whether this is a fall in the check half that nobody gave a reason for."""
        return self.fall and self.half == "check" and not self.reason


class LookAt(BaseModel):
    """One run over the check half: when, which version, with what content, what for."""

    model_config = ConfigDict(extra="forbid")

    date: str
    version: str
    code: str
    sources: list[str]
    purpose: str


class FieldLedger(BaseModel):
    """Everything in the file."""

    model_config = ConfigDict(extra="forbid")

    looks: list[LookAt] = []
    figures: dict[str, Entry] = {}

    @classmethod
    def read(cls, path: Path = LEDGER) -> FieldLedger:
        """The file's content; empty where there is no file."""
        return cls.model_validate_json(path.read_text(encoding="utf-8")) if path.exists() else cls()

    def write(self, path: Path = LEDGER) -> None:
        """One line per look and per figure, so that a change of one shows as one."""
        parts = {
            "looks": [look.model_dump_json() for look in self.looks],
            "figures": [
                f"{json.dumps(name, ensure_ascii=False)}: {entry.model_dump_json(exclude_defaults=True)}"
                for name, entry in self.figures.items()
            ],
        }
        looks, figures = (",\n  ".join(lines) for lines in parts.values())
        path.write_text(f'{{"looks": [\n  {looks}\n], "figures": {{\n  {figures}\n}}}}\n', encoding="utf-8")

    def list_look(self, version: str, code: str, sources: Sequence[str], purpose: str) -> None:
        """Note that the check half was looked at; the same look again on the same day is the same line."""
        today = datetime.now(UTC).date().isoformat()
        look = LookAt(date=today, version=version, code=code, sources=list(sources), purpose=purpose)
        if look not in self.looks:
            self.looks.append(look)

    def enter(self, version: str, now: Measured, earlier: Mapping[str, Measured]) -> Entry:
        """Put a figure of this version beside the best earlier one; a reason stays unless it fell further."""
        found = now.interval()
        entry = Entry(
            half=now.half, version=version, n=len(now.ids), value=_round(found.value), low=_round(found.low),
            high=_round(found.high), better=now.better,
        )  # fmt: skip
        # A score that is the same for every picture has no correlation.
        known = {name: value for name, value in ((n, m.value()) for n, m in earlier.items()) if np.isfinite(value)}
        if known:
            best = (min if now.better == "lower" else max)(known, key=lambda name: known[name])
            apart = difference(now, earlier[best])
            entry.best, entry.best_value = best, _round(known[best])
            entry.earlier = {name: _round(value) for name, value in known.items()}
            entry.apart = (_round(apart.value), _round(apart.low), _round(apart.high))
            entry.fall = is_fall(apart, now.better)
        before = self.figures.get(now.name)
        if entry.fall and before and before.reason and abs(before.value - entry.value) <= FURTHER:
            entry.reason = before.reason
        self.figures[now.name] = entry
        return entry


def _round(value: float) -> float:
    return round(value, 4)
