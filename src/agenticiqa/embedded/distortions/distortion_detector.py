"""Which distortions a picture shows, how strong, of which kind and where, with the measurements beside each finding.

Without a reference, `find_distortions` looks at the picture alone: one fitted detector says how strong every flaw is in
the whole and in its parts, and what it says is the finding; nothing changes it afterwards. With a reference,
`find_changes` looks at the difference and is far more certain. `in_context` judges a crop by its surroundings too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from agenticiqa.embedded.distortions.distortion_model import load_distortion_model
from agenticiqa.embedded.distortions.feature_vector import measure_all, whole_vector
from agenticiqa.embedded.distortions.flaw_model import FlawOpinion, load_flaw_model
from agenticiqa.embedded.distortions.hues import hue_name
from agenticiqa.embedded.distortions.measurements import Pixels, Readings, measure_readings
from agenticiqa.embedded.distortions.parts import PARTS_PER_SIDE, box_of, part_features
from agenticiqa.embedded.distortions.photograph_model import FLAWS
from agenticiqa.embedded.distortions.tile_features import Tiles, cut_tiles
from agenticiqa.embedded.distortions.tone_features import Traces
from agenticiqa.embedded.objects.faces import find_faces
from agenticiqa.embedded.objects.scene import region_of
from agenticiqa.embedded.quality.domain import find_out_of_domain
from agenticiqa.embedded.regions.places import focus_box, focus_map, overlap
from agenticiqa.embedded.trunk import Features, load_backbone, load_tail
from agenticiqa.limits import STRONGEST
from agenticiqa.state import DISTORTION_CATEGORIES, DistortionCategory, Region
from agenticiqa.tools.metrics.blur_radius import LARGEST_RADIUS
from agenticiqa.tools.metrics.planes import Plane
from agenticiqa.tools.synthetic.kinds import KINDS
from agenticiqa.values import CATEGORY_OF, DIRECTION_OF, Attribute, Distortion, severity_of
from agenticiqa.weights import WeightSet

Findings = tuple[Distortion, ...]
# A kind is named only when it has this share of what speaks for its category.
SURE_OF_KIND = 0.5
# The maps people are shown and the flaw each is of.
MAPPED: dict[str, Attribute] = {"softness": "blur", "highlights": "bright", "shadows": "dark", "noise": "noise"}
# A crop with less fine detail than this, in grey levels, has nothing that blur could soften.
FEATURELESS = 0.8


@dataclass(frozen=True)
class _Seen:
    """What the detector said of a picture, and what was measured for it."""

    opinion: FlawOpinion
    traces: Traces
    tiles: Tiles


def find_distortions(
    pixels: Pixels,
    features: Features,
    weights: WeightSet = "research",
    *,
    drawn: bool | None = None,
    brief: bool = False,
) -> Findings:
    """One finding per category, from the picture alone and the trunk's features of it.

    `drawn` says whether it is no photograph, where that is known.
    `brief` leaves out where a finding is worst and the measurements that no finding rests on.
    """
    seen = _look(pixels, features, weights, drawn)
    readings = measure_readings(pixels, seen.tiles, features.scale, brief)
    size = None if brief else (pixels.shape[0], pixels.shape[1])
    return tuple(_finding(category, seen, readings, size) for category in DISTORTION_CATEGORIES)


def map_flaws(pixels: Pixels, weights: WeightSet = "research") -> dict[str, Plane]:
    """What `find_distortions` rests on, part by part: a grid per mapped flaw, from 0 (none) to 1 (extreme)."""
    flaws = _look(pixels, load_backbone().features(pixels), weights, None).opinion.flaws
    grid = (PARTS_PER_SIDE, PARTS_PER_SIDE)
    return {name: flaws[flaw].parts.reshape(grid) / np.float32(STRONGEST) for name, flaw in MAPPED.items()}


def find_changes(pixels: Pixels, pair: Mapping[str, float], weights: WeightSet = "research") -> Findings:
    """One finding per category, from the measurements of a pair (`full_reference.pair_features.measure_pair`)."""
    model = load_distortion_model(f"distortions_pair_{weights}")
    opinion = model.judge(np.array([pair[name] for name in model.names], np.float32))
    readings = measure_readings(pixels)
    return tuple(
        Distortion(
            category,
            float(opinion.presence[n]),
            round(float(opinion.strength[n]), 3),
            _kind(category, opinion.kinds) if severity_of(float(opinion.strength[n])) != "none" else None,
            readings.get(category, ()),
        )
        for n, category in enumerate(DISTORTION_CATEGORIES)
    )


def _look(pixels: Pixels, features: Features, weights: WeightSet, drawn: bool | None) -> _Seen:
    last = load_tail(weights).features(features.maps[-1])
    tiles = cut_tiles(features.working)
    traces = measure_all(pixels, features.working, tiles)
    whole, model = whole_vector(features, last, traces), load_flaw_model(weights)
    drawn = find_out_of_domain(features.working) is not None if drawn is None else drawn
    # Without any edge a picture shows a camera's faults as little as a drawing does.
    if drawn or (tiles.radii >= LARGEST_RADIUS).all():
        return _Seen(model.judge_drawn(whole), traces, tiles)
    return _Seen(model.judge(whole, part_features(features, last, tiles)), traces, tiles)


def _finding(category: DistortionCategory, seen: _Seen, readings: Readings, size: tuple[int, int] | None) -> Distortion:
    """The finding of a category; of both ways to be exposed wrongly the stronger one, with both under `directions`."""
    own = [_of_flaw(flaw, category, seen, readings, size) for flaw in FLAWS if CATEGORY_OF[flaw] == category]
    strongest = max(own, key=lambda finding: (finding.strength, finding.probability))
    return replace(strongest, directions=tuple(own)) if len(own) > 1 else strongest


def _of_flaw(
    name: Attribute, category: DistortionCategory, seen: _Seen, readings: Readings, size: tuple[int, int] | None
) -> Distortion:
    flaw = seen.opinion.flaws[name]
    kind = DIRECTION_OF.get(name) or _kind(category, seen.opinion.kinds)
    cast = hue_name(seen.traces["cast.red"], seen.traces["cast.yellow"]) if kind == "color_cast" else None
    box = box_of(flaw.parts, size) if size else None
    own = readings.get(category, ())
    return Distortion(category, round(flaw.probability, 3), round(flaw.strength, 3), kind, own, cast, box)


def in_context(findings: Findings, whole: Findings, pixels: Pixels, region: Region) -> Findings:
    """The findings of a crop with its surroundings in mind: bokeh and sky are not blur.

    A crop without detail cannot show blur, and a soft part outside the focus is softer by design: there the
    blur of the whole picture counts. A part in focus or with a face is judged by itself.
    """
    stands_alone = _is_subject(pixels, region) and not _is_featureless(pixels, region)
    by_category = {finding.category: finding for finding in whole}
    return tuple(_softer(finding, by_category[finding.category], stands_alone) for finding in findings)


def _softer(crop: Distortion, whole: Distortion, stands_alone: bool) -> Distortion:
    if stands_alone or crop.category != "Blurs" or crop.strength <= whole.strength:
        return crop
    return replace(whole, readings=crop.readings, region=None)


def _is_subject(pixels: Pixels, region: Region) -> bool:
    focus = focus_box(pixels)
    if focus is None or overlap(region, focus) >= 0.5:
        return True
    height, width = pixels.shape[:2]
    faces = (region_of(face.box, width, height) for face in find_faces(pixels))
    return any(overlap(face, region) > 0.5 for face in faces)


def _is_featureless(pixels: Pixels, region: Region) -> bool:
    crop = pixels[region.top : region.bottom, region.left : region.right]
    return float(np.percentile(focus_map(crop), 90)) < FEATURELESS


def _kind(category: str, logits: Mapping[str, float]) -> str | None:
    """The kind of a category that most speaks for, or None where several compete."""
    own = {name: float(np.exp(value)) for name, value in logits.items() if KINDS[name].category == category}
    best = max(own, key=lambda name: own[name])
    return best if own[best] >= SURE_OF_KIND * sum(own.values()) else None
