"""PIPAL's training part: one list of Elo scores per original."""

from __future__ import annotations

from pathlib import Path

from agenticiqa.errors import DatasetError
from agenticiqa.evaluation.datasets.files import Folder, lines_of, number, require
from agenticiqa.evaluation.samples import RatedSet, Sample, Scale


def read(root: Path) -> RatedSet:
    """All rated pairs whose two pictures are there; types are the first number in the names."""
    labels, originals = sorted(require(root, "Train_Label").glob("*.txt")), Folder(require(root, "Train_Ref"))
    folders = [path for path in sorted(root.iterdir()) if path.is_dir() and path.name.lower().startswith("distortion")]
    if not labels or not folders:
        raise DatasetError(f"{root}: has no {'Train_Label/*.txt' if not labels else 'Distortion_* folder'}")
    distorted = Folder(*folders)
    samples, missing = [], []
    for name, elo in (line for path in labels for line in _lines(path)):
        group, kind = name.partition("_")[0].upper(), name.split("_")[1] if "_" in name else None
        image, reference = distorted.find(name), originals.find(f"{group}.bmp")
        if image is None or reference is None:
            missing.append(name if image is None else f"{group}.bmp")
            continue
        samples.append(Sample(name, image, elo, reference, group, kind and f"type {kind}"))
    return RatedSet("pipal", tuple(samples), Scale(900, 1850), tuple(missing), ("opinions are Elo scores",))


def _lines(path: Path) -> list[tuple[str, float]]:
    rows = [line.partition(",") for line in lines_of(path)]
    return [(name.strip(), number(elo.strip(), path.name)) for name, _, elo in rows]
