"""The values that stand for what is known of a picture: one class per idea, used from the detector to the record.

Whoever finds, reads or reports something builds one of these; sentences are made of them in `wording` and nowhere
read back.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, Self

from agenticiqa.limits import BELOW_SLIGHT, MOST_WHILE_ABSENT, PRESENT, SLIGHT, STRONGEST
from agenticiqa.state import (
    GLOBAL,
    LEVEL_LETTERS,
    LEVEL_SCORES,
    SEVERITIES,
    DistortionCategory,
    LevelLetter,
    Region,
    Severity,
)

MIDDLE_GREY = 127.5
# How likely a distortion is whose severity was told in a word, without a probability.
PROBABILITY_OF: dict[Severity, float] = {
    "none": 0.05, "slight": 0.6, "moderate": 0.85, "severe": 0.95, "extreme": 0.98,
}  # fmt: skip
Direction = Literal["dark", "bright", "low", "high"]
_DIRECTIONS: dict[str, Direction] = {
    "darken": "dark", "brighten": "bright", "contrast_down": "low", "contrast_up": "high",
    "saturation_down": "low", "saturation_up": "high",
}  # fmt: skip
Polarity = Literal["flaw", "fine"]
"""What a yes says: that something is wrong, or that nothing is."""
Language = Literal["en", "zh", "de", "es", "fr", "ja", "pt"]
Attribute = Literal[
    "blur", "noise", "compression", "dark", "bright", "exposure", "contrast", "colour", "oversharp", "resolution",
    "overall", "none",
]  # fmt: skip
# The category an attribute is found under, and the kinds that are its direction.
CATEGORY_OF: dict[Attribute, DistortionCategory] = {
    "blur": "Blurs", "noise": "Noise", "compression": "Compression", "dark": "Brightness change",
    "bright": "Brightness change", "exposure": "Brightness change", "contrast": "Contrast",
    "colour": "Color distortions", "oversharp": "Sharpness",
}  # fmt: skip
DIRECTION_OF: dict[Attribute, str] = {"dark": "darken", "bright": "brighten"}


class Kept:
    """Base of the values a state may hold: one that was kept and taken up again has lists where it had tuples."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, list):
                object.__setattr__(self, name, _as_tuple(value))


def _as_tuple(values: list[Any]) -> tuple[Any, ...]:
    return tuple(_as_tuple(value) if isinstance(value, list) else value for value in values)


@dataclass(frozen=True)
class Reading:
    """One measured number in a unit a person knows, for example ("blur radius", 2.4, "px")."""

    name: str
    value: float
    unit: str = ""


@dataclass(frozen=True)
class Distortion(Kept):
    """One category of distortion in one place: how likely it is there, how strong, of which kind, what was measured.

    What is less likely than not is weaker than slight, and what is weaker than slight is less likely than not.

    `strength` lies between 0 (none) and 4 (extreme); severity and presence follow from it and from the probability, so
    that they cannot disagree. `kind` is a name of `tools.synthetic.kinds.KINDS`, or None where it cannot be told;
    `colour` is the colour of a cast, `region` the box where the distortion is worst. Only what is there has a kind, a
    colour and a region. A brightness that may be wrong either way has both under `directions`: too dark, too bright.
    `words` is what a model that writes said of it: it is shown and never read.
    """

    category: DistortionCategory
    probability: float
    strength: float
    kind: str | None = None
    readings: tuple[Reading, ...] = ()
    colour: str | None = None
    region: Region | None = None
    directions: tuple[Distortion, ...] = ()
    place: str = GLOBAL
    words: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.probability <= 1:
            raise ValueError(f"the probability of {self.category} must lie between 0 and 1, not {self.probability}")
        strength = min(STRONGEST, max(0.0, self.strength))
        if self.probability >= PRESENT and strength >= SLIGHT:
            agreed: dict[str, float | None] = {"strength": strength}
        else:
            # Still rising with the strength: of two calm pictures one is nearer to having the distortion.
            below = SLIGHT - BELOW_SLIGHT + BELOW_SLIGHT * strength / len(SEVERITIES)
            agreed = {
                "strength": min(strength, below),
                "probability": self.probability if self.probability < PRESENT else MOST_WHILE_ABSENT,
                **dict.fromkeys(("kind", "colour", "region")),
            }
        for name, value in agreed.items():
            object.__setattr__(self, name, value)

    @classmethod
    def called(
        cls,
        category: DistortionCategory,
        severity: Severity,
        probability: float | None = None,
        kind: str | None = None,
        readings: Iterable[Reading] = (),
        *,
        colour: str | None = None,
        words: str = "",
        place: str = GLOBAL,
    ) -> Self:
        """The distortion that a severity in words stands for."""
        likely = PROBABILITY_OF[severity] if probability is None else probability
        strength = float(SEVERITIES.index(severity))
        return cls(category, likely, strength, kind, tuple(readings), colour, place=place, words=words)

    @property
    def is_present(self) -> bool:
        return self.probability >= PRESENT

    @property
    def severity(self) -> Severity:
        """The word for the strength; "none" for what is not there."""
        return severity_of(self.strength)

    @property
    def disturbs(self) -> bool:
        return SEVERITIES.index(self.severity) >= SEVERITIES.index("moderate")

    @property
    def weight(self) -> float:
        """How much it matters: its strength, discounted by its doubt."""
        return self.probability * self.strength

    @property
    def direction(self) -> Direction | None:
        """Which way it goes, by its kind; a shifted brightness goes to the side its mean lies on."""
        brightness = self.reading("mean brightness")
        if self.kind == "mean_shift" and brightness is not None:
            return "bright" if brightness.value > MIDDLE_GREY else "dark"
        return _DIRECTIONS.get(self.kind or "")

    @property
    def attribute(self) -> Attribute:
        """What a person asks about who means this: too dark or too bright by its direction, else by its category."""
        if self.category == "Brightness change" and self.direction in ("dark", "bright"):
            return "dark" if self.direction == "dark" else "bright"
        return next(name for name, category in reversed(CATEGORY_OF.items()) if category == self.category)

    def reading(self, name: str) -> Reading | None:
        """The measurement of this name, if it was made."""
        return next((reading for reading in self.readings if reading.name == name), None)


@dataclass(frozen=True)
class MetricScore:
    """A metric's raw value on the common scale, with its standard error for this kind of damage."""

    name: str
    raw: float
    score: float
    spread: float


@dataclass(frozen=True)
class Disagreement:
    """The metrics that contradict the trusted one beyond both spreads, and the kind of damage it is trusted for."""

    trusted: MetricScore
    contradicting: tuple[MetricScore, ...]
    kind: str | None


@dataclass(frozen=True)
class Judgement:
    """Overall quality: probabilities of the five levels, the 95 % and 80 % intervals, and what is doubtful."""

    levels: dict[LevelLetter, float]
    interval: tuple[float, float] | None = None
    out_of_domain: str | None = None
    source: str = "AIQA_NR"
    disagreement: Disagreement | None = None
    notes: tuple[str, ...] = ()
    """What was done to the images before they were judged, or what to know of them."""
    likely_interval: tuple[float, float] | None = None

    @property
    def score(self) -> float:
        """The expected level, 1 to 5."""
        return sum(LEVEL_SCORES[letter] * p for letter, p in self.levels.items()) / sum(self.levels.values())

    @property
    def letter(self) -> LevelLetter:
        """The level of the expected score, halves rounded up."""
        return level_of(self.score)


@dataclass(frozen=True)
class Answer(Kept):
    """The answer to a question: as a value and in words, how sure it is, and the distortions it rests on.

    `value` is a yes or no, a number, a label or a word. Without an answer, `why_not` is the name of the reason.
    """

    text: str
    certainty: float | None = None
    why_not: str | None = None
    value: str | float | bool | None = None
    rests_on: tuple[Distortion, ...] = ()


ReasonKind = Literal[
    "finding", "judgement", "tool", "region", "reading", "fact", "comparison", "metrics", "question", "answer", "model"
]


@dataclass(frozen=True)
class Reason(Kept):
    """One sentence of an explanation and the value it was made of.

    `name` is the tool, the reading or the question's part it speaks of, `number` its value; `others` are the further
    numbers the sentence names.
    """

    text: str
    kind: ReasonKind
    place: str = GLOBAL
    distortion: Distortion | None = None
    name: str = ""
    number: float | None = None
    others: tuple[Reading, ...] = ()


def severity_of(strength: float) -> Severity:
    """The word for a loss of quality on the 1–5 scale: none below 0.5, slight below 1.5, up to extreme from 3.5 on."""
    return SEVERITIES[min(4, max(0, math.floor(strength + 0.5)))]


def level_of(score: float) -> LevelLetter:
    """The letter of a score between 1 and 5, halves rounded up."""
    return LEVEL_LETTERS[5 - min(5, max(1, math.floor(score + 0.5)))]


LEVEL_EDGES = (4.5, 3.5, 2.5, 1.5)
NARROWEST_SPREAD = 0.3


def level_probabilities(score: float, error: float) -> dict[LevelLetter, float]:
    """Probabilities of A to E: a normal curve cut at the halves, placed so that its mean is the score."""
    spread, wanted = max(error, NARROWEST_SPREAD), min(max(score, 1.0), 5.0)
    low, high = -40.0, 46.0
    for _ in range(80):
        middle = (low + high) / 2
        # The mean level is 1 and as much as lies above each edge.
        low, high = (middle, high) if 1 + sum(_above(middle, spread)) < wanted else (low, middle)
    above = (0.0, *_above((low + high) / 2, spread), 1.0)
    shares = (upper - lower for lower, upper in pairwise(above))
    return dict(zip(LEVEL_LETTERS, shares, strict=True))


def _above(centre: float, spread: float) -> tuple[float, ...]:
    """The share of the curve above each edge, the highest edge first."""
    return tuple(0.5 * math.erfc((edge - centre) / (spread * math.sqrt(2))) for edge in LEVEL_EDGES)
