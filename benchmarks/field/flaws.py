"""Flaws found and false alarms per kind, against the project's labels and those of others, and attributes people rated.

Truth and findings are compared by category: a brightness that was changed, whichever way. A flaw is present from
"moderate" on; what is said from "moderate" on is an alarm.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.field.figures import Measured, Rows, correlation, read_tools, share_figure
from benchmarks.field.sources import Data, Half, Picture, Source, field_table, read_rows, read_source
from training.looks import CATEGORY_OF, OTHER_TABLE, PRESENT, TABLE, read_looks

MODERATE = 2
FEWEST = 5
# What people of SPAQ rated, higher being better, and the finding that should fall with it.
ATTRIBUTES = {
    "brightness": "Brightness change", "colorfulness": "Color distortions", "contrast": "Contrast",
    "noisiness": "Noise", "sharpness": "Blurs",
}  # fmt: skip
FACTORS = {
    "out of focus": "Blurs", "motion blur": "Blurs", "overexposure": "Brightness change",
    "underexposure": "Brightness change", "noise and artifact": "Noise",
}  # fmt: skip


@dataclass(frozen=True)
class Labelled:
    """Pictures of which the flaws are known: by id, the categories that are clearly there and those that may be."""

    name: str
    half: Half
    paths: Mapping[str, Path]
    present: Mapping[str, frozenset[str]]
    doubtful: Mapping[str, frozenset[str]]


LABELLED = {
    "looks": ("check", TABLE, "test", "biq2021/Images", 200),
    "looks-imagenet": ("check", OTHER_TABLE, "check", "imagenet", 200),
    "looks-bsds": ("check", OTHER_TABLE, "bsds", "bsds/BSDS500/data/images", 200),
}


def read_labelled(name: str, data: Data) -> Labelled:
    """The photographs of one split of our own labels; a slight flaw counts neither way."""
    half, table, split, folder, count = LABELLED[name]
    root = data.find(folder)
    listed = [look for look in read_looks(split, table) if (root / look.image).exists()][:count]
    strength = {
        look.image: {c: max(look.flaws[f] for f in CATEGORY_OF if CATEGORY_OF[f] == c) for c in CATEGORY_OF.values()}
        for look in listed
    }
    return Labelled(
        name,
        "check" if half == "check" else "decide",
        {look.image: root / look.image for look in listed},
        {i: frozenset(c for c, s in flaws.items() if s >= PRESENT) for i, flaws in strength.items()},
        {i: frozenset(c for c, s in flaws.items() if 0.5 < s < PRESENT) for i, flaws in strength.items()},
    )


def read_mmp2k_labels(data: Data) -> Labelled:
    """What the raters of MMP-2K called medium or strong is present; mild counts neither way."""
    paths = {picture.id: picture.path for picture in read_source("mmp2k", data).pictures}
    present, doubtful = {}, {}
    for row in read_rows(data.find("mmp2k-table/MMP-2k.csv")):
        name = Path(row["file_name"]).name
        told = [(FACTORS[f["factor"]], f["magnitude"]) for f in json.loads(row["distortion annotation"]) if f["factor"]]
        present[name] = frozenset(category for category, magnitude in told if magnitude != "mild")
        doubtful[name] = frozenset(category for category, _ in told) - present[name]
    return Labelled("mmp2k", "decide", paths, present, doubtful)


def flaw_figures(labelled: Labelled, rows: Rows) -> Iterator[Measured]:
    """Per category: the share found where it is, and the share alarmed where it is not."""
    known = [name for name in labelled.paths if name in rows]
    alarms = {name: said(rows[name]["findings"]) for name in known}
    for category in sorted({category for name in known for category in labelled.present[name]}):
        hits = {n: float(category in alarms[n]) for n in known if category in labelled.present[n]}
        clear = [n for n in known if category not in labelled.present[n] | labelled.doubtful[n]]
        if len(hits) >= FEWEST:
            yield share_figure(f"{labelled.name} {category} found", labelled.half, hits)
            false = {n: float(category in alarms[n]) for n in clear}
            yield share_figure(f"{labelled.name} {category} false alarms", labelled.half, false, "lower")


def said(findings: str) -> set[str]:
    """The categories said to be moderate or worse."""
    return {category for category, strength in read_tools(findings).items() if strength >= MODERATE}


def attribute_figures(data: Data, rows: Rows) -> Iterator[Measured]:
    """How findings agree with people's ratings of five attributes of SPAQ."""
    table = [row for row in field_table(data, "spaq") if row["image"] in rows]
    found = {row["image"]: read_tools(rows[row["image"]]["findings"]) for row in table}
    for attribute, category in ATTRIBUTES.items():
        pictures = tuple(Picture(r["image"], Path(), float(r[attribute]), r["image"]) for r in table)
        calm = {p.id: -found[p.id].get(category, 0.0) for p in pictures}
        if len(set(calm.values())) > 1:
            yield correlation(f"spaq {attribute} by findings SRCC", Source("spaq", "check", pictures), calm)
