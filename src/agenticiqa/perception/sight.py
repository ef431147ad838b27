"""The shipped eyes: the quality model, the distortion model and the full-reference judgement behind one look."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from agenticiqa.images import LoadedImage
from agenticiqa.perception.eyes import Eyes, Finding, Judgement, Look, RememberingEyes
from agenticiqa.state import DISTORTION_CATEGORIES, LEVEL_LETTERS, SEVERITIES, LevelLetter, Region

Pixels = NDArray[np.uint8]
Weights = Literal["research", "open"]
_UNCHANGED = tuple(Finding(category, 0.0, "none") for category in DISTORTION_CATEGORIES)


@lru_cache(maxsize=2)
def shipped_eyes(terms: str) -> Eyes:
    """The eyes for these terms of use, one pair per process, so that all roles share what was seen."""
    return RememberingEyes(ShippedEyes("open" if terms == "commercial" else "research"))


class ShippedEyes:
    """Eyes whose models are loaded at the first look; `pairs` names other weights for the full-reference judgement."""

    def __init__(self, weights: Weights, pairs: Weights | None = None) -> None:
        self._weights = weights
        self._pair_weights = pairs or weights
        self._last: tuple[tuple[object, ...], Look] | None = None

    def look(self, image: LoadedImage, reference: LoadedImage | None = None, region: Region | None = None) -> Look:
        """What the shipped models see; a region is judged with the rest of the picture in mind."""
        from agenticiqa.perception.distortions import in_context

        whole = self._whole(image, reference)
        if region is None:
            return replace(whole, findings=tuple(map(settled, whole.findings)))
        crop = self._look(_cut(image.pixels, region), None if reference is None else _cut(reference.pixels, region))
        findings = in_context(crop.findings, whole.findings, image.pixels, region)
        return replace(crop, findings=tuple(map(settled, findings)))

    def locate(self, image: LoadedImage, name: str) -> Region | None:
        """The box of a place word or a face."""
        from agenticiqa.perception.regions import locate

        return locate(image.pixels, name)

    def _whole(self, image: LoadedImage, reference: LoadedImage | None) -> Look:
        # Several places of one image are looked at one after the other, each with the same surroundings.
        key = (image.sha256, image.size, reference.sha256 if reference else None)
        last = self._last
        if last is None or last[0] != key:
            last = self._last = (key, self._look(image.pixels, None if reference is None else reference.pixels))
        return last[1]

    def _look(self, pixels: Pixels, reference: Pixels | None) -> Look:
        from agenticiqa.backbone.features import load_backbone
        from agenticiqa.perception.distortions import find_distortions
        from agenticiqa.perception.quality import load_quality_model

        features = load_backbone().features(pixels)
        judged = load_quality_model(self._weights).judge_features(features, (pixels.shape[0], pixels.shape[1]))
        quality = Judgement(_by_letter(judged.probabilities), judged.interval, judged.reason)
        if reference is None:
            findings = softness_counted_as_blur(find_distortions(pixels, features, self._weights))
            return Look(quality, findings)
        findings, against = self._compare(pixels, reference)
        return Look(quality, findings, against)

    def _compare(self, pixels: Pixels, reference: Pixels) -> tuple[tuple[Finding, ...], Judgement]:
        from agenticiqa.perception.distortions import find_changes
        from agenticiqa.perception.full_reference import shipped_judge

        judged = shipped_judge(self._pair_weights).judge_pixels(pixels, reference)
        if not judged.features:
            return _UNCHANGED, judged.for_eyes()
        findings = find_changes(pixels, judged.features, self._weights)
        return tuple(_with_kind(finding, judged.kind) for finding in findings), judged.for_eyes()


def settled(finding: Finding) -> Finding:
    """The finding with the severity "none" when it is more likely absent, so that word and probability agree."""
    return finding if finding.probability >= 0.5 else replace(finding, severity="none", kind=None)


def softness_counted_as_blur(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """The findings with blur at least as strong as enlargement: what was enlarged from few pixels is blurred too."""
    enlarged = next((f for f in findings if f.category == "Sharpness" and f.kind == "upscale"), None)
    if enlarged is None:
        return findings
    return tuple(
        replace(
            finding,
            probability=max(finding.probability, enlarged.probability),
            strength=max(finding.position, enlarged.position),
            severity=max(finding.severity, enlarged.severity, key=SEVERITIES.index),
        )
        if finding.category == "Blurs"
        else finding
        for finding in findings
    )


def _with_kind(finding: Finding, kind: str | None) -> Finding:
    """The finding with the kind the pair shows, where it could not tell one itself."""
    from agenticiqa.tools.distort import KINDS

    if finding.kind or kind is None or finding.severity == "none" or KINDS[kind].category != finding.category:
        return finding
    return replace(finding, kind=kind)


def _by_letter(probabilities: tuple[float, ...]) -> dict[LevelLetter, float]:
    """Probabilities of levels 1 to 5 under their letters, the best first."""
    return dict(zip(LEVEL_LETTERS, reversed(probabilities), strict=True))


def _cut(pixels: Pixels, region: Region) -> Pixels:
    return np.ascontiguousarray(pixels[region.top : region.bottom, region.left : region.right])
