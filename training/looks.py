"""The project's own labels of what is wrong with real photographs (`looks.csv`), made by eye after a written guide.

Eye a labelled 1,600 photographs of BIQ2021's training split and 400 of its test split; eye b the 400 again,
independently; eye c 240 more of the training split, where the first fit was unsure; eyes i to m 600 more, picked by
plain measurements to be rich in flaws, and eye n every fifth of them again. `other_looks.csv` holds photographs of
another source (the ImageNet sample): `train` 540 to learn from, rich in flaws, one eye (e to g, o to q) each and a
second (h) for 32; `choice` 80 for choosing, `check` 80 for checking, one eye (d) each; and of a third (BSDS500)
`bsds`, 120 for checking, one eye (r) each. Severities are 0 (none or hardly visible), 1 (slight), 2 (moderate: anyone
notices) and 3 (severe: it spoils the picture). The labels are ours, the photographs are those of BIQ2021, ImageNet
and BSDS500.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from agenticiqa.state import DistortionCategory

TABLE = Path(__file__).with_name("looks.csv")
OTHER_TABLE = Path(__file__).with_name("other_looks.csv")
FLAWS = ("blur", "noise", "compression", "dark", "bright", "contrast", "colour", "oversharp")
CATEGORY_OF: dict[str, DistortionCategory] = {
    "blur": "Blurs",
    "noise": "Noise",
    "compression": "Compression",
    "dark": "Brightness change",
    "bright": "Brightness change",
    "contrast": "Contrast",
    "colour": "Color distortions",
    "oversharp": "Sharpness",
}
# From this mean of the eyes on a flaw counts as present: moderate, rounded as severities are.
PRESENT = 1.5


@dataclass(frozen=True)
class LookedAt:
    """One photograph: the mean severity of each flaw, and what each eye called the kind of blur and the main flaw."""

    image: str
    split: str
    flaws: dict[str, float]
    blur_kinds: tuple[str, ...]
    mains: tuple[str, ...]
    eyes: tuple[str, ...]

    @property
    def agreed_main(self) -> str | None:
        """The main flaw (or "none") all of at least two eyes named; None where they differ."""
        return self.mains[0] if len(self.mains) > 1 and len(set(self.mains)) == 1 else None


def read_looks(split: str, table: Path = TABLE) -> list[LookedAt]:
    """The photographs of a split, in the order of the table."""
    rows: dict[str, list[dict[str, str]]] = defaultdict(list)
    with table.open(newline="", encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            if row["split"] == split:
                rows[row["image"]].append(row)
    return [_joined(image, split, seen) for image, seen in rows.items()]


def _joined(image: str, split: str, seen: list[dict[str, str]]) -> LookedAt:
    flaws = {flaw: float(np.mean([int(row[flaw]) for row in seen])) for flaw in FLAWS}
    return LookedAt(
        image,
        split,
        flaws,
        tuple(row["blurkind"] for row in seen),
        tuple(row["main"] for row in seen),
        tuple(row["eye"] for row in seen),
    )
