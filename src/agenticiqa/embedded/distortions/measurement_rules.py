"""Measurements that no model may deny: a third of the picture burnt out is over-exposed whatever a model says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from agenticiqa.embedded.distortions import kind_and_direction as manners
from agenticiqa.embedded.distortions.flaw_categories import Estimate, at_strength
from agenticiqa.embedded.distortions.joined_models import knows_look
from agenticiqa.embedded.distortions.tone_features import Traces
from agenticiqa.tools.metrics.blur_radius import LARGEST_RADIUS

# How fast the probability of a flaw grows about the strength from which it is called slight.
SLIGHT, GROWTH = 0.5, 6.0


@dataclass(frozen=True)
class BeyondDoubt:
    """From `limits` on a flaw is at least as strong as `strengths` say, and at least as likely as `sureness`."""

    flaw: str
    reading: str
    limits: tuple[float, ...]
    strengths: tuple[float, ...]
    manner: manners.Manner | None = None
    sureness: float = 0.95


# Chosen on the labelled training photographs; limits rise or fall to the stronger side.
BEYOND_DOUBT = (
    BeyondDoubt("bright", "clipped highlights", (25, 50, 75), (1.6, 2.4, 3.2), manners.OVER_EXPOSED),
    BeyondDoubt("dark", "mean brightness", (27, 18, 10), (1.6, 2.6, 3.2), manners.UNDER_EXPOSED),
    BeyondDoubt("colour", "color cast", (50, 65, 80), (1.6, 2.2, 3.0)),
    # A colourful scene may be this far from grey by itself: 34 of 50 such photographs show a flaw, if a slight one.
    # From 30 on it is 93 of 137, but called a flaw there, colour would be named first in photographs without any.
    BeyondDoubt("colour", "color cast", (40, 50), (0.55, 1.0), sureness=0.68),
    BeyondDoubt("colour", "color cast", (30, 40), (0.45, 0.45), sureness=0.45),
    BeyondDoubt("compression", "JPEG quality", (24, 15, 8, 4), (1.6, 2.2, 3.0, 3.6), manners.JPEG_FILE),
    # Gravel, scales and fur are measured as noise up to 22; of 2,420 photographs of four sources none reaches 25.
    BeyondDoubt("noise", "noise sigma", (28, 40, 60), (1.6, 2.5, 3.4)),
    BeyondDoubt("blur", "blur radius", (2.2, 3.0, 4.0, 5.0, 6.0), (2.3, 2.7, 3.3, 3.6, 3.8)),
)
# A picture this dark on average, in grey levels, with less than this share of clipped lights, in percent, lacks light:
# of the labelled training photographs 187 of 197 such are dark, 148 of them at least moderately.
DARK, NO_LIGHTS = 50.0, 0.05
# So strong where the model of photographs knows the look and found less, and elsewhere.
LACKS_LIGHT, LACKS_LIGHT_ELSEWHERE = 0.75, 1.6


def as_measured(finding: Estimate, flaw: str, scale: float, seen: Traces, gate: float) -> Estimate:
    """The finding, at least as strong as what was measured beyond doubt."""
    values = {reading.name: reading.value for reading in finding.readings}
    for rule in BEYOND_DOUBT:
        if rule.flaw != flaw or rule.reading not in values:
            continue
        strength = _least_strength(rule, values[rule.reading], scale)
        if strength > finding.strength:
            manner = rule.manner or (manners.colour_manner(seen) if flaw == "colour" else None)
            finding = with_strength(finding, strength, manner)
        if strength:
            finding = replace(finding, probability=max(finding.probability, rule.sureness))
    least = LACKS_LIGHT if knows_look(gate) else LACKS_LIGHT_ELSEWHERE
    lacks_light = flaw == "dark" and finding.strength < least and _is_dark(values)
    return with_strength(finding, least, manners.UNDER_EXPOSED) if lacks_light else finding


def with_strength(finding: Estimate, strength: float, manner: manners.Manner | None) -> Estimate:
    """The finding at this strength; probability and word follow from it."""
    return replace(
        at_strength(finding, strength),
        probability=float(1 / (1 + np.exp(-GROWTH * (strength - SLIGHT)))),
        kind=manner.kind if manner else finding.kind,
        colour=manner.colour if manner else finding.colour,
    )


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
