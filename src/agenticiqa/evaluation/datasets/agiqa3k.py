"""AGIQA-3K: generated pictures; opinions on their quality, not on how well they fit the prompt."""

from __future__ import annotations

from pathlib import Path

from agenticiqa.evaluation.datasets.files import Folder, listed, number, require, table
from agenticiqa.evaluation.samples import RatedSet, Scale


def read(root: Path) -> RatedSet:
    """All rated pictures that are there."""
    rows = table(require(root, "data.csv"), "name", "mos_quality")
    rated = [(row["name"], number(row["mos_quality"], "data.csv"), None) for row in rows]
    note = "knowing only which generator made a picture is reported to give SRCC .626"
    return listed("agiqa3k", Folder(root), rated, Scale(0, 4.5), note)
