"""The shipped eyes: the quality model, the distortion model and the full-reference judgement behind one look."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from agenticiqa.images import LoadedImage
from agenticiqa.perception.eyes import Eyes, Finding, Judgement, Look, RememberingEyes
from agenticiqa.state import LEVEL_LETTERS, Region

Pixels = NDArray[np.uint8]
Weights = Literal["research", "open"]


@lru_cache(maxsize=2)
def shipped_eyes(terms: str) -> Eyes:
    """The eyes for these terms of use, one pair per process, so that all roles share what was seen."""
    return RememberingEyes(ShippedEyes("open" if terms == "commercial" else "research"))


class ShippedEyes:
    """Eyes whose models are loaded at the first look."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights

    def look(self, image: LoadedImage, reference: LoadedImage | None = None, region: Region | None = None) -> Look:
        """What the shipped models see; a region is judged with the rest of the picture in mind."""
        from agenticiqa.perception.distortions import in_context

        whole = self._look(image.pixels, None if reference is None else reference.pixels)
        if region is None:
            return whole
        crop = self._look(_cut(image.pixels, region), None if reference is None else _cut(reference.pixels, region))
        findings = in_context(crop.findings, whole.findings, image.pixels, region)
        return Look(crop.quality, findings, crop.against_reference, region)

    def locate(self, image: LoadedImage, name: str) -> Region | None:
        """The box of a place word or a face."""
        from agenticiqa.perception.regions import locate

        return locate(image.pixels, name)

    def _look(self, pixels: Pixels, reference: Pixels | None) -> Look:
        from agenticiqa.backbone.features import load_backbone
        from agenticiqa.perception.distortions import find_distortions
        from agenticiqa.perception.quality import load_quality_model

        features = load_backbone().features(pixels)
        judged = load_quality_model(self._weights).judge_features(features, (pixels.shape[0], pixels.shape[1]))
        quality = Judgement(_by_letter(judged.probabilities), judged.interval, judged.reason)
        if reference is None:
            return Look(quality, find_distortions(pixels, features, self._weights), None, judged.worst_region)
        findings, against = self._compare(pixels, reference)
        return Look(quality, findings, against, judged.worst_region)

    def _compare(self, pixels: Pixels, reference: Pixels) -> tuple[tuple[Finding, ...], Judgement]:
        raise NotImplementedError


def _by_letter(probabilities: tuple[float, ...]) -> dict[Literal["A", "B", "C", "D", "E"], float]:
    """Probabilities of levels 1 to 5 under their letters, the best first."""
    return dict(zip(LEVEL_LETTERS, reversed(probabilities), strict=True))


def _cut(pixels: Pixels, region: Region) -> Pixels:
    return np.ascontiguousarray(pixels[region.top : region.bottom, region.left : region.right])
