"""The judgement of a picture against its reference: score, interval, kind of damage, disagreement of the metrics."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

import cv2

from agenticiqa.embedded.full_reference.changes import category_of, with_measured_softness
from agenticiqa.embedded.full_reference.disagreement import find_disagreement
from agenticiqa.embedded.full_reference.pair_features import SMALLEST_SIDE, PairFeatures, Pixels, measure_pair
from agenticiqa.embedded.full_reference.pair_model import FullReferenceModel, Prediction, load_model
from agenticiqa.embedded.full_reference.pair_preparation import PARTS, PairView, Viewing, aligned
from agenticiqa.embedded.trunk import Backbone, load_backbone
from agenticiqa.state import LEVEL_LETTERS, DistortionCategory, LevelLetter, Severity
from agenticiqa.tools.calibration import Calibration, Terms, packaged_calibrations
from agenticiqa.tools.metrics.planes import require_pair
from agenticiqa.tools.running import same_pixels
from agenticiqa.values import Disagreement, Judgement, level_probabilities, severity_of
from agenticiqa.weights import WeightSet

NAME = "AIQA_FR"
# A kind less probable than this is not worth a mention.
MENTIONED = 0.02


@dataclass(frozen=True)
class FullReferenceJudgement:
    """A pair judged: score with 95 % interval, level and kind probabilities, disagreement of the metrics, notes.

    `features` is everything measured on the pair, for whoever needs it again; empty for an identical pair.
    """

    score: float
    interval: tuple[float, float]
    level_probabilities: dict[LevelLetter, float]
    kinds: dict[str, float]
    categories: dict[DistortionCategory, float]
    severity: Severity
    disagreement: Disagreement | None = None
    out_of_domain: str | None = None
    notes: tuple[str, ...] = ()
    features: dict[str, float] = field(default_factory=dict, repr=False)

    @property
    def kind(self) -> str | None:
        """The most probable kind of damage; None for an identical pair."""
        return next(iter(self.kinds), None)

    def as_judgement(self) -> Judgement:
        """The judgement as the embedded backend holds it."""
        return Judgement(
            self.level_probabilities, self.interval, self.out_of_domain, NAME, self.disagreement, self.notes
        )


def categories_of(kinds: dict[str, float]) -> dict[DistortionCategory, float]:
    """Probabilities of the distortion categories the kinds belong to."""
    found: dict[DistortionCategory, float] = {}
    for kind, share in kinds.items():
        category = category_of(kind)
        if category is not None:
            found[category] = found.get(category, 0.0) + share
    return found


@dataclass(frozen=True)
class FullReferenceJudge:
    """Judges pairs of one size, seen natively or on a screen; may be shared between threads."""

    model: FullReferenceModel
    backbone: Backbone
    calibrations: Mapping[str, Calibration]
    viewing: Viewing = "native"

    def judge_pixels(self, test: Pixels, reference: Pixels) -> FullReferenceJudgement:
        """The judgement of sRGB pixels against their reference; another size raises ImageSizeMismatchError."""
        require_pair(test, reference, SMALLEST_SIDE)
        test, reference, notes = aligned(test, reference)
        if same_pixels(test, reference):
            return _identical(notes)
        features = measure_pair(test, reference, self.backbone, self.viewing)
        prediction = self.model.predict(features.values)
        return self._judgement(prediction, features, (*notes, *_remarks(test, reference, features.view)))

    def _judgement(
        self, prediction: Prediction, features: PairFeatures, notes: tuple[str, ...]
    ) -> FullReferenceJudgement:
        every = with_measured_softness(prediction.kinds, features.values)
        kinds = {name: share for name, share in every.items() if share >= MENTIONED}
        if prediction.detail_intact:
            notes = (*notes, "brightness, contrast or saturation was changed; detail is intact")
        return FullReferenceJudgement(
            score=prediction.score,
            interval=self._interval(prediction),
            level_probabilities=level_probabilities(prediction.score, prediction.spread),
            kinds=kinds,
            categories=categories_of(every),
            severity=severity_of(5 - prediction.score),
            disagreement=find_disagreement(features.metrics, every, self.calibrations),
            out_of_domain=self._doubt(prediction),
            notes=notes,
            features=features.values,
        )

    def _interval(self, prediction: Prediction) -> tuple[float, float]:
        rated = self.model.rated
        half = (rated.factor if rated else 1.96) * prediction.spread
        return max(1.0, prediction.score - half), min(5.0, prediction.score + half)

    def _doubt(self, prediction: Prediction) -> str | None:
        if self.model.rated is None or prediction.learned > 0.5:
            return None
        return "no pair like this one was rated by people; the score is the consensus of metrics"


def _identical(notes: tuple[str, ...]) -> FullReferenceJudgement:
    what = "the common part of the test image" if notes else "the test image"
    return FullReferenceJudgement(
        score=5.0,
        interval=(5.0, 5.0),
        level_probabilities=dict.fromkeys(LEVEL_LETTERS, 0.0) | {"A": 1.0},
        kinds={},
        categories={},
        severity="none",
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
    """The judge with these shipped weights and this way of viewing, built once per process."""
    terms: Terms = "research" if weights == "research" else "commercial"
    return FullReferenceJudge(load_model(weights), load_backbone(), packaged_calibrations(terms), viewing)
