"""Near-duplicates found by thumbnail, so that no photograph is on both sides of a split."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

Thumbnails = npt.NDArray[np.float32]
SIDE = 16
TWIN_CORRELATION = 0.99


class LeakError(ValueError):
    """A photograph has a twin on the other side of a split."""


def thumbnail(picture: Image.Image) -> Thumbnails:
    """A picture's 16 × 16 grey thumbnail, with mean zero and length one."""
    grey = picture.convert("L").resize((SIDE, SIDE), Image.Resampling.BOX)
    values = np.asarray(grey, np.float32).ravel()
    values = values - values.mean()
    length = float(np.linalg.norm(values))
    return np.asarray(values / max(length, 1e-6), np.float32)


def thumbnails(paths: Iterable[Path]) -> Thumbnails:
    """One thumbnail per file."""
    rows = []
    for path in paths:
        with Image.open(path) as picture:
            picture.draft("L", (64, 64))
            rows.append(thumbnail(picture))
    return np.array(rows, np.float32)


def find_clusters(rows: Thumbnails, threshold: float = TWIN_CORRELATION) -> npt.NDArray[np.intp]:
    """A cluster number per picture; two whose thumbnails correlate above the threshold share theirs, and so on."""
    parent = np.arange(len(rows))

    def root(index: int) -> int:
        while parent[index] != index:
            parent[index] = parent[parent[index]]
            index = int(parent[index])
        return index

    for first, second in _twins(rows, rows, threshold):
        if first < second:
            parent[root(second)] = root(first)
    return np.array([root(index) for index in range(len(rows))])


def twins_between(left: Thumbnails, right: Thumbnails, threshold: float = TWIN_CORRELATION) -> list[tuple[int, int]]:
    """Pairs (row of left, row of right) that show the same photograph."""
    return _twins(left, right, threshold)


def refuse_twins(left: Thumbnails, right: Thumbnails, left_names: Sequence[str], right_names: Sequence[str]) -> None:
    """Raise when a photograph of one split has a twin in the other."""
    found = twins_between(left, right)
    if found:
        first, second = found[0]
        pair = f"{left_names[first]} and {right_names[second]}"
        raise LeakError(f"{pair} are the same photograph in two splits ({len(found)} such pairs)")


def folds_of(clusters: npt.NDArray[np.intp], count: int, seed: int) -> npt.NDArray[np.intp]:
    """A fold per picture, whole clusters together."""
    names = np.unique(clusters)
    assigned = np.random.default_rng(seed).integers(0, count, len(names))
    return np.asarray(assigned[np.searchsorted(names, clusters)])


def _twins(left: Thumbnails, right: Thumbnails, threshold: float) -> list[tuple[int, int]]:
    pairs = []
    for start in range(0, len(left), 1000):
        alike = left[start : start + 1000] @ right.T > threshold
        pairs += [(int(i) + start, int(j)) for i, j in zip(*np.nonzero(alike), strict=True)]
    return pairs
