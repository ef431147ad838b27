"""Fitting curves: least squares under strict monotony, and shrinkage where there is little data."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agenticiqa.errors import CalibrationError
from agenticiqa.tools.calibration import HIGHEST, LOWEST, Curve

Floats = NDArray[np.float64]

KNOTS = 7
MIN_POINTS = 8
# Support below which a curve leans on the tool's overall one.
FULL_POINTS = 30
FULL_REFERENCES = 5
# Each knot lies at least this much above the one before, in points: the curve stays strictly monotone.
_STEP = 0.02
# How far a curve without an anchor stays off the ends of the scale: its tails need room beyond the data.
_MARGIN = 0.03
# The price of a bend beside the mean squared error.
_SMOOTHNESS = 0.02
# A knot that rises less above its neighbour is dropped.
_LEAST_RISE = 1e-4


def fit_curve(
    raw: ArrayLike,
    scores: ArrayLike,
    *,
    increasing: bool,
    best: float | None = None,
    references: int = 0,
) -> Curve:
    """The strictly monotone curve that fits these scores best; `best` is the raw value that must read 5."""
    values, targets = np.asarray(raw, np.float64), np.asarray(scores, np.float64)
    if values.size < MIN_POINTS or np.unique(values).size < MIN_POINTS:
        raise CalibrationError(f"a curve needs {MIN_POINTS} different raw values, got {np.unique(values).size}")
    if not np.isfinite([values, targets]).all():
        raise CalibrationError("raw values and scores must be finite; leave the failed measurements out")
    goodness = values if increasing else -values
    top = None if best is None else (best if increasing else -best)
    places = _places(goodness, top)
    heights = _heights(goodness, targets, places, anchored=top is not None)
    knots = list(zip(places if increasing else -places, heights, strict=True))
    bare = Curve(knots=tuple(sorted((float(x), float(y)) for x, y in knots)), spread=0.0)
    residuals = targets - evaluate(bare, values)
    statistics = {
        "spread": round(float(np.sqrt(np.mean(residuals**2))), 4),
        "points": values.size,
        "references": references,
        "srcc": round(rank_correlation(goodness, targets), 4),
    }
    return bare.model_copy(update=statistics)


def shrink(curve: Curve, overall: Curve, reach: float = math.inf) -> Curve:
    """The curve pulled towards the overall one, the more the less data it rests on.

    It leaves the overall curve by no more than `reach` points, so that a kind wrongly named costs little.
    """
    support = min(1.0, curve.points / FULL_POINTS) * min(1.0, curve.references / FULL_REFERENCES)
    places = sorted({x for x, _ in curve.knots} | {x for x, _ in overall.knots})
    knots = [(x, overall.score(x) + _bounded(support * (curve.score(x) - overall.score(x)), reach)) for x in places]
    return curve.model_copy(update={"knots": tuple(_strictly(knots, curve.increasing))})


def evaluate(curve: Curve, raw: ArrayLike) -> Floats:
    """The curve at many raw values."""
    return np.array([curve.score(value) for value in np.asarray(raw, np.float64).tolist()])


def rank_correlation(first: ArrayLike, second: ArrayLike) -> float:
    """Spearman's rank correlation."""
    return float(np.corrcoef(ranks(first), ranks(second))[0, 1])


def _places(goodness: Floats, top: float | None) -> Floats:
    """Knots at even shares of the data, and at the top of the tool's range if the curve is anchored there."""
    covered = np.arange(1, goodness.size + 1) / goodness.size
    places = np.unique(np.interp(np.linspace(0, 1, KNOTS), covered, np.sort(goodness)))
    apart = 1e-3 * (places[-1] - places[0])
    kept = [places[0]]
    for place in places[1:]:
        if place - kept[-1] > apart:
            kept.append(place)
    if top is None:
        return np.array(kept)
    return np.array([place for place in kept if place < top - apart] + [top])


def _heights(goodness: Floats, targets: Floats, places: Floats, *, anchored: bool) -> Floats:
    """Heights at the knots: least squares with a small price on bends, each higher than the one before."""
    count = len(places)
    design = np.stack([np.interp(goodness, places, row) for row in np.eye(count)], axis=1)
    bends = math.sqrt(_SMOOTHNESS / count) * np.diff(np.eye(count), 2, axis=0)
    # Heights hang from the top: each is the one above less a fixed step and a fall that is not negative.
    top = HIGHEST if anchored else HIGHEST - _MARGIN
    ceiling = top - _STEP * np.arange(count)[::-1]
    falls = np.tri(count)[::-1, ::-1][:, : count - anchored]
    share = 1 / math.sqrt(goodness.size)
    rows = np.vstack([share * design, bends])
    wanted = np.concatenate([share * targets, np.zeros(len(bends))])
    found = nonnegative_least_squares(rows @ falls, rows @ ceiling - wanted)
    heights = ceiling - falls @ found
    # A fit that would fall through the floor is squeezed evenly, which keeps every step.
    depth, room = heights[-1] - heights[0], heights[-1] - LOWEST - _MARGIN
    return np.asarray(heights[-1] - (heights[-1] - heights) * min(1.0, room / depth), np.float64)


def nonnegative_least_squares(rows: Floats, wanted: Floats) -> Floats:
    """The x ≥ 0 that brings rows @ x nearest to what is wanted (Lawson and Hanson's active sets).

    By hand because SciPy, the library that has it, would be a quarter of the default install for this function.
    """
    found, free = np.zeros(rows.shape[1]), np.zeros(rows.shape[1], bool)
    tolerance = 10 * np.finfo(float).eps * np.abs(rows).sum(axis=0).max() * max(rows.shape)
    for _ in range(30 * rows.shape[1]):
        pull = rows.T @ (wanted - rows @ found)
        if free.all() or pull[~free].max() <= tolerance:
            break
        free[np.where(free, -np.inf, pull).argmax()] = True
        while True:
            trial = np.zeros_like(found)
            trial[free] = np.linalg.lstsq(rows[:, free], wanted, rcond=None)[0]
            below = free & (trial <= 0)
            if not below.any():
                break
            # Only as far towards the trial as the first value that would turn negative.
            found += (trial - found) * (found[below] / (found[below] - trial[below])).min()
            free &= found > tolerance
            found[~free] = 0
        found = trial
    return found


def ranks(values: ArrayLike) -> Floats:
    """Ranks from 1, ties sharing their mean."""
    _, group, sizes = np.unique(np.asarray(values, np.float64), return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(sizes) - (sizes - 1) / 2)[group], np.float64)


def _bounded(difference: float, reach: float) -> float:
    """The difference bent towards ± reach; the sum of a rising curve and this stays rising."""
    return difference if math.isinf(reach) else reach * math.tanh(difference / reach)


def _strictly(knots: list[tuple[float, float]], increasing: bool) -> list[tuple[float, float]]:
    """The knots without those too close to their neighbour to show a rise; both ends stay."""
    apart = 1e-4 * (knots[-1][0] - knots[0][0])
    kept = [knots[0]]
    for place, height in knots[1:-1]:
        rise = (height - kept[-1][1]) * (1 if increasing else -1)
        if place - kept[-1][0] > apart and rise > _LEAST_RISE:
            kept.append((place, height))
    last = knots[-1]
    while len(kept) > 1 and (last[0] - kept[-1][0] <= apart or abs(last[1] - kept[-1][1]) <= _LEAST_RISE):
        kept.pop()
    return [*kept, last]
