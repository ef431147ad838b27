"""Which distortions a picture shows, how strong, of which kind, with the measurements behind each finding.

Without a reference, `find_distortions` looks at the picture alone: one model knows photographs as cameras make them,
another clean pictures damaged by code, and the first says which world a picture belongs to. What is measured beyond
doubt is a finding whatever the models say. With a reference, `find_changes` looks at the difference and is far more
certain. `in_context` corrects what a crop alone would get wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from agenticiqa.embedded.distortions import kind_and_direction as manners
from agenticiqa.embedded.distortions.distortion_model import Opinion, load_distortion_model
from agenticiqa.embedded.distortions.feature_vector import as_vector, measure_traces, photograph_vector
from agenticiqa.embedded.distortions.flaw_categories import CATEGORY_OF, ByFlaw, Estimate, at_strength, by_category
from agenticiqa.embedded.distortions.flaw_maps import MappedFlaw, flaw_maps
from agenticiqa.embedded.distortions.joined_models import join_worlds
from agenticiqa.embedded.distortions.light_features import light_traces
from agenticiqa.embedded.distortions.measurement_rules import as_measured, with_strength
from agenticiqa.embedded.distortions.measurements import Pixels, Readings, measure_readings
from agenticiqa.embedded.distortions.photograph_model import FlawOpinion, load_photograph_model
from agenticiqa.embedded.distortions.tile_features import cut_tiles, tile_traces
from agenticiqa.embedded.distortions.tone_features import Traces
from agenticiqa.embedded.objects.faces import find_faces
from agenticiqa.embedded.objects.scene import Located, as_region
from agenticiqa.embedded.quality.domain import find_out_of_domain
from agenticiqa.embedded.regions.places import focus_box, focus_map, overlap
from agenticiqa.embedded.trunk import Features, load_tail
from agenticiqa.state import DISTORTION_CATEGORIES, DistortionCategory, Region
from agenticiqa.tools.metrics.blur_radius import LARGEST_RADIUS
from agenticiqa.tools.synthetic.kinds import KINDS
from agenticiqa.values import Distortion, severity_of
from agenticiqa.weights import WeightSet

Findings = tuple[Distortion, ...]
# A kind is named only when it has this share of what speaks for its category.
SURE_OF_KIND = 0.5
MIDDLE_GREY = 127.5
# Without an edge nothing shows that a picture is blurred more than slightly.
WITHOUT_EDGES = 0.8
# A crop with less fine detail than this, in grey levels, has nothing that blur could soften.
FEATURELESS = 0.8
# The qualities of a JPEG file whose coding nobody sees without looking for it (from 99 on there is no grid to measure),
# and how strong compression may be called there.
FINE_FILE, NO_GRID, IN_A_FINE_FILE = 70.0, 99.0, 1.4
WHERE: dict[DistortionCategory, MappedFlaw] = {"Blurs": "softness", "Noise": "noise"}


def find_distortions(
    pixels: Pixels,
    features: Features,
    weights: WeightSet = "research",
    *,
    drawn: bool | None = None,
    brief: bool = False,
) -> Findings:
    """One finding per category, from the picture alone and the trunk's features of it.

    `drawn` says whether it is no photograph, where that is known. `brief` leaves out where a finding is worst and the
    measurements that no finding rests on.
    """
    traces = measure_traces(pixels, features.working)
    tiles = cut_tiles(features.working)
    seen = light_traces(features.working) | tile_traces(tiles)
    last_stages = load_tail(weights).features(features.maps[-1]).pooled
    flaws = load_photograph_model(f"flaws_{weights}").judge(photograph_vector(features, last_stages, traces, seen))
    made = load_distortion_model(f"distortions_{weights}").judge(as_vector(features, traces))
    readings = measure_readings(pixels, tiles, features.scale, brief)
    drawn = find_out_of_domain(features.working) is not None if drawn is None else drawn
    # A page or a drawing was never before a camera: white paper is not over-exposed.
    gate = 1.0 if drawn else flaws.gate
    found = join_opinions(flaws, made, seen, readings, gate)
    if not drawn:
        found = {flaw: as_measured(each, flaw, features.scale, seen, gate) for flaw, each in found.items()}
    findings = tuple(map(_without_missing_radius, by_category(found)))
    return findings if brief else _placed(findings, pixels)


def join_opinions(flaws: FlawOpinion, made: Opinion, seen: Traces, readings: Readings, gate: float) -> ByFlaw:
    """What both models together say of each flaw, before anything measured overrules them."""
    return join_worlds(_photographed(flaws, seen, readings), _made(made, seen, readings), gate)


def find_changes(pixels: Pixels, pair: Mapping[str, float], weights: WeightSet = "research") -> Findings:
    """One finding per category, from the measurements of a pair (`full_reference.pair_features.measure_pair`)."""
    model = load_distortion_model(f"distortions_pair_{weights}")
    vector = np.array([pair[name] for name in model.names], np.float32)
    return tuple(each.settled() for each in _estimates(model.judge(vector), measure_readings(pixels)))


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
    faces = (as_region(Located("face", face.confidence, face.box), width, height) for face in find_faces(pixels))
    return any(overlap(face, region) > 0.5 for face in faces)


def _is_featureless(pixels: Pixels, region: Region) -> bool:
    crop = pixels[region.top : region.bottom, region.left : region.right]
    return float(np.percentile(focus_map(crop), 90)) < FEATURELESS


def _photographed(flaws: FlawOpinion, seen: Traces, readings: Readings) -> ByFlaw:
    """What the model of photographs found, each flaw in a photographer's words."""
    words: dict[str, manners.Manner] = {
        "blur": manners.blur_manner(flaws.blur_kinds),
        "colour": manners.colour_manner(seen),
        "compression": manners.coding_manner(seen),
        "noise": manners.noise_manner(seen),
        "dark": manners.UNDER_EXPOSED,
        "bright": manners.OVER_EXPOSED,
        "oversharp": manners.OVER_SHARPENED,
        "contrast": manners.contrast_manner(seen),
    }
    strength = dict(flaws.strength)
    if any(reading.value >= LARGEST_RADIUS for reading in readings.get("Blurs", ())):
        strength["blur"] = min(strength["blur"], WITHOUT_EDGES)
    return {
        flaw: with_strength(_nothing(category, readings), strength[flaw], words[flaw])
        for flaw, category in CATEGORY_OF.items()
    }


def _without_missing_radius(finding: Distortion) -> Distortion:
    """The finding without a blur radius that only says that there is no edge to measure it at."""
    told = tuple(each for each in finding.readings if each.name != "blur radius" or each.value < LARGEST_RADIUS)
    return replace(finding, readings=told)


def _made(opinion: Opinion, seen: Traces, readings: Readings) -> ByFlaw:
    """What the model of made damage found; a change of brightness is one of the two ways only."""
    found = {estimate.category: estimate for estimate in _estimates(opinion, readings)}
    if FINE_FILE <= seen["tile.jpeg_quality"] < NO_GRID:
        found["Compression"] = at_strength(found["Compression"], min(found["Compression"].strength, IN_A_FINE_FILE))
    tones = {reading.name: reading.value for reading in readings.get("Brightness change", ())}
    brightness, kinds = tones.get("mean brightness", MIDDLE_GREY), opinion.kinds
    shifted = found["Brightness change"].kind == "mean_shift"
    darker = brightness < MIDDLE_GREY if shifted else kinds["darken"] >= kinds["brighten"]
    other_way = "bright" if darker else "dark"
    return {
        flaw: _nothing(category, readings) if flaw == other_way else found[category]
        for flaw, category in CATEGORY_OF.items()
    }


def _nothing(category: DistortionCategory, readings: Readings) -> Estimate:
    return Estimate(category, 0.0, 0.0, readings=readings.get(category, ()))


def _placed(findings: Findings, pixels: Pixels) -> Findings:
    """The findings of moderate or worse with the worst part of those that have one."""
    disturbing = {finding.category: flaw for finding in findings if finding.disturbs and (flaw := _mapped(finding))}
    if not disturbing:
        return findings
    maps = flaw_maps(pixels)
    return tuple(
        replace(finding, region=maps[disturbing[finding.category]].worst) if finding.category in disturbing else finding
        for finding in findings
    )


def _mapped(finding: Distortion) -> MappedFlaw | None:
    if finding.category == "Brightness change":
        return "highlights" if finding.kind == "brighten" else "shadows"
    return WHERE.get(finding.category)


def _estimates(opinion: Opinion, readings: Readings) -> list[Estimate]:
    return [
        _estimate(category, float(opinion.presence[n]), float(opinion.strength[n]), opinion.kinds, readings)
        for n, category in enumerate(DISTORTION_CATEGORIES)
    ]


def _estimate(
    category: DistortionCategory, probability: float, strength: float, kinds: dict[str, float], readings: Readings
) -> Estimate:
    kind = _kind(category, kinds) if severity_of(strength) != "none" else None
    return Estimate(category, probability, round(strength, 3), kind, readings.get(category, ()))


def _kind(category: str, logits: dict[str, float]) -> str | None:
    """The kind of a category that most speaks for, or None where several compete."""
    own = {name: float(np.exp(value)) for name, value in logits.items() if KINDS[name].category == category}
    best = max(own, key=lambda name: own[name])
    return best if own[best] >= SURE_OF_KIND * sum(own.values()) else None
