"""The no-reference quality model: how good people would find a picture, how sure that is, and where it is worst.

`load_quality_model(terms).judge(image)` gives a `QualityJudgement`. The model is loaded once per
process and terms, holds no state that changes, and sums in one fixed order: the same picture has the
same score in any thread, process or batch.

Every picture is judged at one size, in which the fit saw all its sources: the working area of `embedded.trunk`. A
larger one is shrunk to it, a smaller one that is shown by itself enlarged; `shown_alone=False` is for parts of a
picture whose whole is judged elsewhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from agenticiqa.embedded.quality.domain import OutOfDomain, find_out_of_domain
from agenticiqa.embedded.quality.quality_head import QualityHead, Span
from agenticiqa.embedded.trunk import (
    LONGEST_SIDE,
    WORKING_PIXELS,
    Backbone,
    Features,
    Tail,
    load_backbone,
    load_tail,
    resize,
)
from agenticiqa.images import LoadedImage
from agenticiqa.state import LevelLetter, Region
from agenticiqa.values import level_probabilities
from agenticiqa.weights import WeightSet, read_arrays

Pixels = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float32]
Values = npt.NDArray[np.float64]

CELL = 64
WINDOW_CELLS = 2


@dataclass(frozen=True)
class QualityJudgement:
    """Quality from 1 to 5 with its level probabilities, 95 % and 80 % intervals, and doubts."""

    score: float
    levels: dict[LevelLetter, float]
    interval: Span
    likely_interval: Span
    out_of_domain: OutOfDomain | None

    @property
    def reason(self) -> str | None:
        """Why the judgement is doubtful, in words."""
        doubt = self.out_of_domain
        return f"{doubt.kind}: {doubt.reason}" if doubt else None


class QualityModel:
    """The shared trunk, the tuned last stages the head looks at, and the fitted head."""

    def __init__(self, backbone: Backbone, tails: tuple[Tail, ...], head: QualityHead) -> None:
        self._backbone = backbone
        self._tails = tails
        self._head = head

    @property
    def error(self) -> float:
        """The standard error of a score, as sources left out of the fit show it."""
        return self._head.error

    def judge(self, image: Pixels | LoadedImage) -> QualityJudgement:
        """The judgement of one picture."""
        pixels = image.pixels if isinstance(image, LoadedImage) else image
        return self.judge_features(self._backbone.features(pixels))

    def judge_features(self, features: Features, *, shown_alone: bool = True) -> QualityJudgement:
        """The judgement from features somebody already has."""
        score = self._head.estimate(self._statistics(_at_one_size(features) if shown_alone else features)[0])
        spans = self._head.interval(score), self._head.likely_interval(score)
        shares = level_probabilities(score, self.error)
        return QualityJudgement(score, shares, *spans, find_out_of_domain(features.working))

    def places(self, image: Pixels | LoadedImage) -> LocalQuality:
        """The quality of one picture place by place."""
        pixels = image.pixels if isinstance(image, LoadedImage) else image
        features = _at_one_size(self._backbone.features(pixels))
        maps = self._statistics(features)[1]
        (height, width), own = features.working.shape[:2], (pixels.shape[0], pixels.shape[1])
        return map_quality(self._head, maps, (height, width), own)

    def _statistics(self, features: Features) -> tuple[Floats, list[Floats]]:
        """What the head looks at, and all maps it is pooled from."""
        seen = [tail.features(features.maps[-1]) for tail in self._tails]
        pooled = np.concatenate([features.pooled, *(each.pooled for each in seen)])
        return pooled, [*features.maps, *(stage for each in seen for stage in each.maps)]


def _at_one_size(features: Features) -> Features:
    """The features of a small picture as it looks enlarged to the working area."""
    height, width = features.working.shape[:2]
    factor = min(math.sqrt(WORKING_PIXELS / (height * width)), LONGEST_SIDE / max(height, width))
    # A picture that was shrunk has the size already, but for parts of pixels.
    if features.scale < 1 or factor <= 1:
        return features
    working = resize(features.working, factor)
    maps, pooled = features.look(working)
    return Features(maps, pooled, features.scale * factor, working, features.look)


# The tails each set's head looks at, in this order.
TAILS: dict[WeightSet, tuple[WeightSet, ...]] = {"research": ("research", "open"), "open": ("open",)}


@lru_cache(maxsize=2)
def load_quality_model(terms: WeightSet = "research") -> QualityModel:
    """The quality model fitted under these terms, loaded once per process."""
    tails = tuple(load_tail(name) for name in TAILS[terms])
    return QualityModel(load_backbone(), tails, QualityHead(read_arrays(f"quality_{terms}.npz")))


@dataclass(frozen=True)
class LocalQuality:
    """A coarse grid of qualities from 1 to 5, and the box of the lowest in the picture's own pixels."""

    grid: Values
    worst: Region


def map_quality(head: QualityHead, maps: list[Floats], working: tuple[int, int], size: tuple[int, int]) -> LocalQuality:
    """Quality of overlapping windows of 128 pixels at working size; `size` is the picture's own (height, width)."""
    rows, columns = (max(1, side // CELL) for side in working)
    means, squares = zip(*(_cells(m, rows, columns) for m in maps), strict=True)
    statistics = [_windows(mean, square) for mean, square in zip(means, squares, strict=True)]
    flat = np.concatenate(statistics, 0)
    grid = head.on_scale(head.network(flat.reshape(len(flat), -1).T)).reshape(flat.shape[1:])
    return LocalQuality(grid, _box(grid, (rows, columns), size))


def _cells(feature_map: Floats, rows: int, columns: int) -> tuple[Values, Values]:
    height, width = feature_map.shape[1:]
    top = np.linspace(0, height, rows + 1).astype(int)[:-1]
    left = np.linspace(0, width, columns + 1).astype(int)[:-1]
    counts = np.outer(np.diff([*top, height]), np.diff([*left, width]))
    sums = (np.add.reduceat(np.add.reduceat(v, top, 1), left, 2) for v in (feature_map, feature_map**2))
    mean, square = (np.asarray(s / counts, np.float64) for s in sums)
    return mean, square


def _windows(mean: Values, square: Values) -> Values:
    mean, square = _average(mean), _average(square)
    return np.concatenate([mean, np.sqrt(np.maximum(square - mean**2, 0) + 1e-6)], 0)


def _average(cells: Values) -> Values:
    for axis in (1, 2):
        if cells.shape[axis] >= WINDOW_CELLS:
            first, last = (np.delete(cells, end, axis) for end in (-1, 0))
            cells = (first + last) / 2
    return cells


def _box(grid: Values, cells: tuple[int, int], size: tuple[int, int]) -> Region:
    row, column = np.unravel_index(int(grid.argmin()), grid.shape)
    edges = []
    for place, count, length, windows in zip((row, column), cells, size, grid.shape, strict=True):
        span = count - windows + 1
        edges.append((int(place) * length // count, (int(place) + span) * length // count))
    (top, bottom), (left, right) = edges
    return Region(left=left, top=top, right=max(right, left + 1), bottom=max(bottom, top + 1))
