"""The judgement of a picture against its reference: score, interval, kind of damage, disagreement of the metrics."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

import cv2

from agenticiqa.embedded.full_reference.changes import category_of, change_name, with_measured_softness
from agenticiqa.embedded.full_reference.disagreement import find_disagreement
from agenticiqa.embedded.full_reference.pair_features import SMALLEST_SIDE, PairFeatures, Pixels, measure_pair
from agenticiqa.embedded.full_reference.pair_model import FullReferenceModel, Prediction, load_model
from agenticiqa.embedded.full_reference.pair_preparation import PARTS, PairView, Viewing, aligned
from agenticiqa.embedded.trunk import Backbone, load_backbone
from agenticiqa.images import LoadedImage
from agenticiqa.state import LEVEL_LETTERS, LEVEL_SCORES, SEVERITIES, DistortionCategory, LevelLetter, Region, Severity
from agenticiqa.tools.calibration import Calibration, Terms, packaged_calibrations
from agenticiqa.tools.metrics.planes import require_pair
from agenticiqa.tools.running import same_pixels
from agenticiqa.values import Disagreement, Judgement
from agenticiqa.weights import WeightSet

NAME = "AIQA_FR"
# A kind less probable than this is not worth a mention.
MENTIONED = 0.02


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


class FullReferenceJudge:
    """Judges pairs of one size, seen natively or on a screen; loads once and may be shared between threads."""

    def __init__(
        self,
        model: FullReferenceModel,
        backbone: Backbone,
        calibrations: Mapping[str, Calibration],
        viewing: Viewing = "native",
    ) -> None:
        self._model = model
        self._backbone = backbone
        self._calibrations = dict(calibrations)
        self._viewing: Viewing = viewing

    @classmethod
    def shipped(cls, weights: WeightSet = "research", viewing: Viewing = "native") -> FullReferenceJudge:
        """The judge with these shipped weights and this way of viewing."""
        terms: Terms = "research" if weights == "research" else "commercial"
        return cls(load_model(weights), load_backbone(), packaged_calibrations(terms), viewing)

    def judge(self, test: LoadedImage, reference: LoadedImage) -> FullReferenceJudgement:
        """The judgement of the test image against its reference."""
        return self.judge_pixels(test.pixels, reference.pixels)

    def judge_pixels(self, test: Pixels, reference: Pixels) -> FullReferenceJudgement:
        """The same for sRGB pixels; pairs of different size raise ImageSizeMismatchError."""
        require_pair(test, reference, SMALLEST_SIDE)
        test, reference, notes = aligned(test, reference)
        if same_pixels(test, reference):
            return _identical(notes, self._viewing)
        features = measure_pair(test, reference, self._backbone, self._viewing)
        prediction = self._model.predict(features.values)
        remarks = _remarks(test, reference, features.view)
        return self._judgement(prediction, features, (*notes, *remarks), shifted=bool(notes))

    def _judgement(
        self, prediction: Prediction, features: PairFeatures, notes: tuple[str, ...], shifted: bool
    ) -> FullReferenceJudgement:
        every = with_measured_softness(prediction.kinds, features.values)
        kinds = {name: share for name, share in every.items() if share >= MENTIONED}
        change = change_name(every, features.values)
        if prediction.detail_intact:
            notes = (*notes, "brightness, contrast or saturation was changed; detail is intact")
        return FullReferenceJudgement(
            score=prediction.score,
            interval=self._interval(prediction),
            level_probabilities=level_probabilities(prediction.score, prediction.spread),
            kinds=kinds,
            categories=categories_of(every),
            severity=severity_of(prediction.score),
            metrics=features.metrics,
            change=f"cropped or shifted, {change}" if shifted else change,
            viewing=self._viewing,
            worst=features.view.worst,
            detail_intact=prediction.detail_intact,
            disagreement=find_disagreement(features.metrics, every, self._calibrations),
            out_of_domain=self._doubt(prediction),
            notes=notes,
            features=features.values,
        )

    def _interval(self, prediction: Prediction) -> tuple[float, float]:
        rated = self._model.rated
        half = (rated.factor if rated else 1.96) * prediction.spread
        return max(1.0, prediction.score - half), min(5.0, prediction.score + half)

    def _doubt(self, prediction: Prediction) -> str | None:
        if self._model.rated is None or prediction.learned > 0.5:
            return None
        return "no pair like this one was rated by people; the score is the consensus of metrics"


def _identical(notes: tuple[str, ...], viewing: Viewing) -> FullReferenceJudgement:
    what = "the common part of the test image" if notes else "the test image"
    return FullReferenceJudgement(
        score=5.0,
        interval=(5.0, 5.0),
        level_probabilities=level_probabilities(5.0, 1.0),
        kinds={},
        categories={},
        severity="none",
        metrics={},
        change="cropped or shifted" if notes else "identical",
        viewing=viewing,
        detail_intact=True,
        notes=(*notes, f"{what} equals its reference, pixel by pixel"),
    )


def _remarks(test: Pixels, reference: Pixels, view: PairView) -> tuple[str, ...]:
    notes = []
    if view.scale != 1.0:
        notes.append(f"both pictures were resized by {view.scale:.3g} before they were compared")
    if view.share < 1:
        notes.append(f"compared pixel by pixel; {PARTS} parts at native resolution stand for the whole picture")
    if _is_grey(reference) and not _is_grey(test):
        notes.append("the reference has no colour: colours of the test image count as damage")
    if math.isclose(float(cv2.meanStdDev(reference)[1].max()), 0.0):
        notes.append("the reference is one flat colour: there is no detail to compare")
    return tuple(notes)


def _is_grey(image: Pixels) -> bool:
    return same_pixels(image[:, :, 0], image[:, :, 1]) and same_pixels(image[:, :, 1], image[:, :, 2])


@lru_cache(maxsize=4)
def shipped_judge(weights: WeightSet = "research", viewing: Viewing = "native") -> FullReferenceJudge:
    """The shipped judge, built once per process."""
    return FullReferenceJudge.shipped(weights, viewing)
