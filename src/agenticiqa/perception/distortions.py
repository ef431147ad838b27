"""Which distortions a picture shows, how strong, of which kind, with the measurements behind each finding.

Without a reference, `find_distortions` looks at the picture alone; with one, `find_changes` looks at the
difference and is far more certain. `in_context` corrects what a crop alone would get wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

import numpy as np

from agenticiqa.backbone.features import Features
from agenticiqa.perception.distortions_features import as_vector, measure_traces
from agenticiqa.perception.distortions_model import Opinion, load_distortion_model
from agenticiqa.perception.distortions_readings import Pixels, Readings, measure_readings
from agenticiqa.perception.distortions_severity import severity_of
from agenticiqa.perception.eyes import Finding
from agenticiqa.perception.regions import focus_box, focus_map, overlap
from agenticiqa.perception.regions_faces import find_faces
from agenticiqa.state import DISTORTION_CATEGORIES, DistortionCategory, Region
from agenticiqa.tools.distort import KINDS
from agenticiqa.tools.metrics.blur import LARGEST_RADIUS

Findings = tuple[Finding, ...]
Weights = Literal["research", "open"]
# A kind is named only when it has this share of what speaks for its category.
SURE_OF_KIND = 0.5
# From 2 pixels at working size on, soft edges are blur: no clean photograph reaches it, of hard negatives 8 in 540
# (`benchmarks.detection_units`), and of other damage strong enlargement alone, which is soft too. What the model makes
# of such a radius where it sees the blur, in the median, is the least loss it stands for.
PLAIN_BLUR = 2.0
LEAST_LOSS = ((2.0, 3.0, 4.0, 5.0, 6.0), (2.3, 2.7, 3.3, 3.6, 3.8))
SURE_OF_BLUR = 0.9
# A crop with less fine detail than this, in grey levels, has nothing that blur could soften.
FEATURELESS = 0.8


def find_distortions(pixels: Pixels, features: Features, weights: Weights = "research") -> Findings:
    """One finding per category, from the picture alone and the trunk's features of it."""
    vector = as_vector(features, measure_traces(pixels, features.working))
    opinion = load_distortion_model(f"distortions_{weights}").judge(vector)
    return tuple(_as_measured(finding, features.scale) for finding in _findings(opinion, measure_readings(pixels)))


def find_changes(pixels: Pixels, pair: Mapping[str, float], weights: Weights = "research") -> Findings:
    """One finding per category, from the measurements of a pair (`full_reference_features.measure_pair`)."""
    model = load_distortion_model(f"distortions_pair_{weights}")
    vector = np.array([pair[name] for name in model.names], np.float32)
    return _findings(model.judge(vector), measure_readings(pixels))


def in_context(findings: Findings, whole: Findings, pixels: Pixels, region: Region) -> Findings:
    """The findings of a crop with its surroundings in mind: bokeh and sky are not blur.

    A crop without detail cannot show blur, and a soft part outside the focus is softer by design: there the
    blur of the whole picture counts. A part in focus or with a face is judged by itself.
    """
    stands_alone = _is_subject(pixels, region) and not _is_featureless(pixels, region)
    by_category = {finding.category: finding for finding in whole}
    return tuple(_softer(finding, by_category[finding.category], stands_alone) for finding in findings)


def _softer(crop: Finding, whole: Finding, stands_alone: bool) -> Finding:
    if stands_alone or crop.category != "Blurs" or crop.position <= whole.position:
        return crop
    return replace(
        crop, probability=whole.probability, severity=whole.severity, strength=whole.strength, kind=whole.kind
    )


def _is_subject(pixels: Pixels, region: Region) -> bool:
    focus = focus_box(pixels)
    if focus is None or overlap(region, focus) >= 0.5:
        return True
    return any(overlap(face, region) > 0.5 for face in find_faces(pixels))


def _is_featureless(pixels: Pixels, region: Region) -> bool:
    crop = pixels[region.top : region.bottom, region.left : region.right]
    return float(np.percentile(focus_map(crop), 90)) < FEATURELESS


def _as_measured(finding: Finding, scale: float) -> Finding:
    """Blur whose radius leaves no doubt is there, and at least as strong as that radius."""
    radius = next((r.value for r in finding.readings if r.name == "blur radius"), 0.0)
    # Without any edge the largest radius is told, and nothing is known.
    if finding.category != "Blurs" or radius * scale < PLAIN_BLUR or radius >= LARGEST_RADIUS:
        return finding
    strength = max(finding.position, float(np.interp(radius * scale, *LEAST_LOSS)))
    return replace(
        finding,
        probability=max(finding.probability, SURE_OF_BLUR),
        severity=severity_of(strength),
        strength=round(strength, 3),
    )


def _findings(opinion: Opinion, readings: Readings) -> Findings:
    return tuple(
        _finding(category, float(opinion.presence[n]), float(opinion.strength[n]), opinion.kinds, readings)
        for n, category in enumerate(DISTORTION_CATEGORIES)
    )


def _finding(
    category: DistortionCategory, probability: float, strength: float, kinds: dict[str, float], readings: Readings
) -> Finding:
    severity = severity_of(strength)
    return Finding(
        category=category,
        probability=probability,
        severity=severity,
        kind=_kind(category, kinds) if severity != "none" else None,
        readings=readings.get(category, ()),
        strength=round(strength, 3),
    )


def _kind(category: str, logits: dict[str, float]) -> str | None:
    """The kind of a category that most speaks for, or None where several compete."""
    own = {name: float(np.exp(value)) for name, value in logits.items() if KINDS[name].category == category}
    best = max(own, key=lambda name: own[name])
    return best if own[best] >= SURE_OF_KIND * sum(own.values()) else None
