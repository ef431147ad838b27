"""From a tool's raw value to the common scale from 1 to 5: monotone curves, and which set of them holds.

The interpolation is Fritsch and Carlson's (1980) with the slopes of Fritsch and Butland (1984). SciPy has it too, and
the tests compare; loading it takes a third of a second at every start.
"""

from __future__ import annotations

import json
import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import resources
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict, Field, ValidationError, field_validator

from agenticiqa.errors import CalibrationError
from agenticiqa.state import Record

Floats = NDArray[np.float64]


class MonotoneCurve:
    """A smooth curve through knots of rising x that rises and falls only where the knots do."""

    def __init__(self, x: Sequence[float], y: Sequence[float]) -> None:
        self._x, self._y = np.asarray(x, float), np.asarray(y, float)
        self._slopes = _slopes(np.diff(self._x), np.diff(self._y) / np.diff(self._x))
        self._knots: list[float] = self._x.tolist()
        self._points: list[tuple[float, float, float]] = list(
            zip(self._knots, self._y.tolist(), self._slopes.tolist(), strict=True)
        )

    def __call__(self, x: float | Floats) -> Floats:
        """The heights of the curve between the first and the last knot."""
        at = np.asarray(x, float)
        left = np.clip(np.searchsorted(self._x, at, side="right") - 1, 0, len(self._x) - 2)
        width = self._x[left + 1] - self._x[left]
        t = (at - self._x[left]) / width
        rise = self._y[left + 1] - self._y[left]
        start, end = self._slopes[left] * width, self._slopes[left + 1] * width
        square, cube = 3 * rise - 2 * start - end, start + end - 2 * rise
        return np.asarray(self._y[left] + t * (start + t * (square + t * cube)))

    def at(self, x: float) -> float:
        """The height at one place, without the price of arrays: a pair asks for hundreds of curves once each."""
        left = min(max(bisect_right(self._knots, x) - 1, 0), len(self._knots) - 2)
        (x0, y0, slope), (x1, y1, next_slope) = self._points[left : left + 2]
        width, rise = x1 - x0, y1 - y0
        t, start, end = (x - x0) / width, slope * width, next_slope * width
        square, cube = 3 * rise - 2 * start - end, start + end - 2 * rise
        return y0 + t * (start + t * (square + t * cube))


def _slopes(widths: Floats, steps: Floats) -> Floats:
    """The slope at each knot: 0 at a turning point, else a harmonic mean of the steps beside it."""
    if len(steps) == 1:
        return np.repeat(steps, 2)
    before, after = 2 * widths[1:] + widths[:-1], widths[1:] + 2 * widths[:-1]
    same_way = steps[:-1] * steps[1:] > 0
    safe = np.where(same_way[:, None], np.stack([steps[:-1], steps[1:]], axis=1), 1.0)
    inner = np.where(same_way, (before + after) / (before / safe[:, 0] + after / safe[:, 1]), 0.0)
    first = _end_slope(widths[0], widths[1], steps[0], steps[1])
    last = _end_slope(widths[-1], widths[-2], steps[-1], steps[-2])
    return np.concatenate([[first], inner, [last]])


def _end_slope(width: float, next_width: float, step: float, next_step: float) -> float:
    """A three-point estimate, kept from overshooting."""
    slope = ((2 * width + next_width) * step - width * next_step) / (width + next_width)
    if np.sign(slope) != np.sign(step):
        return 0.0
    if np.sign(step) != np.sign(next_step) and abs(slope) > 3 * abs(step):
        return 3.0 * step
    return float(slope)


LOWEST, HIGHEST = 1.0, 5.0
# Whatever the detector says, the distortion may be of a kind nobody fitted a curve for.
OTHER_SHARE = 0.05
# An interval has some width even where the curve is flat.
LEAST_HALF_WIDTH = 0.05
Terms = Literal["research", "commercial"]


class Curve(Record):
    """A strictly monotone function from raw values to 1–5: PCHIP through knots, exponential tails beyond them."""

    knots: tuple[tuple[float, float], ...] = Field(min_length=2, description="raw value, score; raw ascending")
    spread: float = Field(ge=0.0, description="standard deviation of the residuals, in points of the 1–5 scale")
    points: int = Field(default=0, ge=0)
    references: int = Field(default=0, ge=0)
    srcc: float | None = Field(default=None, ge=-1.0, le=1.0, description="of the fitted scores on their data")

    @field_validator("knots")
    @classmethod
    def _strictly_monotone(cls, knots: tuple[tuple[float, float], ...]) -> tuple[tuple[float, float], ...]:
        if any(later[0] <= earlier[0] for earlier, later in pairwise(knots)):
            raise ValueError("raw values of the knots must ascend")
        steps = [later[1] - earlier[1] for earlier, later in pairwise(knots)]
        if not (all(step > 0 for step in steps) or all(step < 0 for step in steps)):
            raise ValueError("scores of the knots must be strictly monotone")
        if any(not LOWEST <= score <= HIGHEST for _, score in knots):
            raise ValueError("scores of the knots must lie in 1–5")
        return knots

    @property
    def increasing(self) -> bool:
        """Whether higher raw values are better."""
        return self.knots[0][1] < self.knots[-1][1]

    def score(self, raw: float) -> float:
        """The raw value on the 1–5 scale."""
        (first, at_first), (last, at_last) = self.knots[0], self.knots[-1]
        if raw < first:
            return _tail_at(at_first, self._slope(0, 1) * (raw - first))
        if raw > last:
            return _tail_at(at_last, self._slope(-2, -1) * (raw - last))
        return min(max(_interpolator(self.knots).at(raw), LOWEST), HIGHEST)

    def scores(self, raw: Floats) -> Floats:
        """Many raw values on the 1–5 scale."""
        (first, at_first), (last, at_last) = self.knots[0], self.knots[-1]
        inside = np.clip(_interpolator(self.knots)(np.clip(raw, first, last)), LOWEST, HIGHEST)
        below = _tail(at_first, self._slope(0, 1), np.minimum(raw - first, 0.0))
        above = _tail(at_last, self._slope(-2, -1), np.maximum(raw - last, 0.0))
        return np.where(raw < first, below, np.where(raw > last, above, inside))

    def _slope(self, left: int, right: int) -> float:
        (x0, y0), (x1, y1) = self.knots[left], self.knots[right]
        return (y1 - y0) / (x1 - x0)


class Calibration(Record):
    """How to read one tool: its overall curve, and one per kind of distortion the data could support."""

    model_config = ConfigDict(populate_by_name=True)

    method: Literal["ratings", "levels", "ladder", "own"] = Field(
        alias="calibration",
        description="fitted on opinions, on levels of damage, on other tools, or by its maker",
    )
    data: str = Field(description="what the curves were fitted on")
    research_only: bool = False
    study: dict[str, float] = Field(default_factory=dict, description="rank correlations on references left out")
    overall: Curve
    kinds: dict[str, Curve] = Field(default_factory=dict)

    def score(self, raw: float, kinds: Mapping[str, float] | None = None) -> tuple[float, float]:
        """Score and spread, each curve weighted by the probability that the distortion is of its kind."""
        weighted = [(weight, self.kinds.get(kind, self.overall)) for kind, weight in self.weights(kinds or {}).items()]
        scores = [(weight, curve.score(raw), curve.spread) for weight, curve in weighted]
        mean = sum(weight * score for weight, score, _ in scores)
        variance = sum(weight * (spread**2 + (score - mean) ** 2) for weight, score, spread in scores)
        return min(max(mean, LOWEST), HIGHEST), math.sqrt(variance)

    def weights(self, kinds: Mapping[str, float]) -> dict[str, float]:
        """Weights that sum to 1; what has no curve of its own counts as "other", which is never below 5 %."""
        if any(not math.isfinite(share) or share < 0 for share in kinds.values()):
            raise CalibrationError(f"probabilities of distortion kinds must be finite and not negative: {dict(kinds)}")
        known = {kind: share for kind, share in kinds.items() if kind in self.kinds and share > 0}
        total = max(1.0, sum(kinds.values()))
        other = max(OTHER_SHARE, 1.0 - sum(known.values()) / total)
        scale = (1.0 - other) / sum(known.values()) if known else 0.0
        return {**{kind: share * scale for kind, share in known.items()}, "other": other}


class EmbeddedScale(Record):
    """The embedded score on a user's own scale: a curve over it, and how far its interval is stretched."""

    curve: Curve
    interval_factor: float = Field(gt=0.0)
    data: str = Field(description="what it was fitted on")

    def apply(self, score: float, interval: tuple[float, float] | None) -> tuple[float, tuple[float, float] | None]:
        """The score and its interval on the user's scale, as far to either side as the user's ratings lie."""
        new = self.curve.score(score)
        if interval is None:
            return new, None
        half = max(LEAST_HALF_WIDTH, self.interval_factor * (interval[1] - interval[0]) / 2)
        return new, (max(LOWEST, new - half), min(HIGHEST, new + half))


def same_scale(data: str, spread: float, srcc: float | None = None) -> Calibration:
    """The calibration of a tool that already speaks on the 1–5 scale."""
    knots = ((LOWEST, LOWEST), (HIGHEST, HIGHEST))
    return Calibration(method="own", data=data, overall=Curve(knots=knots, spread=spread, srcc=srcc))


def packaged_calibrations(terms: Terms = "research") -> dict[str, Calibration]:
    """The curves that ship with the package, by tool; those for commercial terms have seen no research data."""
    name = "calibrations.json" if terms == "research" else "calibrations_open.json"
    text = resources.files("agenticiqa.tools").joinpath(name).read_text(encoding="utf-8")
    return parse_calibrations(json.loads(text), f"the packaged {name}")


def parse_calibrations(content: Any, origin: str) -> dict[str, Calibration]:
    """Validated calibrations, or a CalibrationError that names the culprit."""
    if not isinstance(content, dict):
        raise CalibrationError(f"{origin}: must map tool names to calibrations; correct the file")
    parsed = {}
    for name, entry in content.items():
        try:
            parsed[str(name)] = Calibration.model_validate(entry)
        except ValidationError as error:
            problem = error.errors()[0]
            where = ".".join(str(part) for part in (name, *problem["loc"]))
            raise CalibrationError(f"{origin}: {where}: {problem['msg']}; correct it or fit it again") from error
    return parsed


@lru_cache(maxsize=4096)
def _interpolator(knots: tuple[tuple[float, float], ...]) -> MonotoneCurve:
    x, y = zip(*knots, strict=True)
    return MonotoneCurve(x, y)


def _tail(score: float, slope: float, beyond: Floats) -> Floats:
    """An exponential approach to the end of the scale that leaves a knot with its slope."""
    rise = slope * beyond
    room = np.where(rise > 0, HIGHEST - score, score - LOWEST)
    step = np.divide(np.abs(rise), room, out=np.zeros_like(rise), where=room > 0)
    return score - np.sign(rise) * room * np.expm1(-step)


def _tail_at(score: float, rise: float) -> float:
    """The same at one place, for the rise a straight line would have."""
    room = HIGHEST - score if rise > 0 else score - LOWEST
    return score - math.copysign(room, rise) * math.expm1(-abs(rise) / room) if room > 0 else score
