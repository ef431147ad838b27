"""KADID-10k. Its column is called dmos, but more is better."""

from __future__ import annotations

from pathlib import Path

from agenticiqa.evaluation.datasets.files import Folder, number, require, table
from agenticiqa.evaluation.samples import RatedSet, Sample, Scale


def read(root: Path) -> RatedSet:
    """All rated pairs whose two pictures are there; types are the numbers in the names, 01 to 25."""
    rows = table(require(root, "dmos.csv"), "dist_img", "ref_img", "dmos")
    pictures = Folder(require(root, "images"))
    samples, missing = [], []
    for row in rows:
        image, reference = pictures.find(row["dist_img"]), pictures.find(row["ref_img"])
        if image is None or reference is None:
            missing.append(row["dist_img"] if image is None else row["ref_img"])
            continue
        pieces = Path(row["dist_img"]).stem.split("_")
        named = len(pieces) == 3 and pieces[2].isdigit()
        kind, level = (f"type {pieces[1]}", str(int(pieces[2]))) if named else (None, None)
        opinion, group = number(row["dmos"], "dmos.csv"), Path(row["ref_img"]).stem.upper()
        samples.append(Sample(row["dist_img"], image, opinion, reference, group, kind, level))
    return RatedSet("kadid10k", tuple(samples), Scale(1, 5), tuple(missing))
