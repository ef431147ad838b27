"""From a tool's raw value to the common scale from 1 to 5: monotone curves, and which set of them holds.

The interpolation is Fritsch and Carlson's (1980) with the slopes of Fritsch and Butland (1984). SciPy has it too, and
the tests compare; loading it takes a third of a second at every start.
"""

from __future__ import annotations

import json
import math
from bisect import bisect_right
from collections.abc import Mapping
from functools import lru_cache
from importlib import resources
from itertools import pairwise
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, field_validator

from agenticiqa.errors import AgenticIQAError, CalibrationError
from agenticiqa.state import Record

Entry = TypeVar("Entry", bound=BaseModel)
Knots = tuple[tuple[float, float], ...]
LOWEST, HIGHEST = 1.0, 5.0
# Whatever the detector says, the distortion may be of a kind nobody fitted a curve for.
OTHER_SHARE = 0.05
# An interval has some width even where the curve is flat.
LEAST_HALF_WIDTH = 0.05
Terms = Literal["research", "commercial"]


class Curve(Record):
    """A strictly monotone function from raw values to 1–5: PCHIP through knots, exponential tails beyond them."""

    knots: Knots = Field(min_length=2, description="raw value, score; raw ascending")
    spread: float = Field(ge=0.0, description="standard deviation of the residuals, in points of the 1–5 scale")
    points: int = Field(default=0, ge=0)
    references: int = Field(default=0, ge=0)
    srcc: float | None = Field(default=None, ge=-1.0, le=1.0, description="of the fitted scores on their data")

    @field_validator("knots")
    @classmethod
    def _strictly_monotone(cls, knots: Knots) -> Knots:
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
            return _tail(at_first, _slope(*self.knots[:2]) * (raw - first))
        if raw > last:
            return _tail(at_last, _slope(*self.knots[-2:]) * (raw - last))
        return min(max(_between(self.knots, raw), LOWEST), HIGHEST)


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
    return parse_entries(content, Calibration, origin, CalibrationError)


def parse_entries(content: Any, kind: type[Entry], origin: str, failure: type[AgenticIQAError]) -> dict[str, Entry]:
    """Validated entries by name; the failure names the file and the field."""
    try:
        return TypeAdapter(dict[str, kind]).validate_python(content)  # type: ignore[valid-type]
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(map(str, problem["loc"])) or "entries by name"
        raise failure(f"{origin}: {where}: {problem['msg']}; correct it") from error


def _between(knots: Knots, raw: float) -> float:
    """The height of the curve between the first and the last knot."""
    places, slopes = _shape(knots)
    left = min(max(bisect_right(places, raw) - 1, 0), len(knots) - 2)
    (x0, y0), (x1, y1) = knots[left : left + 2]
    width, rise = x1 - x0, y1 - y0
    t, start, end = (raw - x0) / width, slopes[left] * width, slopes[left + 1] * width
    square, cube = 3 * rise - 2 * start - end, start + end - 2 * rise
    return y0 + t * (start + t * (square + t * cube))


@lru_cache(maxsize=4096)
def _shape(knots: Knots) -> tuple[list[float], list[float]]:
    """The place of each knot and the curve's slope there: between the ends a harmonic mean of the steps beside it."""
    widths = [after[0] - before[0] for before, after in pairwise(knots)]
    steps = [_slope(before, after) for before, after in pairwise(knots)]
    inner = [
        3 * (h0 + h1) / ((h0 + 2 * h1) / d0 + (2 * h0 + h1) / d1)
        for (h0, h1), (d0, d1) in zip(pairwise(widths), pairwise(steps), strict=True)
    ]
    ends = [_end_slope(*widths[:2], *steps[:2]), _end_slope(*widths[:-3:-1], *steps[:-3:-1])] if inner else steps * 2
    return [x for x, _ in knots], [ends[0], *inner, ends[1]]


def _end_slope(width: float, next_width: float, step: float, next_step: float) -> float:
    """A three-point estimate, kept from turning the curve round."""
    slope = ((2 * width + next_width) * step - width * next_step) / (width + next_width)
    return slope if slope * step > 0 else 0.0


def _slope(start: tuple[float, float], end: tuple[float, float]) -> float:
    return (end[1] - start[1]) / (end[0] - start[0])


def _tail(score: float, rise: float) -> float:
    """An exponential approach to the end of the scale; `rise` is that of a straight line with the knot's slope."""
    room = HIGHEST - score if rise > 0 else score - LOWEST
    return score - math.copysign(room, rise) * math.expm1(-abs(rise) / room) if room > 0 else score
