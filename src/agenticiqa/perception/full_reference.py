"""The judgement of a picture against its reference: score, interval, kind of damage, disagreement of the metrics."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import cast

import cv2
import numpy as np

from agenticiqa.backbone.features import Backbone, load_backbone
from agenticiqa.images import LoadedImage
from agenticiqa.perception.full_reference_alignment import aligned
from agenticiqa.perception.full_reference_disagreement import find_disagreement
from agenticiqa.perception.full_reference_features import SMALLEST_SIDE, PairFeatures, Pixels, measure_pair
from agenticiqa.perception.full_reference_judgement import (
    FullReferenceJudgement,
    categories_of,
    level_probabilities,
    severity_of,
)
from agenticiqa.perception.full_reference_weights import FullReferenceModel, Prediction, Weights, load_model
from agenticiqa.tools.calibration import Calibration, Terms, packaged_calibrations
from agenticiqa.tools.metrics.planes import require_pair

# Two-sided 95 % points of Student's t by degrees of freedom: the error is known from a few photographs only.
STUDENT = {1: 12.71, 2: 4.30, 3: 3.18, 4: 2.78, 5: 2.57, 6: 2.45, 7: 2.36, 8: 2.31, 9: 2.26, 10: 2.23}
# A kind less probable than this is not worth a mention.
MENTIONED = 0.02


class FullReferenceJudge:
    """Judges pairs of one size; loads once and may be shared between threads."""

    def __init__(self, model: FullReferenceModel, backbone: Backbone, calibrations: Mapping[str, Calibration]) -> None:
        self._model = model
        self._backbone = backbone
        self._calibrations = dict(calibrations)

    @classmethod
    def shipped(cls, weights: Weights = "research") -> FullReferenceJudge:
        """The judge with these shipped weights."""
        terms: Terms = "research" if weights == "research" else "commercial"
        return cls(load_model(weights), load_backbone(), packaged_calibrations(terms))

    def judge(self, test: LoadedImage, reference: LoadedImage) -> FullReferenceJudgement:
        """The judgement of the test image against its reference."""
        return self.judge_pixels(test.pixels, reference.pixels)

    def judge_pixels(self, test: Pixels, reference: Pixels) -> FullReferenceJudgement:
        """The same for sRGB pixels; pairs of different size raise ImageSizeMismatchError."""
        require_pair(test, reference, SMALLEST_SIDE)
        test, reference, notes = aligned(test, reference)
        if np.array_equal(test, reference):
            return _identical(notes)
        features = measure_pair(test, reference, self._backbone)
        prediction = self._model.predict(features.values)
        return self._judgement(prediction, features, (*notes, *_remarks(test, reference, features)))

    def _judgement(
        self, prediction: Prediction, features: PairFeatures, notes: tuple[str, ...]
    ) -> FullReferenceJudgement:
        kinds = {name: share for name, share in prediction.kinds.items() if share >= MENTIONED}
        if prediction.detail_intact:
            notes = (*notes, "brightness, contrast or saturation was changed; detail is intact")
        return FullReferenceJudgement(
            score=prediction.score,
            interval=self._interval(prediction),
            level_probabilities=level_probabilities(prediction.score, prediction.spread),
            kinds=kinds,
            categories=categories_of(prediction.kinds),
            severity=severity_of(prediction.score),
            metrics=features.metrics,
            detail_intact=prediction.detail_intact,
            disagreement=find_disagreement(features.metrics, prediction.kinds, self._calibrations),
            out_of_domain=self._doubt(prediction),
            notes=notes,
            features=features.values,
        )

    def _interval(self, prediction: Prediction) -> tuple[float, float]:
        rated = self._model.rated
        factor = STUDENT.get(rated.clusters - 1, 1.96) if rated else 1.96
        half = factor * prediction.spread
        return max(1.0, prediction.score - half), min(5.0, prediction.score + half)

    def _doubt(self, prediction: Prediction) -> str | None:
        if self._model.rated is None or prediction.strange < 0.5:
            return None
        return "no pair like this one was rated by people; the score is the consensus of metrics"


def _identical(notes: tuple[str, ...]) -> FullReferenceJudgement:
    what = "the common part of the test image" if notes else "the test image"
    return FullReferenceJudgement(
        score=5.0,
        interval=(5.0, 5.0),
        level_probabilities=level_probabilities(5.0, 1.0),
        kinds={},
        categories={},
        severity="none",
        metrics={},
        detail_intact=True,
        notes=(*notes, f"{what} equals its reference, pixel by pixel"),
    )


def _remarks(test: Pixels, reference: Pixels, features: PairFeatures) -> tuple[str, ...]:
    notes = []
    if features.scale != 1.0:
        notes.append(f"both pictures were resized by {features.scale:.3g} before they were compared")
    if _is_grey(reference) and not _is_grey(test):
        notes.append("the reference has no colour: colours of the test image count as damage")
    if math.isclose(float(cv2.meanStdDev(reference)[1].max()), 0.0):
        notes.append("the reference is one flat colour: there is no detail to compare")
    return tuple(notes)


def _is_grey(image: Pixels) -> bool:
    red, green, blue = (cast(Pixels, plane) for plane in cv2.split(image))
    return bool(np.array_equal(red, green) and np.array_equal(green, blue))


@lru_cache(maxsize=2)
def shipped_judge(weights: Weights = "research") -> FullReferenceJudge:
    """The shipped judge, built once per process."""
    return FullReferenceJudge.shipped(weights)
