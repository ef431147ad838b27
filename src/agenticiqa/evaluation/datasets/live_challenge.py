"""LIVE in the Wild: photographs as phones took them; the first seven rated ones were for the raters' practice."""

from __future__ import annotations

from pathlib import Path

from agenticiqa.evaluation.datasets.files import Folder, listed, matrix, require, require_equal, texts
from agenticiqa.evaluation.samples import RatedSet, Scale

PRACTICE = 7


def read(root: Path) -> RatedSet:
    """All rated photographs that are there, without those for practice."""
    inner = root / "ChallengeDB_release"
    base = inner if inner.is_dir() else root
    names = list(texts(matrix(require(base, "Data/AllImages_release.mat"), "AllImages_release")))
    opinions = matrix(require(base, "Data/AllMOS_release.mat"), "AllMOS_release")
    require_equal(base, names=len(names), scores=len(opinions))
    rated = [(name, float(opinion), None) for name, opinion in zip(names, opinions, strict=True)]
    note = f"the first {PRACTICE} rated photographs, shown for practice, are left out"
    return listed("live-challenge", Folder(require(base, "Images")), rated[PRACTICE:], Scale(0, 100), note)
