"""All that an answer may rest on: findings, judgement, tool scores and places, gathered once."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from agenticiqa.embedded.answers.file_facts import FileFacts
from agenticiqa.embedded.findings import Look
from agenticiqa.embedded.regions.sharpness import FocusParts
from agenticiqa.state import DISTORTION_CATEGORIES, GLOBAL, DistortionAnalysis, DistortionCategory
from agenticiqa.values import Distortion, Judgement

# A finding of the right category but another kind, or of a kind that could not be told.
OTHER_KIND, UNKNOWN_KIND = 0.2, 0.6
# From this weight on an exposure error explains the contrast it changed.
CLEARLY_EXPOSED = 1.5


@dataclass(frozen=True)
class ToolScore:
    """A calibrated score of a tool for a place and a distortion."""

    tool: str
    score: float
    place: str
    distortion: str


@dataclass(frozen=True)
class Meant:
    """The things a name may mean, from the left: a look at each, and how many are too small beside the largest."""

    name: str
    looks: tuple[Look, ...]
    smaller: int = 0

    @property
    def count(self) -> int:
        """How many things of that name there are."""
        return len(self.looks) + self.smaller


@dataclass(frozen=True)
class Evidence:
    """What is known about one image, strongest finding first."""

    findings: tuple[Distortion, ...] = ()
    judgement: Judgement | None = None
    judged_place: str = GLOBAL
    """What the judgement is about: the whole image, or the first place asked about."""
    tools: tuple[ToolScore, ...] = ()
    has_reference: bool = False
    advantage: float | None = None
    """How much better than the reference image the no-reference model finds the test image, where that was asked."""
    leads: Mapping[str, float] = field(default_factory=dict)
    """By category, how much more of it the test image shows than the reference, each looked at by itself."""
    unlocated: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    """Things the question names that could not be found: nothing is said of them."""
    seen_instead: str = ""
    """What is clearly there where something named was not found or is doubtful, as a list for a person."""
    doubtful: Mapping[str, float] = field(default_factory=dict)
    """Names whose likeliest place was judged although it may be something else, with the confidence."""
    values: Mapping[str, float] = field(default_factory=dict)
    """What the tools measured on their own scales, by tool, where the question asks for a tool's value."""
    size: tuple[int, int] | None = None
    file: FileFacts | None = None
    """What the file of the picture says of it, where that was asked."""
    is_grey: bool | None = None
    """Whether the picture has no colour; None where that was not asked."""
    places: Mapping[str, Look] = field(default_factory=dict)
    asked_place: str | None = None
    """Of the places compared, the one a "where" question asks for."""
    parts: FocusParts | None = None
    """The softest and the sharpest part of the picture, where every part or any was asked about."""
    meant: tuple[Meant, ...] = ()
    """The names that may mean one of several things, with a look at each."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """How many were found of what was asked for in the plural."""

    def strongest(self, categories: Sequence[str] = ()) -> Distortion | None:
        """The finding that matters most among these categories, or among all."""
        return next((item for item in self.findings if not categories or item.category in categories), None)


def gather(
    looks: Mapping[str, Look],
    analysis: Mapping[str, Sequence[DistortionAnalysis]] | None = None,
    scores: Mapping[str, Mapping[str, tuple[str, float]]] | None = None,
    *,
    has_reference: bool = False,
) -> Evidence:
    """The evidence of the analysis, completed by what the looks at the same places show."""
    placed = [item for place, look in looks.items() for item in _findings(place, look, (analysis or {}).get(place, ()))]
    judged_place = GLOBAL if GLOBAL in looks else next(iter(looks), GLOBAL)
    return Evidence(
        findings=_by_weight(placed),
        judgement=looks[judged_place].quality if looks else None,
        judged_place=judged_place,
        tools=tuple(
            ToolScore(tool, score, place, distortion)
            for place, by_distortion in (scores or {}).items()
            for distortion, (tool, score) in by_distortion.items()
        ),
        has_reference=has_reference,
    )


def with_look(evidence: Evidence, name: str, look: Look) -> Evidence:
    """The evidence with another thing in the place of the one that was looked at."""
    others = [item for item in evidence.findings if item.place != name]
    return replace(evidence, findings=_by_weight([*others, *_findings(name, look, ())]), meant=())


def without(evidence: Evidence, excepted: Sequence[DistortionCategory]) -> Evidence:
    """The evidence without these categories; the score goes too, for it knows of all flaws."""
    if not excepted:
        return evidence
    kept = tuple(item for item in evidence.findings if item.category not in excepted)
    return replace(evidence, findings=kept, judgement=None)


# Kinds that pictures of them hardly tell apart: a soft edge is the same whoever made it soft.
_ALIKE = (
    frozenset({"gaussian_blur", "defocus_blur"}),
    frozenset({"jpeg", "noisy_jpeg"}),
    frozenset({"white_noise", "high_frequency_noise", "comfort_noise", "masked_noise"}),
)


def kind_factor(asked: str | None, found: str | None) -> float:
    """How well the kind found fits the kind asked for: 1 when none was asked for or both agree."""
    if asked is None or asked == found:
        return 1.0
    looks_the_same = any(asked in kinds and found in kinds for kinds in _ALIKE)
    return UNKNOWN_KIND if found is None or looks_the_same else OTHER_KIND


def _findings(place: str, look: Look, analysis: Sequence[DistortionAnalysis]) -> list[Distortion]:
    """What was found in a place; where a model that writes was asked, its verdicts with the detail that was seen."""
    described = {entry.type: entry for entry in analysis}
    # Of a shifted brightness the side it was shifted to is its kind.
    sides = {"bright": "brighten", "dark": "darken"}
    seen = {
        each.category: replace(each, kind=sides.get(each.direction or "", each.kind), place=place)
        for each in look.findings
    }
    return [
        _agreed(described[category], seen.get(category), place) if category in described else seen[category]
        for category in DISTORTION_CATEGORIES
        if category in described or category in seen
    ]


def _agreed(entry: DistortionAnalysis, seen: Distortion | None, place: str) -> Distortion:
    """The analysis wins; what was seen only adds detail to the same verdict."""
    if seen is not None and seen.severity == entry.severity:
        return replace(seen, words=entry.explanation)
    kind = seen.kind if seen is not None else None
    return Distortion.called(entry.type, entry.severity, kind=kind, words=entry.explanation, place=place)


def _by_weight(items: Sequence[Distortion]) -> tuple[Distortion, ...]:
    """The findings, the strongest first; contrast behind a clear exposure error that took it away or added it."""
    exposure = max((item.weight for item in items if item.category == "Brightness change"), default=0.0)
    most = exposure if exposure >= CLEARLY_EXPOSED else math.inf

    def rank(item: Distortion) -> tuple[float, float, int]:
        is_effect = item.category == "Contrast" and item.weight >= most
        weight = math.nextafter(most, 0.0) if is_effect else item.weight
        return -weight, -item.probability, DISTORTION_CATEGORIES.index(item.category)

    return tuple(sorted(items, key=rank))
