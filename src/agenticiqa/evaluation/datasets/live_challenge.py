"""LIVE in the Wild: photographs as phones took them; the first seven rated ones were for the raters' practice."""

from __future__ import annotations

from pathlib import Path

from agenticiqa.evaluation.datasets.files import Folder, matrix, require, texts
from agenticiqa.evaluation.samples import RatedSet, Sample, Scale

PRACTICE = 7


def read(root: Path) -> RatedSet:
    """All rated photographs that are there, without those for practice."""
    inner = root / "ChallengeDB_release"
    base = inner if inner.is_dir() else root
    names = list(texts(matrix(require(base, "Data/AllImages_release.mat"), "AllImages_release")))
    opinions = matrix(require(base, "Data/AllMOS_release.mat"), "AllMOS_release")
    pictures = Folder(require(base, "Images"))
    samples, missing = [], []
    for name, opinion in list(zip(names, opinions, strict=True))[PRACTICE:]:
        image = pictures.find(name)
        if image is None:
            missing.append(name)
        else:
            samples.append(Sample(name, image, float(opinion)))
    note = f"the first {PRACTICE} rated photographs, shown for practice, are left out"
    return RatedSet("live-challenge", tuple(samples), Scale(0, 100), tuple(missing), (note,))
