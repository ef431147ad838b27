"""BIQ2021: photographs with authentic distortions and the mean opinion of each."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Photograph:
    """One rated photograph and the split its authors put it in."""

    name: str
    opinion: float
    split: str


def read_photographs(data: Path) -> list[Photograph]:
    """All rated photographs, training ones first, in the order of the authors' lists."""
    # One file's suffix is in capitals while the list writes it small.
    actual = {path.name.lower(): path.name for path in (data / "Images").iterdir()}
    rated = []
    for split in ("Train", "Test"):
        with (data / f"{split} (Images and MOS).csv").open(newline="", encoding="utf-8-sig") as lines:
            rows = [row for row in csv.DictReader(lines) if row["Image Name"]]
        rated += [Photograph(actual[row["Image Name"].lower()], float(row["MOS"]), split.lower()) for row in rows]
    return rated
