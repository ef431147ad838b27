"""Eyes whose overall judgement is read on a user's own scale."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from agenticiqa.images import LoadedImage
from agenticiqa.perception.eyes import Eyes, Judgement, Look
from agenticiqa.perception.quality_levels import level_probabilities
from agenticiqa.state import LEVEL_LETTERS, Region
from agenticiqa.tools.calibration import EmbeddedScale

# Half of a 95 % interval in standard errors.
_HALF_WIDTH = 1.96


class RecalibratedEyes:
    """Sees what the eyes inside see; scores and intervals follow the scales, by reference mode."""

    def __init__(self, eyes: Eyes, scales: Mapping[str, EmbeddedScale]) -> None:
        self._eyes = eyes
        self._scales = scales

    def look(self, image: LoadedImage, reference: LoadedImage | None = None, region: Region | None = None) -> Look:
        """The look with its judgements on the user's scale."""
        seen = self._eyes.look(image, reference, region)
        alone, pair = self._scales.get("No-Reference"), self._scales.get("Full-Reference")
        quality = recalibrated(seen.quality, alone) if alone else seen.quality
        against = seen.against_reference
        return replace(
            seen, quality=quality, against_reference=recalibrated(against, pair) if against and pair else against
        )

    def locate(self, image: LoadedImage, name: str) -> Region | None:
        """The place, as the eyes inside find it."""
        return self._eyes.locate(image, name)


def recalibrated(judgement: Judgement, scale: EmbeddedScale) -> Judgement:
    """The judgement with score, levels and interval on the user's scale."""
    score, interval = scale.apply(judgement.score, judgement.interval)
    low, high = interval or (score, score)
    shares = level_probabilities(score, (high - low) / (2 * _HALF_WIDTH))
    return replace(judgement, levels=dict(zip(LEVEL_LETTERS, reversed(shares), strict=True)), interval=interval)
