"""SPAQ: smartphone photographs with opinions in a spreadsheet."""

from __future__ import annotations

from pathlib import Path

from agenticiqa.errors import DatasetError
from agenticiqa.evaluation.datasets.files import Folder, listed, number, require
from agenticiqa.evaluation.datasets.spreadsheet import sheet_rows
from agenticiqa.evaluation.samples import RatedSet, Scale


def read(root: Path) -> RatedSet:
    """All rated photographs that are there."""
    path = require(root, "Annotations/MOS and Image attribute scores.xlsx")
    header, *rows = sheet_rows(path) or [[]]
    names = [cell.lower() for cell in header]
    if "image name" not in names or "mos" not in names:
        raise DatasetError(f"{path}: the first row must name `Image name` and `MOS`; it has {', '.join(header)}")
    name, opinion = names.index("image name"), names.index("mos")
    filled = [row for row in rows if len(row) > max(name, opinion) and row[name]]
    rated = [(row[name], number(row[opinion], path.name), None) for row in filled]
    return listed("spaq", Folder(require(root, "TestImage")), rated, Scale(0, 100))
