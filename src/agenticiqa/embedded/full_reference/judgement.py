"""What a judgement against a reference says, and how a score with its error becomes probabilities of the levels."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from agenticiqa.embedded.findings import Judgement
from agenticiqa.embedded.full_reference.changes import category_of
from agenticiqa.embedded.full_reference.disagreement import Disagreement
from agenticiqa.embedded.full_reference.pair_preparation import Viewing
from agenticiqa.state import LEVEL_LETTERS, LEVEL_SCORES, SEVERITIES, DistortionCategory, LevelLetter, Region, Severity

NAME = "AIQA_FR"


@dataclass(frozen=True)
class FullReferenceJudgement:
    """A pair judged: score with 95 % interval, level and kind probabilities, disagreement of the metrics, notes.

    `change` names what was done to the picture, `viewing` how the pair was compared, `worst` the box that differs most
    of a pair too large to be compared whole.
    """

    score: float
    interval: tuple[float, float]
    level_probabilities: dict[LevelLetter, float]
    kinds: dict[str, float]
    categories: dict[DistortionCategory, float]
    severity: Severity
    metrics: dict[str, float]
    change: str
    viewing: Viewing = "native"
    worst: Region | None = None
    detail_intact: bool = False
    disagreement: Disagreement | None = None
    out_of_domain: str | None = None
    notes: tuple[str, ...] = ()
    features: dict[str, float] = field(default_factory=dict, repr=False)
    """Everything measured on the pair, for whoever needs it again; empty for an identical pair."""

    @property
    def kind(self) -> str | None:
        """The most probable kind of damage; None for an identical pair."""
        return next(iter(self.kinds), None)

    def for_eyes(self) -> Judgement:
        """The judgement as the embedded backend holds it."""
        return Judgement(
            self.level_probabilities, self.interval, self.out_of_domain, NAME, self.disagreement, self.notes
        )


def level_probabilities(score: float, spread: float) -> dict[LevelLetter, float]:
    """Probabilities of A to E whose mean is the score, as wide as the spread allows at the ends of the scale."""
    if score in (1.0, 5.0):
        return {letter: float(LEVEL_SCORES[letter] == score) for letter in LEVEL_LETTERS}
    low, high = -60.0, 66.0
    for _ in range(60):
        centre = (low + high) / 2
        low, high = (centre, high) if _mean(_normal_over_levels(centre, spread)) < score else (low, centre)
    return _normal_over_levels((low + high) / 2, spread)


def _normal_over_levels(centre: float, spread: float) -> dict[LevelLetter, float]:
    exponents = {letter: -0.5 * ((LEVEL_SCORES[letter] - centre) / spread) ** 2 for letter in LEVEL_LETTERS}
    top = max(exponents.values())
    weights = {letter: math.exp(exponent - top) for letter, exponent in exponents.items()}
    total = sum(weights.values())
    return {letter: weight / total for letter, weight in weights.items()}


def _mean(levels: dict[LevelLetter, float]) -> float:
    return sum(LEVEL_SCORES[letter] * share for letter, share in levels.items())


def severity_of(score: float) -> Severity:
    """The severity of the damage that leaves this score: none at level A to extreme at level E."""
    return SEVERITIES[min(4, max(0, 5 - math.floor(score + 0.5)))]


def categories_of(kinds: dict[str, float]) -> dict[DistortionCategory, float]:
    """Probabilities of the distortion categories the kinds belong to."""
    found: dict[DistortionCategory, float] = {}
    for kind, share in kinds.items():
        category = category_of(kind)
        if category is not None:
            found[category] = found.get(category, 0.0) + share
    return found
