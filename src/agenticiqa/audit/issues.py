"""The issues an audit finds: for each a score from 0 (worst) to 1, and the threshold under which it is flagged.

Column names are cleanvision's where it has the issue: `is_blurry_issue`, `blurry_score` and so on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from agenticiqa.errors import UsageError

Measured = Mapping[str, Any]
Score = Callable[[Measured], float]


@dataclass(frozen=True)
class Issue:
    """One thing that may be wrong with a picture: how it is scored, from which score on it is flagged, in words."""

    name: str
    threshold: float
    meaning: str
    score: Score
    quick: bool = True


def _corrupt(found: Measured) -> float:
    return 0.0 if "corrupt" in found and found["kind"] != "ImageTruncatedError" else 1.0


def _truncated(found: Measured) -> float:
    if found.get("kind") == "ImageTruncatedError":
        return 0.0
    return 1.0 - float(found.get("band") or 0.0)


def _blurry(found: Measured) -> float:
    """1 for crisp edges, .5 where blur begins to be seen; without edges nothing can be blurred."""
    radius = found.get("blur_radius")
    if radius is None or _is_empty(found):
        return 1.0
    measured = float(1 / (1 + (radius / 2.6) ** 2))
    said = (found.get("opinion") or {}).get("Blurs")
    # The model saw the picture: what it does not call blurred is soft by nature, and its certainty counts.
    return measured if said is None else 0.5 * measured + float(0.5 / (1 + (said / 1.6) ** 2))


def _noisy(found: Measured) -> float:
    sigma = found.get("noise") or 0.0
    measured = float(1 / (1 + (sigma / 14) ** 2))
    said = (found.get("opinion") or {}).get("Noise")
    # Grain is measured well, and only fine texture is taken for it; the model knows texture.
    return measured if said is None else 0.75 * measured + float(0.25 / (1 + (said / 1.6) ** 2))


def _light(found: Measured) -> float:
    """How much of the picture still has detail in its light parts."""
    return min(1.0, 1.25 * (1 - float(found["clipped"]))) if found["brightness_p5"] < 0.85 else 0.0


def _low_information(found: Measured) -> float:
    return min(1.0, float(found["entropy"] / 8 + 2 * found["detail"]))


ISSUES: tuple[Issue, ...] = (
    Issue("blurry", 0.38, "out of focus or smeared at the size people look at", _blurry),
    Issue("dark", 0.34, "even the brightest parts are dark", lambda found: float(found["brightness_p99"])),
    Issue("light", 0.70, "over-exposed: light parts without detail", _light),
    Issue("noisy", 0.48, "grain that hides detail", _noisy, quick=False),
    Issue("low_contrast", 0.50, "one tone all over", lambda found: _contrast(found)),
    Issue("colour_cast", 0.36, "even what should be neutral is tinted", lambda found: _untinted(found)),
    Issue("low_information", 0.30, "hardly anything is in it", _low_information),
    Issue("odd_aspect_ratio", 0.35, "far from square", lambda found: _shape(found)),
    Issue("odd_size", 0.10, "much larger or smaller than the others", lambda found: 1.0),
    Issue("grayscale", 0.50, "no colour", lambda found: 0.0 if found["grey"] else 1.0),
    Issue("corrupt", 0.50, "cannot be opened", _corrupt),
    Issue("truncated", 0.98, "ends early: data is missing, or a grey band stands in for it", _truncated),
    Issue("exact_duplicates", 0.50, "the same pixels as another one", lambda found: 1.0),
    Issue("near_duplicates", 0.50, "nearly the same as another one", lambda found: 1.0),
)  # fmt: skip
NAMES = tuple(issue.name for issue in ISSUES)
# Without a picture there is nothing to say but that it is broken.
_ALWAYS = ("corrupt", "truncated")


def chosen_thresholds(given: Mapping[str, float] | None) -> dict[str, float]:
    """Every issue's threshold, with those given in the place of the defaults; UsageError names an unknown issue."""
    given = given or {}
    for name in given:
        if name not in NAMES:
            raise UsageError(f"no issue named {name!r}; there are {', '.join(NAMES)}")
    return {issue.name: float(given.get(issue.name, issue.threshold)) for issue in ISSUES}


def picture_scores(found: Measured) -> dict[str, float | None]:
    """The score of each issue that one picture alone decides; None where it cannot be known."""
    opened = "corrupt" not in found
    return {
        issue.name: _rounded(issue.score(found)) if opened or issue.name in _ALWAYS else None
        for issue in ISSUES
        if issue.name not in ("odd_size", "exact_duplicates", "near_duplicates")
    }


def size_scores(sizes: Sequence[tuple[int, int] | None]) -> list[float | None]:
    """How ordinary each size is among all: 1 in the middle, .5 at the ends of what is usual, towards 0 beyond.

    Usual is what lies within three interquartile ranges of the quartiles of the side's logarithm.
    """
    sides = np.array([math.log2(math.sqrt(size[0] * size[1])) for size in sizes if size is not None])
    if not len(sides):
        return [None for _ in sizes]
    low, high = np.percentile(sides, (25, 75))
    # Pictures of a set usually differ by a half or a double even where most are of one size.
    reach = 3 * max(float(high - low), 0.5)
    middle = float(low + high) / 2
    half = float(high - low) / 2 + reach
    return [None if size is None else _rounded(_ordinary(size, middle, half)) for size in sizes]


def _ordinary(size: tuple[int, int], middle: float, half: float) -> float:
    distance = abs(math.log2(math.sqrt(size[0] * size[1])) - middle) / half
    return max(0.0, 1 - 0.9 * distance) if distance <= 1 else 0.1 / (1 + 10 * (distance - 1))


def _is_empty(found: Measured) -> bool:
    """Whether nothing is in the picture that could be sharp, tinted or rich in contrast."""
    return bool(found["detail"] < 0.0005 and found["entropy"] < 2.6)


def _contrast(found: Measured) -> float:
    """Contrast beside the brightest parts: a dark picture may still have it."""
    if _is_empty(found):
        return 1.0
    return min(1.0, float(found["contrast"] / max(found["brightness_p99"], 0.05) / 0.2))


def _untinted(found: Measured) -> float:
    if _is_empty(found):
        return 1.0
    return float(1 / (1 + (found["cast"] / 16) ** 2))


def _shape(found: Measured) -> float:
    return float(min(found["width"], found["height"]) / max(found["width"], found["height"]))


def _rounded(value: float) -> float:
    return round(float(value), 4)
