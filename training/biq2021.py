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
    rated = []
    for split in ("Train", "Test"):
        with (data / f"{split} (Images and MOS).csv").open(newline="", encoding="utf-8-sig") as lines:
            for row in csv.DictReader(lines):
                if row["Image Name"]:
                    rated.append(Photograph(row["Image Name"], float(row["MOS"]), split.lower()))
    return rated
