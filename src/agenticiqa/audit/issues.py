"""The issues an audit finds, each with a score from 0 (worst) to 1 and a threshold, and what to do with a picture.

Column names are cleanvision's where it has the issue: `is_blurry_issue`, `blurry_score` and so on.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from agenticiqa.errors import UsageError
from agenticiqa.limits import MODERATE

Measurements = Mapping[str, Any]
IssueScore = Callable[[Measurements], float]


@dataclass(frozen=True)
class Issue:
    """One thing that may be wrong with a picture: how it is scored, from which score on it is flagged, in words."""

    name: str
    threshold: float
    meaning: str
    score: IssueScore
    quick: bool = True


def _corrupt(found: Measurements) -> float:
    return 0.0 if "corrupt" in found and found["kind"] != "ImageTruncatedError" else 1.0


def _truncated(found: Measurements) -> float:
    if found.get("kind") == "ImageTruncatedError":
        return 0.0
    return 1.0 - float(found.get("band") or 0.0)


class MeasurementLimits(NamedTuple):
    """From which value on a measurement counts: alone, with `--quick`, and whatever the model sees, in the full audit.

    Chosen on 400 of the labelled training photographs (`training/looks.csv`): alone where precision and recall balance,
    beyond doubt where about nine of ten photographs that reach it have the flaw (cast, contrast and noise: nearly none
    without it reaches it).
    """

    alone: float
    beyond_doubt: float


LIMITS = {
    "blurry": MeasurementLimits(1.18, 1.9),
    "dark": MeasurementLimits(1 / 66, 1 / 50),
    "light": MeasurementLimits(0.14, 0.3),
    "noisy": MeasurementLimits(10.0, 10.0),
    "low_contrast": MeasurementLimits(1.0, 4.0),
    "colour_cast": MeasurementLimits(18.0, 38.0),
    "compressed": MeasurementLimits(50 / 20, 50 / 12),
}


def _blurry(found: Measurements) -> float:
    """The radius of blur at the size people look at; without edges nothing can be blurred."""
    return 1.0 if _is_empty(found) else _joined(found, "blurry", float(found["blur_radius"] or 0.0))


def _dark(found: Measurements) -> float:
    """One over the brightness of the whole, in which the lightest parts count a little more."""
    brightness = 255 * (found["mean"] + 0.3 * found["brightness_p95"]) / 1.3
    return _joined(found, "dark", 1 / max(0.5, brightness))


def _light(found: Measurements) -> float:
    """The share of the picture that is white without detail; all of it where even the dark parts are light."""
    return _joined(found, "light", float(found["clipped"]) if found["brightness_p5"] < 0.85 else 1.0)


def _noisy(found: Measurements) -> float:
    return _joined(found, "noisy", float(found.get("noise") or 0.0))


def _low_contrast(found: Measurements) -> float:
    """How high the black point lies beside the range of tones."""
    if _is_empty(found):
        return 1.0
    black, white = 255 * found["brightness_p2"], 255 * found["brightness_p98"]
    return _joined(found, "low_contrast", (black + 29) / (0.7 * (white - black) + 1))


def _colour_cast(found: Measurements) -> float:
    return 1.0 if _is_empty(found) else _joined(found, "colour_cast", float(found["cast"]))


def _compressed(found: Measurements) -> float:
    """How coarse the steps of a JPEG file are: the quality it was written with."""
    return _joined(found, "compressed", float(found["coarseness"]))


def _joined(found: Measurements, issue: str, value: float) -> float:
    """The score of a measurement alone; where the model looked, of what it saw or of a measurement beyond doubt."""
    if "seen" not in found:
        return _falling(value, LIMITS[issue].alone)
    return min(_falling(found["seen"][issue], MODERATE), _falling(value, LIMITS[issue].beyond_doubt))


def _falling(value: float, limit: float) -> float:
    """1 at nothing, .5 at the limit, towards 0 beyond."""
    return float(1 / (1 + (value / limit) ** 2))


def _shape(found: Measurements) -> float:
    return float(min(found["width"], found["height"]) / max(found["width"], found["height"]))


def _low_information(found: Measurements) -> float:
    return min(1.0, float(found["entropy"] / 8 + 2 * found["detail"]))


ISSUES: tuple[Issue, ...] = (
    Issue("blurry", 0.5, "out of focus, moved or soft at the size people look at", _blurry),
    Issue("dark", 0.5, "under-exposed", _dark),
    Issue("light", 0.5, "over-exposed: light parts without detail", _light),
    Issue("noisy", 0.5, "grain or blotches that hide detail", _noisy, quick=False),
    Issue("low_contrast", 0.5, "flat: no blacks, no whites", _low_contrast),
    Issue("colour_cast", 0.5, "one tint over everything", _colour_cast),
    Issue("compressed", 0.5, "blocks, rings or smears left by compression", _compressed),
    Issue("low_information", 0.30, "hardly anything is in it", _low_information),
    Issue("odd_aspect_ratio", 0.35, "far from square", _shape),
    Issue("odd_size", 0.10, "much larger or smaller than the others", lambda found: 1.0),
    Issue("grayscale", 0.50, "no colour", lambda found: 0.0 if found["grey"] else 1.0),
    Issue("corrupt", 0.50, "cannot be opened: empty, damaged or no picture", _corrupt),
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
    _require_known(given)
    for name, threshold in given.items():
        if not 0 <= threshold <= 1:
            raise UsageError(f"the threshold of {name} is {threshold:g}; scores run from 0 (worst) to 1")
    return {issue.name: float(given.get(issue.name, issue.threshold)) for issue in ISSUES}


def chosen_issues(given: Sequence[str] | None, quick: bool) -> tuple[str, ...]:
    """The issues to look for, all of them if none are named; UsageError names an unknown one."""
    _require_known(given or ())
    return tuple(issue.name for issue in ISSUES if (issue.quick or not quick) and (not given or issue.name in given))


def _require_known(names: Iterable[str]) -> None:
    for name in names:
        if name not in NAMES:
            raise UsageError(f"no issue named {name!r}; there are {', '.join(NAMES)}")


def picture_scores(found: Measurements) -> dict[str, float | None]:
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


def _is_empty(found: Measurements) -> bool:
    """Whether nothing is in the picture that could be sharp, tinted or rich in contrast."""
    return bool(found["detail"] < 0.0005 and found["entropy"] < 2.6)


def _rounded(value: float) -> float:
    return round(float(value), 4)


PictureDecision = Literal["keep", "maybe", "reject"]
DECISIONS: tuple[PictureDecision, ...] = get_args(PictureDecision)
# Nothing can be seen in these, whatever the score.
_USELESS = ("corrupt", "truncated", "low_information")
# A picture may be so on purpose.
_PROPERTIES = ("odd_aspect_ratio", "odd_size", "grayscale")
# A flaw scored below this share of its threshold is so strong that nobody has to look again.
_STRONG = 0.5


def decide(rows: Iterable[dict[str, Any]], thresholds: Mapping[str, float]) -> None:
    """Gives each row of an audit a `decision` and its `reasons`; of pictures in one group one is left.

    Rejected are pictures that cannot be used, strong flaws and spare copies; to be looked at again are weaker flaws
    and unusual shapes.
    """
    groups: defaultdict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        row["decision"], row["reasons"] = _alone(row, thresholds)
        if row["group"] is not None:
            groups[row["group"]].append(row)
    for members in groups.values():
        first, *copies = sorted(members, key=_order)
        for row in copies:
            row["decision"], row["reasons"] = "reject", [*row["reasons"], f"a copy of {first['name']}"]


def _alone(row: Mapping[str, Any], thresholds: Mapping[str, float]) -> tuple[PictureDecision, list[str]]:
    flagged = [name for name in thresholds if row[f"is_{name}_issue"] and not name.endswith("_duplicates")]
    reasons = [name.replace("_", " ") for name in flagged]
    flaws = [name for name in flagged if name not in _PROPERTIES]
    if any(name in _USELESS or row[f"{name}_score"] < _STRONG * thresholds[name] for name in flaws):
        return "reject", reasons
    return ("maybe" if flagged else "keep"), reasons


def _order(row: Mapping[str, Any]) -> tuple[int, bool, int, str]:
    """The least flawed first, then the one the group suggests, then the largest."""
    return DECISIONS.index(row["decision"]), not row["keep"], -(row["width"] * row["height"]), row["name"]


def decided(rows: Sequence[Mapping[str, Any]]) -> dict[PictureDecision, list[str]]:
    """The paths of the pictures under each decision."""
    return {each: [row["path"] for row in rows if row["decision"] == each] for each in DECISIONS}
