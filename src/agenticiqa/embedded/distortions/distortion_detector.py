"""Which distortions a picture shows, how strong, of which kind, with the measurements behind each finding.

Without a reference, `find_distortions` looks at the picture alone: one model knows photographs as cameras make them,
another clean pictures damaged by code, and the first says which world a picture belongs to. What is measured beyond
doubt is a finding whatever the models say. With a reference, `find_changes` looks at the difference and is far more
certain. `in_context` corrects what a crop alone would get wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from agenticiqa.embedded.distortions import kind_and_direction as manners
from agenticiqa.embedded.distortions.distortion_model import Opinion, load_distortion_model
from agenticiqa.embedded.distortions.feature_vector import as_vector, measure_traces, photograph_vector
from agenticiqa.embedded.distortions.flaw_maps import MappedFlaw, flaw_maps
from agenticiqa.embedded.distortions.light_features import light_traces
from agenticiqa.embedded.distortions.measurements import Pixels, Readings, measure_readings
from agenticiqa.embedded.distortions.photograph_model import FlawOpinion, load_photograph_model
from agenticiqa.embedded.distortions.severity import severity_of
from agenticiqa.embedded.distortions.tile_features import cut_tiles, tile_traces
from agenticiqa.embedded.distortions.tone_features import Traces
from agenticiqa.embedded.findings import Finding
from agenticiqa.embedded.objects.faces import find_faces
from agenticiqa.embedded.objects.scene import Located, as_region
from agenticiqa.embedded.quality.domain import find_out_of_domain
from agenticiqa.embedded.regions.places import focus_box, focus_map, overlap
from agenticiqa.embedded.trunk import Features, load_tail
from agenticiqa.state import DISTORTION_CATEGORIES, SEVERITIES, DistortionCategory, Region
from agenticiqa.tools.metrics.blur_radius import LARGEST_RADIUS
from agenticiqa.tools.synthetic.kinds import KINDS
from agenticiqa.weights import WeightSet

Findings = tuple[Finding, ...]
# A kind is named only when it has this share of what speaks for its category.
SURE_OF_KIND = 0.5
# How fast the probability of a flaw grows about the strength from which it is called slight.
SLIGHT, GROWTH = 0.5, 6.0


@dataclass(frozen=True)
class Hearing:
    """How far the model of photographs is heard on pictures unlike those it knows.

    Pairs are where something begins and where it is complete: the gate's output of made damage, and the certainty of
    the model of made damage from which that one is believed alone. `least` is the certainty left to the other model.
    """

    made_world: tuple[float, float]
    sure_of_damage: tuple[float, float]
    least: float


# Chosen on made pictures left out of the fit and on 80 photographs of a source the labels do not come from. Of blur and
# noise the model of photographs is heard further out: there it hardly ever cries wolf.
HEARD = Hearing((-0.5, -0.2), (0.2, 0.6), 0.5)
HEARD_FURTHER: dict[str, Hearing] = dict.fromkeys(("Blurs", "Noise"), Hearing((-0.2, 0.3), (0.5, 0.9), 0.6))
# The gate's output from which a file shows made damage, about which worlds are in doubt, and of looks it knows.
MADE_FILE, DOUBTFUL_WORLD, KNOWN_LOOK = (-0.5, -0.2), (-0.7, -0.5), (0.4, 0.7)
SURE_OF_MEASUREMENT = 0.95
# Without an edge nothing shows that a picture is blurred more than slightly.
WITHOUT_EDGES = 0.8
# A crop with less fine detail than this, in grey levels, has nothing that blur could soften.
FEATURELESS = 0.8


@dataclass(frozen=True)
class BeyondDoubt:
    """A measurement that no model may deny: from `limits` on the finding is at least as strong as `strengths` say."""

    category: DistortionCategory
    reading: str
    limits: tuple[float, ...]
    strengths: tuple[float, ...]
    manner: manners.Manner | None = None


# Chosen on the labelled training photographs; limits rise or fall to the stronger side.
BEYOND_DOUBT = (
    BeyondDoubt("Brightness change", "clipped highlights", (25, 50, 75), (1.6, 2.4, 3.2), manners.OVER_EXPOSED),
    BeyondDoubt("Brightness change", "mean brightness", (27, 18, 10), (1.6, 2.4, 3.2), manners.UNDER_EXPOSED),
    BeyondDoubt("Color distortions", "color cast", (50, 65, 80), (1.6, 2.2, 3.0)),
    BeyondDoubt("Compression", "JPEG quality", (24, 15, 8, 4), (1.6, 2.2, 3.0, 3.6), manners.JPEG_FILE),
    BeyondDoubt("Blurs", "blur radius", (2.2, 3.0, 4.0, 5.0, 6.0), (2.3, 2.7, 3.3, 3.6, 3.8)),
)
# A picture this dark on average, in grey levels, with less than this share of clipped lights, in percent, lacks light:
# of the labelled training photographs 187 of 197 such are dark, 148 of them at least moderately.
DARK, NO_LIGHTS = 50.0, 0.05
# So strong where the model of photographs knows the look and found less, and elsewhere.
LACKS_LIGHT, LACKS_LIGHT_ELSEWHERE = 0.75, 1.6
WHERE: dict[DistortionCategory, MappedFlaw] = {"Blurs": "softness", "Noise": "noise"}


def find_distortions(
    pixels: Pixels, features: Features, weights: WeightSet = "research", *, brief: bool = False
) -> Findings:
    """One finding per category, from the picture alone and the trunk's features of it.

    `brief` leaves out where a finding is worst and the measurements that no finding rests on.
    """
    traces = measure_traces(pixels, features.working)
    tiles = cut_tiles(features.working)
    seen = light_traces(features.working) | tile_traces(tiles)
    last_stages = load_tail(weights).features(features.maps[-1]).pooled
    flaws = load_photograph_model(f"flaws_{weights}").judge(photograph_vector(features, last_stages, traces, seen))
    made = load_distortion_model(f"distortions_{weights}").judge(as_vector(features, traces))
    readings = measure_readings(pixels, tiles, features.scale, brief)
    drawn = find_out_of_domain(features.working) is not None
    # A page or a drawing was never before a camera: white paper is not over-exposed.
    findings = _joined(_photographed(flaws, seen, readings), _findings(made, readings), 1.0 if drawn else flaws.gate)
    if not drawn:
        findings = tuple(_as_measured(finding, features.scale, seen, flaws.gate) for finding in findings)
    return findings if brief else _placed(findings, pixels)


def find_changes(pixels: Pixels, pair: Mapping[str, float], weights: WeightSet = "research") -> Findings:
    """One finding per category, from the measurements of a pair (`full_reference.features.measure_pair`)."""
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
        crop,
        probability=whole.probability,
        severity=whole.severity,
        strength=whole.strength,
        kind=whole.kind,
        manner=whole.manner,
    )


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


def _photographed(flaws: FlawOpinion, seen: Traces, readings: Readings) -> Findings:
    """What the model of photographs found, with its direction in words."""
    too_dark = flaws.strength["dark"] >= flaws.strength["bright"]
    by_category: dict[DistortionCategory, tuple[str, manners.Manner]] = {
        "Blurs": ("blur", manners.blur_manner(flaws.blur_kinds)),
        "Color distortions": ("colour", manners.colour_manner(seen)),
        "Compression": ("compression", manners.coding_manner(seen)),
        "Noise": ("noise", manners.noise_manner(seen)),
        "Brightness change": ("dark", manners.UNDER_EXPOSED) if too_dark else ("bright", manners.OVER_EXPOSED),
        "Sharpness": ("oversharp", manners.OVER_SHARPENED),
        "Contrast": ("contrast", manners.contrast_manner(seen)),
    }
    found = {category: (flaws.strength[flaw], manner) for category, (flaw, manner) in by_category.items()}
    if any(reading.value >= LARGEST_RADIUS for reading in readings.get("Blurs", ())):
        found["Blurs"] = (min(found["Blurs"][0], WITHOUT_EDGES), found["Blurs"][1])
    return tuple(
        _with_strength(Finding(c, 0.0, "none", readings=readings.get(c, ())), *found[c]) for c in DISTORTION_CATEGORIES
    )


def _with_strength(finding: Finding, strength: float, manner: manners.Manner | None) -> Finding:
    """The finding at this strength; probability and word follow from it."""
    return replace(
        finding,
        probability=float(1 / (1 + np.exp(-GROWTH * (strength - SLIGHT)))),
        severity=severity_of(strength),
        strength=round(strength, 3),
        kind=manner.kind if manner else finding.kind,
        manner=manner.words if manner else finding.manner,
    )


def _joined(photographed: Findings, made: Findings, gate: float) -> Findings:
    """Of both worlds the stronger finding, each as far as the picture belongs to that world.

    The model of made damage hardly ever cries wolf on photographs, except for compression, which it sees in any file;
    the model of photographs does on made damage, and is less sure of what looks unlike the photographs it knows.
    """
    seen_by_code = max(finding.probability for finding in made if finding.category != "Compression")
    pairs = zip(photographed, made, strict=True)
    return tuple(_stronger(_heard(p, seen_by_code, gate), _scaled(m, _share_of_made(m, gate))) for p, m in pairs)


def _heard(finding: Finding, seen_by_code: float, gate: float) -> Finding:
    """What the model of photographs found, as far as the picture is one it knows."""
    hearing = HEARD_FURTHER.get(finding.category, HEARD)
    # Of a picture like the photographs it knows, it is believed whatever the other model sees.
    believed = _ramp(seen_by_code, *hearing.sure_of_damage) * _ramp(gate, *DOUBTFUL_WORLD)
    world = max(_ramp(gate, *hearing.made_world), believed)
    sureness = hearing.least + (1 - hearing.least) * _ramp(-gate, *KNOWN_LOOK)
    return _scaled(finding, 1 - world, sureness)


def _share_of_made(finding: Finding, gate: float) -> float:
    return _ramp(gate, *MADE_FILE) if finding.category == "Compression" else 1.0


def _scaled(finding: Finding, share: float, sureness: float = 1.0) -> Finding:
    strength = share * finding.position
    return replace(
        finding,
        probability=share * sureness * finding.probability,
        strength=round(strength, 3),
        severity=severity_of(strength),
    )


def _stronger(photographed: Finding, made: Finding) -> Finding:
    if photographed.category == "Sharpness" or made.position >= photographed.position:
        manner = photographed.manner if made.kind == photographed.kind else None
        return replace(made, probability=max(made.probability, photographed.probability), manner=manner)
    return replace(photographed, probability=max(made.probability, photographed.probability))


def _ramp(value: float, start: float, end: float) -> float:
    return min(1.0, max(0.0, (value - start) / (end - start)))


def _as_measured(finding: Finding, scale: float, seen: Traces, gate: float) -> Finding:
    """The finding, at least as strong as what was measured beyond doubt."""
    values = {reading.name: reading.value for reading in finding.readings}
    for rule in BEYOND_DOUBT:
        if rule.category != finding.category or rule.reading not in values:
            continue
        strength = _least_strength(rule, values[rule.reading], scale)
        if strength:
            finding = replace(finding, probability=max(finding.probability, SURE_OF_MEASUREMENT))
        if strength > finding.position:
            manner = rule.manner or (manners.colour_manner(seen) if finding.category == "Color distortions" else None)
            finding = _with_strength(finding, strength, manner)
    least = LACKS_LIGHT if -gate >= KNOWN_LOOK[0] else LACKS_LIGHT_ELSEWHERE
    lacks_light = finding.category == "Brightness change" and finding.position < least and _is_dark(values)
    return _with_strength(finding, least, manners.UNDER_EXPOSED) if lacks_light else finding


def _is_dark(values: Mapping[str, float]) -> bool:
    """Whether a picture is dark all over, with nothing bright in it."""
    return values["mean brightness"] <= DARK and values["clipped highlights"] <= NO_LIGHTS


def _least_strength(rule: BeyondDoubt, value: float, scale: float) -> float:
    if rule.reading == "blur radius":
        # Without any edge the largest radius is told, and nothing is known.
        value = 0.0 if value >= LARGEST_RADIUS else value * scale
    limits = np.array(rule.limits)
    if limits[0] > limits[-1]:
        limits, value = -limits, -value
    return 0.0 if value < limits[0] else float(np.interp(value, limits, rule.strengths))


def _placed(findings: Findings, pixels: Pixels) -> Findings:
    """The findings of moderate or worse with the worst part of those that have one."""
    disturbing = {finding.category: flaw for finding in findings if _disturbs(finding) and (flaw := _mapped(finding))}
    if not disturbing:
        return findings
    maps = flaw_maps(pixels)
    return tuple(
        replace(finding, region=maps[disturbing[finding.category]].worst) if finding.category in disturbing else finding
        for finding in findings
    )


def _disturbs(finding: Finding) -> bool:
    return SEVERITIES.index(finding.severity) >= SEVERITIES.index("moderate")


def _mapped(finding: Finding) -> MappedFlaw | None:
    if finding.category == "Brightness change":
        return "highlights" if finding.kind == "brighten" else "shadows"
    return WHERE.get(finding.category)


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
