"""KonIQ-10k, at full or half size."""

from __future__ import annotations

from pathlib import Path

from agenticiqa.evaluation.datasets.files import Folder, listed, number, require, table
from agenticiqa.evaluation.samples import RatedSet, Scale


def read(root: Path) -> RatedSet:
    """All rated photographs that are there."""
    path = require(root, "koniq10k_scores_and_distributions.csv")
    rated = [(row["image_name"], number(row["mos"], path.name), None) for row in table(path, "image_name", "MOS")]
    folder = require(root, "1024x768", "512x384")
    return listed("koniq10k", Folder(folder), rated, Scale(1, 5), f"pictures of {folder.name}")
