"""The flaws a look tells apart and the category of each: brightness counts twice, once for either way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from agenticiqa.state import DISTORTION_CATEGORIES, DistortionCategory
from agenticiqa.values import Distortion, Reading

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


@dataclass(frozen=True)
class Estimate:
    """What the models say of one flaw on the way to a finding; probability and strength need not agree yet."""

    category: DistortionCategory
    probability: float
    strength: float
    kind: str | None = None
    readings: tuple[Reading, ...] = ()
    colour: str | None = None

    def settled(self) -> Distortion:
        """The finding it comes to."""
        return Distortion(self.category, self.probability, self.strength, self.kind, self.readings, self.colour)


# An estimate for every flaw of CATEGORY_OF.
ByFlaw = dict[str, Estimate]


def by_category(found: ByFlaw) -> tuple[Distortion, ...]:
    """One finding per category; of both ways to be exposed wrongly the stronger one, with both under `directions`."""
    return tuple(_of_category(category, found) for category in DISTORTION_CATEGORIES)


def at_strength(estimate: Estimate, strength: float) -> Estimate:
    """The estimate at another strength."""
    return replace(estimate, strength=round(strength, 3))


def _of_category(category: DistortionCategory, found: ByFlaw) -> Distortion:
    own = [found[flaw] for flaw in _flaws(category)]
    if len(own) == 1:
        return own[0].settled()
    strongest = max(own, key=lambda estimate: (estimate.strength, estimate.probability))
    probability = max(estimate.probability for estimate in own)
    settled = replace(strongest, probability=probability).settled()
    return replace(settled, directions=tuple(estimate.settled() for estimate in own))


def _flaws(category: DistortionCategory) -> Iterator[str]:
    return (flaw for flaw, own in CATEGORY_OF.items() if own == category)
