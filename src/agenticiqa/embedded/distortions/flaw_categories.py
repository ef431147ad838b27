"""The flaws a look tells apart and the category of each: brightness counts twice, once for either way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from agenticiqa.embedded.distortions.severity import severity_of
from agenticiqa.embedded.findings import Finding
from agenticiqa.state import DISTORTION_CATEGORIES, DistortionCategory

CATEGORY_OF: dict[str, DistortionCategory] = {
    "blur": "Blurs",
    "colour": "Color distortions",
    "compression": "Compression",
    "noise": "Noise",
    "dark": "Brightness change",
    "bright": "Brightness change",
    "oversharp": "Sharpness",
    "contrast": "Contrast",
}
# A finding for every flaw of CATEGORY_OF.
ByFlaw = dict[str, Finding]
BOTH_EXPOSURES = "under-exposed, with over-exposed parts"
DISTURBS = 1.5


def by_category(found: ByFlaw) -> tuple[Finding, ...]:
    """One finding per category; of both ways to be exposed wrongly the stronger one, with both under `directions`."""
    return tuple(_of_category(category, found) for category in DISTORTION_CATEGORIES)


def at_strength(finding: Finding, strength: float) -> Finding:
    """The finding at another strength, with the word for it."""
    return replace(finding, strength=round(strength, 3), severity=severity_of(strength))


def _of_category(category: DistortionCategory, found: ByFlaw) -> Finding:
    own = [found[flaw] for flaw in _flaws(category)]
    if len(own) == 1:
        return own[0]
    strongest = max(own, key=lambda finding: (finding.position, finding.probability))
    both = min(finding.position for finding in own) >= DISTURBS
    manner = BOTH_EXPOSURES if both else strongest.manner
    probability = max(finding.probability for finding in own)
    return replace(strongest, probability=probability, manner=manner, directions=tuple(own))


def _flaws(category: DistortionCategory) -> Iterator[str]:
    return (flaw for flaw, own in CATEGORY_OF.items() if own == category)
