"""The no-reference quality model: how good people would find a picture, how sure that is, and where it is worst.

`load_quality_model(terms).judge(image)` gives a `QualityJudgement`. The model is loaded once per
process and terms, holds no state that changes, and sums in one fixed order: the same picture has the
same score in any thread, process or batch.

A picture is judged as a viewer has it before him. A large one is looked at whole at the working size of
`embedded.trunk`, and its most detailed square at its own resolution: blur or enlargement that shrinking
hides still costs. A picture whose longer side is under 512 pixels and that is shown by itself is judged
enlarged to that length; `shown_alone=False` is for parts of a picture whose whole is judged elsewhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from agenticiqa.embedded.quality.domain import OutOfDomain, find_out_of_domain
from agenticiqa.embedded.quality.quality_head import Estimate, QualityHead, within_scale
from agenticiqa.embedded.trunk import Backbone, Features, Tail, load_backbone, load_tail, resize
from agenticiqa.images import LoadedImage
from agenticiqa.state import Region
from agenticiqa.tools.metrics.planes import percentile
from agenticiqa.weights import WeightSet, read_arrays

Pixels = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float32]
# Outside its domain the model's error is unknown; its interval is widened by this factor.
WIDENING = 2.0
# The length a viewer expects a picture to fill: one with fewer pixels lacks the detail for it.
VIEWED_SIDE = 512
Values = npt.NDArray[np.float64]

CELL = 64
WINDOW_CELLS = 2
GRAIN_CELL = 8
FLOORS = (5, 20)
TINT_SIDE = 96
# Black and burnt-out pixels have no colour to be tinted.
DARKEST, BRIGHTEST = 8, 97
FEWEST_PIXELS = 200
LEAST_TINTED = 5


@dataclass(frozen=True)
class QualityJudgement:
    """Quality from 1 to 5 with its level probabilities (levels 1 to 5), 95 % interval and doubts."""

    score: float
    probabilities: tuple[float, float, float, float, float]
    interval: tuple[float, float]
    out_of_domain: OutOfDomain | None
    synthetic: float
    scale: float
    error_terms: npt.NDArray[np.float64] = field(repr=False)

    @property
    def reason(self) -> str | None:
        """Why the judgement is doubtful, in words."""
        doubt = self.out_of_domain
        return f"{doubt.kind}: {doubt.reason}" if doubt else None


class QualityModel:
    """The shared trunk, the last stages of network and kernel, and the fitted heads."""

    def __init__(self, backbone: Backbone, tuned: Tail, likeness: Tail, head: QualityHead) -> None:
        self._backbone = backbone
        self._tuned = tuned
        self._likeness = likeness
        self._head = head

    def judge(self, image: Pixels | LoadedImage) -> QualityJudgement:
        """The judgement of one picture."""
        pixels = image.pixels if isinstance(image, LoadedImage) else image
        return self.judge_features(self._backbone.features(pixels))

    def judge_features(self, features: Features, *, shown_alone: bool = True) -> QualityJudgement:
        """The judgement from features somebody already has."""
        estimate = self._estimate(_as_viewed(features) if shown_alone else features)
        doubt = find_out_of_domain(features.working)
        score = min(estimate.quality, doubt.ceiling) if doubt else estimate.quality
        error = estimate.error * (WIDENING if doubt else 1.0)
        return QualityJudgement(
            score, level_probabilities(score, error), self._head.interval(score, error), doubt,
            estimate.synthetic, features.scale, estimate.terms,
        )  # fmt: skip

    def places(self, image: Pixels | LoadedImage) -> LocalQuality:
        """The quality of one picture place by place."""
        pixels = image.pixels if isinstance(image, LoadedImage) else image
        features = _as_viewed(self._backbone.features(pixels))
        maps = self._statistics(features.maps, features.pooled)[2]
        (height, width), own = features.working.shape[:2], (pixels.shape[0], pixels.shape[1])
        return map_quality(self._head, maps, (height, width), own, self._estimate(features).synthetic)

    def interval_without(self, source: str, judged: QualityJudgement) -> tuple[float, float]:
        """The interval by the calibration that left this source of opinions out: how honest intervals are elsewhere."""
        widening = WIDENING if judged.out_of_domain else 1.0
        error = float(self._head.error(judged.error_terms[None], source)[0]) * widening
        return self._head.interval(judged.score, error, source)

    def _estimate(self, features: Features) -> Estimate:
        network, kernel, _ = self._statistics(features.maps, features.pooled)
        cost = self._hidden_cost(features) + self._head.tone_cost(tonal_range(features.working))
        cost += self._head.cast_cost(features.pooled, common_tint(features.working))
        return self._head.estimate(network, kernel, colour_grain(features.working), cost)

    def _statistics(self, maps: tuple[Floats, ...], pooled: Floats) -> tuple[Floats, Floats, list[Floats]]:
        """What network and kernel look at, and all maps the network's statistics are pooled from."""
        likeness = self._likeness.features(maps[-1])
        kernel = np.concatenate([pooled, likeness.pooled])
        if self._likeness is self._tuned:
            return kernel, kernel, [*maps, *likeness.maps]
        tuned = self._tuned.features(maps[-1])
        network = np.concatenate([pooled, tuned.pooled, likeness.pooled])
        return network, kernel, [*maps, *tuned.maps, *likeness.maps]

    def _hidden_cost(self, features: Features) -> float:
        """What the picture's own pixels cost where they are worse than the shrunken picture lets on."""
        if features.closeup is None:
            return 0.0
        return self._head.closeup_cost(self._statistics(*features.look(features.closeup))[0])


def _as_viewed(features: Features) -> Features:
    """The features of a small picture as it looks enlarged to the size it is viewed at."""
    height, width = features.working.shape[:2]
    factor = VIEWED_SIDE / max(height, width)
    if factor <= 1:
        return features
    working = resize(features.working, factor)
    maps, pooled = features.look(working)
    return Features(maps, pooled, features.scale * factor, working, features.closeup, features.look)


# Chosen by hand on photographs no fit has seen; everything else of the heads is fitted. The gate turns between what it
# says of rated photographs (−5.7) and of synthetic damage (2.4); two rated photographs of a hundred have
# fewer than 70 tones. Rated photographs no fit has seen have a novelty of 0.34 in the median and 0.48 in the highest
# twentieth; the few hundred points of `open` are too few to tell near from far.
TONES, NEVER = np.array([70.0, 45.0, 0.8]), np.array([1.0, 2.0])
CHOSEN: dict[WeightSet, dict[str, npt.NDArray[np.float64]]] = {
    "research": {
        "gate": np.array([2.0, 6.0, 0.85]), "fading": np.array([0.4, 0.5]), "strange": np.array([0.4, 0.46]),
        "tones": TONES,
    },
    "open": {"gate": np.array([1.0, 0.0, 0.4]), "fading": NEVER, "strange": NEVER, "tones": TONES},
}  # fmt: skip


@lru_cache(maxsize=2)
def load_quality_model(terms: WeightSet = "research") -> QualityModel:
    """The quality model fitted under these terms, loaded once per process."""
    head = QualityHead(read_arrays(f"quality_{terms}.npz") | CHOSEN[terms])
    # Stages tuned on the rated photographs know them by heart: what resembles them is told by the other set's.
    return QualityModel(load_backbone(), load_tail(terms), load_tail("open"), head)


def judge(image: Pixels | LoadedImage, terms: WeightSet = "research") -> QualityJudgement:
    """The judgement of one picture by the model of these terms."""
    return load_quality_model(terms).judge(image)


def judge_places(image: Pixels | LoadedImage, terms: WeightSet = "research") -> LocalQuality:
    """The quality of one picture place by place, by the model of these terms."""
    return load_quality_model(terms).places(image)


LEVELS = (1, 2, 3, 4, 5)
NARROWEST = 0.3


def level_probabilities(score: float, error: float) -> tuple[float, float, float, float, float]:
    """Probabilities of levels 1 to 5: a normal curve cut at the halves, placed so that its mean is the score."""
    spread = max(error, NARROWEST)
    wanted = min(max(score, 1.0), 5.0)
    low, high = -40.0, 46.0
    for _ in range(80):
        middle = (low + high) / 2
        mean = sum(level * p for level, p in zip(LEVELS, _cut(middle, spread), strict=True))
        low, high = (middle, high) if mean < wanted else (low, middle)
    return _cut((low + high) / 2, spread)


def _cut(centre: float, spread: float) -> tuple[float, float, float, float, float]:
    below = [0.5 * math.erfc(-(edge - centre) / (spread * math.sqrt(2))) for edge in (1.5, 2.5, 3.5, 4.5)]
    first, second, third, fourth = below
    return first, second - first, third - second, fourth - third, 1 - fourth


@dataclass(frozen=True)
class LocalQuality:
    """A coarse grid of qualities from 1 to 5, and the box of the lowest in the picture's own pixels."""

    grid: Values
    worst: Region


def map_quality(
    head: QualityHead, maps: list[Floats], working: tuple[int, int], size: tuple[int, int], gate: float
) -> LocalQuality:
    """Quality of overlapping windows of 128 pixels at working size; `size` is the picture's own (height, width)."""
    rows, columns = (max(1, side // CELL) for side in working)
    means, squares = zip(*(_cells(m, rows, columns) for m in maps), strict=True)
    statistics = [_windows(mean, square) for mean, square in zip(means, squares, strict=True)]
    flat = np.concatenate(statistics, 0)
    outputs = head.network(flat.reshape(len(flat), -1).T)
    local = (1 - gate) * head.on_scale(outputs[:, 0]) + gate * outputs[:, 1]
    grid = within_scale(local).reshape(flat.shape[1:])
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


def colour_grain(pixels: Pixels) -> float:
    """Logarithm of the fine structure in the calmest cells of both colour planes; texture is seldom coloured."""
    import cv2

    _, red, blue = cv2.split(cv2.cvtColor(pixels, cv2.COLOR_RGB2YCrCb))
    return float(np.mean([np.log(0.05 + percentile(_grain_cells(plane), FLOORS)) for plane in (red, blue)]))


def tonal_range(pixels: Pixels) -> float:
    """Grey levels between the darkest and the brightest hundredth of a picture."""
    import cv2

    low, high = percentile(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY), (1, 99))
    return float(high - low)


def common_tint(pixels: Pixels) -> float:
    """How far even the least tinted twentieth leans towards the mean hue, in Lab units; below 0 it leans away."""
    import cv2

    small = cv2.resize(pixels, (TINT_SIDE, TINT_SIDE), interpolation=cv2.INTER_AREA)
    lab = cv2.cvtColor(small.astype(np.float32) / np.float32(255), cv2.COLOR_RGB2Lab).reshape(-1, 3)
    coloured = lab[(lab[:, 0] > DARKEST) & (lab[:, 0] < BRIGHTEST)]
    planes = (coloured if len(coloured) > FEWEST_PIXELS else lab)[:, 1:]
    mean = planes.mean(0)
    return float(percentile(planes @ (mean / (np.hypot(*mean) + 1e-6)), LEAST_TINTED))


def _grain_cells(plane: Pixels) -> npt.NDArray[np.float32]:
    """Mean absolute fine structure of each cell."""
    import cv2

    # The second derivative both ways annihilates planes and slopes; so scaled, white noise keeps its sigma.
    fine = np.abs(cv2.Sobel(plane, cv2.CV_32F, 2, 2, scale=1 / 6))
    rows, columns = (max(1, side // GRAIN_CELL) for side in plane.shape)
    return np.asarray(cv2.resize(fine, (columns, rows), interpolation=cv2.INTER_AREA), np.float32)
