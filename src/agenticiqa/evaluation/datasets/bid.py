"""BID: large photographs with real blur; the spreadsheet holds the number of each and its average grade."""

from __future__ import annotations

from pathlib import Path

from agenticiqa.errors import DatasetError
from agenticiqa.evaluation.datasets.files import Folder, listed, require
from agenticiqa.evaluation.datasets.spreadsheet import sheet_rows
from agenticiqa.evaluation.samples import RatedSet, Scale


def read(root: Path) -> RatedSet:
    """All rated photographs that are there."""
    path = require(root, "DatabaseGrades.xlsx")
    rated = [entry for row in sheet_rows(path) if (entry := _entry(row)) is not None]
    if not rated:
        raise DatasetError(f"{path}: no row holds an image number and an average grade from 0 to 5")
    return listed("bid", Folder(require(root, "ImageDatabase")), rated, Scale(0, 5))


def _entry(row: list[str]) -> tuple[str, float, None] | None:
    """The picture and grade of a row whose first two cells are numbers; headings have none."""
    try:
        number, grade = int(float(row[0])), float(row[1])
    except (ValueError, IndexError):
        return None
    return (f"DatabaseImage{number:04d}.JPG", grade, None) if 0 <= grade <= 5 else None
