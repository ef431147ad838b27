"""The judgement of a picture against its reference: score, interval, kind of damage, disagreement of the metrics."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

import cv2

from agenticiqa.embedded.full_reference.pair_features import SMALLEST_SIDE, measure_pair
from agenticiqa.embedded.full_reference.pair_model import FullReferenceModel, load_model
from agenticiqa.embedded.full_reference.pair_preparation import PARTS, PairView, Viewing, aligned
from agenticiqa.embedded.trunk import Backbone, Pixels, load_backbone
from agenticiqa.state import LEVEL_LETTERS, DistortionCategory, Severity
from agenticiqa.tools.calibration import Calibration, Terms, packaged_calibrations
from agenticiqa.tools.metrics.planes import require_pair
from agenticiqa.tools.running import same_pixels
from agenticiqa.tools.synthetic.kinds import KINDS
from agenticiqa.values import Disagreement, Judgement, MetricScore, level_probabilities, severity_of
from agenticiqa.weights import WeightSet

NAME = "AIQA_FR"
# A kind less probable than this is not worth a mention.
MENTIONED = 0.02
UNLIKE_ALL_RATED = "no pair like this one was rated by people; the score is the consensus of metrics"
# Kinds of the field that no ladder has.
FIELD_CATEGORIES: dict[str, DistortionCategory | None] = {"avif": "Compression", "heic": "Compression", "overlay": None}
SOFT = ("upscale", "pixelate", "gaussian_blur", "defocus_blur", "motion_blur", "denoise")
# The share of frequencies left above which a loss is not named, and below which it always is.
UNNAMED, NAMED = 0.8, 0.65
# How well what is left must follow the reference to be softness alone.
NOT_SOFT, ALL_SOFT = 0.955, 0.985
# How steeply the frequencies of an enlarged picture end at least; those of a Gaussian blur stay below.
STEEP = 0.5
# Two scores contradict each other when they are further apart than chance explains in 95 of 100 cases.
DEVIATIONS = 1.96


@dataclass(frozen=True)
class PairJudgement(Judgement):
    """The judgement of a pair, with the probabilities of the kinds of damage and of their categories.

    `features` is everything measured on the pair, for whoever needs it again; empty for an identical pair.
    """

    source: str = NAME
    kinds: dict[str, float] = field(default_factory=dict)
    categories: dict[DistortionCategory, float] = field(default_factory=dict)
    features: dict[str, float] = field(default_factory=dict, repr=False)

    @property
    def severity(self) -> Severity:
        """The word for what the damage costs."""
        return severity_of(5 - self.score)

    @property
    def kind(self) -> str | None:
        """The most probable kind of damage; None for an identical pair."""
        return next(iter(self.kinds), None)

    @property
    def category(self) -> DistortionCategory | None:
        """The category of that kind."""
        return category_of(self.kind) if self.kind else None

    @property
    def softness(self) -> float:
        """From 0 to 1, whether the pair differs by a loss of fine detail and nothing else."""
        return measured_softness(self.features)


@dataclass(frozen=True)
class FullReferenceJudge:
    """Judges pairs of one size, seen natively or on a screen; may be shared between threads."""

    model: FullReferenceModel
    backbone: Backbone
    calibrations: Mapping[str, Calibration]
    viewing: Viewing = "native"

    def judge_pixels(self, test: Pixels, reference: Pixels) -> PairJudgement:
        """The judgement of sRGB pixels against their reference; another size raises ImageSizeMismatchError."""
        require_pair(test, reference, SMALLEST_SIDE)
        test, reference, notes = aligned(test, reference)
        if same_pixels(test, reference):
            what = "the common part of the test image" if notes else "the test image"
            levels = dict.fromkeys(LEVEL_LETTERS, 0.0) | {"A": 1.0}
            return PairJudgement(levels, (5.0, 5.0), notes=(*notes, f"{what} equals its reference, pixel by pixel"))
        features = measure_pair(test, reference, self.backbone, self.viewing)
        found, rated = self.model.predict(features.values), self.model.rated
        kinds = with_measured_softness(found.kinds, features.values)
        notes = (*notes, *_remarks(test, reference, features.view))
        if found.detail_intact:
            notes = (*notes, "brightness, contrast or saturation was changed; detail is intact")
        half = (rated.factor if rated else 1.96) * found.spread
        is_unlike = rated is not None and found.learned <= 0.5
        return PairJudgement(
            level_probabilities(found.score, found.spread),
            (max(1.0, found.score - half), min(5.0, found.score + half)),
            UNLIKE_ALL_RATED if is_unlike else None,
            disagreement=find_disagreement(features.metrics, kinds, self.calibrations),
            notes=notes,
            kinds={name: share for name, share in kinds.items() if share >= MENTIONED},
            categories=_by_category(kinds),
            features=features.values,
        )


def category_of(kind: str) -> DistortionCategory | None:
    """The category of a kind; None for an overlay, which is no flaw of the picture."""
    return FIELD_CATEGORIES[kind] if kind in FIELD_CATEGORIES else KINDS[kind].category


def _by_category(kinds: Mapping[str, float]) -> dict[DistortionCategory, float]:
    found: dict[DistortionCategory, float] = {}
    for kind, share in kinds.items():
        if (category := category_of(kind)) is not None:
            found[category] = found.get(category, 0.0) + share
    return found


def with_measured_softness(kinds: Mapping[str, float], features: Mapping[str, float]) -> dict[str, float]:
    """The kind probabilities, kinds of softness with at least the share that was measured, the most probable first."""
    share = measured_softness(features)
    soft = {kind: kinds[kind] for kind in kinds if kind in SOFT}
    known, others = sum(soft.values()), 1 - sum(soft.values())
    if known >= share:
        return dict(kinds)
    kind = "upscale" if features["transfer.steepness"] >= STEEP else "gaussian_blur"
    # Kinds of softness keep their proportions; what is missing to the measured share goes to the measured kind.
    found = {name: value if name in soft else value * (1 - share) / others for name, value in kinds.items()}
    found[kind] = found.get(kind, 0.0) + share - known
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def measured_softness(features: Mapping[str, float]) -> float:
    """The share of softness in a difference, from 0 to 1."""
    lost = min(1.0, max(0.0, (UNNAMED - features["transfer.cutoff"]) / (UNNAMED - NAMED)))
    follows = (features["transfer.passband"] - NOT_SOFT) / (ALL_SOFT - NOT_SOFT)
    return lost * min(1.0, max(0.0, follows))


def find_disagreement(
    raw: Mapping[str, float], kinds: Mapping[str, float], calibrations: Mapping[str, Calibration]
) -> Disagreement | None:
    """Which calibrated metrics contradict the one to trust for this kind of damage; None where none does."""
    known = [name for name in raw if name in calibrations and math.isfinite(raw[name])]
    if not known:
        return None
    scores = [MetricScore(name, raw[name], *calibrations[name].score(raw[name], kinds)) for name in known]
    trusted = min(scores, key=lambda metric: metric.spread)
    against = tuple(
        metric
        for metric in scores
        if abs(metric.score - trusted.score) > DEVIATIONS * math.hypot(metric.spread, trusted.spread)
    )
    return Disagreement(trusted, against, max(kinds, key=lambda name: kinds[name], default=None)) if against else None


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
