"""CSIQ: DMOS from 0 to 1, less is better; the table is a spreadsheet or a text export of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from agenticiqa.errors import DatasetError
from agenticiqa.evaluation.datasets.files import Folder, lines_of, number, require
from agenticiqa.evaluation.datasets.spreadsheet import sheets
from agenticiqa.evaluation.samples import RatedSet, Sample, Scale

# What the table calls a distortion, and what folder and file names call it.
FOLDERS = {"noise": "awgn", "awgn": "awgn", "blur": "blur", "contrast": "contrast", "fnoise": "fnoise",
           "jpeg": "jpeg", "jpeg 2000": "jpeg2000", "jpeg2000": "jpeg2000"}  # fmt: skip
_NEEDED = ("image", "dst_type", "dst_lev", "dmos")


def read(root: Path) -> RatedSet:
    """All rated pairs whose two pictures are there."""
    distorted, originals = Folder(require(root, "dst_imgs")), Folder(require(root, "src_imgs"))
    samples, missing = [], []
    for row in _rated(require(root, "csiq.DMOS.xlsx", "csiq.DMOS.txt", "csiq.DMOS.csv")):
        kind, content = FOLDERS.get(row["dst_type"].lower()), row["image"]
        if kind is None:
            raise DatasetError(f"csiq.DMOS: unknown distortion {row['dst_type']!r}; known: {', '.join(FOLDERS)}")
        level = str(int(number(row["dst_lev"], "csiq.DMOS")))
        name = f"{content}.{kind}.{level}.png"
        image, reference = distorted.find(name), originals.find(f"{content}.png")
        if image is None or reference is None:
            missing.append(name if image is None else f"{content}.png")
            continue
        samples.append(Sample(name, image, number(row["dmos"], "csiq.DMOS"), reference, content, kind, level))
    return RatedSet("csiq", tuple(samples), Scale(0, 1, higher_is_better=False), tuple(missing))


def _rated(path: Path) -> list[dict[str, str]]:
    """The rows of the first table that has the four columns needed."""
    if path.suffix.lower() == ".xlsx":
        candidates: Sequence[list[list[str]]] = sheets(path)
    else:
        candidates = [[re.split(r"[,\t]|\s{2,}", line.strip()) for line in lines_of(path)]]
    for rows in candidates:
        for place, row in enumerate(rows):
            names = [cell.strip().lower() for cell in row]
            if set(_NEEDED) <= set(names):
                columns = {name: names.index(name) for name in _NEEDED}
                body = [
                    line for line in rows[place + 1 :] if len(line) > max(columns.values()) and line[columns["dmos"]]
                ]
                return [{name: line[column].strip() for name, column in columns.items()} for line in body]
    raise DatasetError(f"{path}: no table with the columns {', '.join(_NEEDED)}")
