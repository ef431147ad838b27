"""BIQ2021: photographs with authentic distortions, in the split of their owners."""

from __future__ import annotations

from pathlib import Path

from agenticiqa.evaluation.datasets.files import Folder, listed, number, require, table
from agenticiqa.evaluation.samples import RatedSet, Scale

# Half of the photographs lie above 0.72: a straight line would call most of them good.
SCALE = Scale(0, 1, knots=((0.149, 1.0), (0.42, 1.9), (0.53, 2.7), (0.62, 3.5), (0.70, 4.2), (0.78, 4.6), (0.891, 5.0)))


def read(root: Path) -> RatedSet:
    """All rated photographs that are there, with `split` train or test."""
    tables = {split.lower(): require(root, f"{split} (Images and MOS).csv") for split in ("Train", "Test")}
    rated = [
        (row["image name"], number(row["mos"], path.name), split)
        for split, path in tables.items()
        for row in table(path, "Image Name", "MOS")
        if row["image name"]
    ]
    return listed("biq2021", Folder(require(root, "Images")), rated, SCALE, "near twins across its splits")
