"""The shipped perception: the quality model, the distortion model and the full-reference judgement behind one look."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from agenticiqa.cache import Recent
from agenticiqa.embedded.corrections import of_pair, of_part
from agenticiqa.embedded.distortions.distortion_detector import find_changes, find_distortions
from agenticiqa.embedded.findings import Look, Perception
from agenticiqa.embedded.objects.scene import scene_of
from agenticiqa.embedded.quality.quality_model import load_quality_model
from agenticiqa.embedded.regions.object_look import worst_of
from agenticiqa.embedded.regions.places import locate
from agenticiqa.embedded.trunk import Pixels, load_backbone
from agenticiqa.images import LoadedImage
from agenticiqa.limits import CERTAIN, GOOD, SEVERE
from agenticiqa.state import DISTORTION_CATEGORIES, GLOBAL, LocatedRegion, Region
from agenticiqa.tools.calibration import EmbeddedScale
from agenticiqa.values import Distortion, Judgement, level_probabilities
from agenticiqa.weights import WeightSet, weight_set

if TYPE_CHECKING:
    from agenticiqa.embedded.full_reference.pair_preparation import Viewing

# Readings outside these limits mostly go with a flaw of moderate or worse (docs/model-card-distortions.md).
USUAL_READINGS = {
    "noise sigma": (0.0, 28.0), "clipped highlights": (0.0, 25.0), "mean brightness": (27.0, 255.0),
    "JPEG quality": (24.0, 100.0), "blur radius": (0.0, 4.0), "color cast": (0.0, 65.0),
}  # fmt: skip
# Looks that are kept: a question about several places and their surroundings needs about ten.
REMEMBERED = 32
# Half of a 95 % interval in standard errors.
HALF_WIDTH = 1.96
_UNCHANGED = tuple(Distortion(category, 0.0, 0.0) for category in DISTORTION_CATEGORIES)


@lru_cache(maxsize=4)
def shipped_perception(terms: str, viewing: Viewing = "native") -> Perception:
    """The perception for these terms of use and way of viewing, built once, so that all roles share what was seen."""
    return ShippedPerception(weight_set(terms), viewing=viewing)


class ShippedPerception:
    """Loads its models at the first look and looks once at the same pixels, however many tasks ask.

    `pairs` names other weights for the full-reference judgement.
    """

    def __init__(self, weights: WeightSet, pairs: WeightSet | None = None, viewing: Viewing = "native") -> None:
        self._weights = weights
        self._pair_weights = pairs or weights
        self._viewing: Viewing = viewing
        self._looks = Recent[Look](REMEMBERED)

    def look(self, image: LoadedImage, reference: LoadedImage | None = None, region: Region | None = None) -> Look:
        """What the shipped models see; a region is judged with the rest of the picture in mind.

        Of several things named together the worst counts.
        """
        against = None if reference is None else reference.pixels
        key = repr((image.sha256, image.size, reference and reference.sha256, region))
        found = self._looks.get(key)
        if found is None:
            found = self._part(image, reference, region) if region else self._look(image.pixels, against)
            self._looks.put(key, found)
        return found

    def locate(self, image: LoadedImage, name: str) -> Region | None:
        """The box of a place word, or of the thing a name stands for."""
        return None if name == GLOBAL else locate(scene_of(image), name)

    def _part(self, image: LoadedImage, reference: LoadedImage | None, region: Region) -> Look:
        if isinstance(region, LocatedRegion) and region.members:
            return worst_of([self.look(image, reference, member) for member in region.members], region.kind)
        against = None if reference is None else _cut(reference.pixels, region)
        crop = self._look(_cut(image.pixels, region), against, shown_alone=False)
        return of_part(crop, self.look(image, reference), image, region, has_reference=against is not None)

    def _look(self, pixels: Pixels, reference: Pixels | None, *, shown_alone: bool = True) -> Look:
        if reference is not None:
            return self._compare(pixels, reference)
        features = load_backbone().features(pixels)
        judged = load_quality_model(self._weights).judge_features(features, shown_alone=shown_alone)
        quality = Judgement(judged.levels, judged.interval, judged.reason, likely_interval=judged.likely_interval)
        drawn = judged.out_of_domain is not None
        findings = find_distortions(pixels, features, self._weights, drawn=drawn)
        return Look(with_doubt(quality, findings), findings)

    def _compare(self, pixels: Pixels, reference: Pixels) -> Look:
        from agenticiqa.embedded.full_reference.judge import shipped_judge

        judged = shipped_judge(self._pair_weights, self._viewing).judge_pixels(pixels, reference)
        if not judged.features:
            return Look(judged, _UNCHANGED)
        return Look(judged, of_pair(find_changes(pixels, judged.features, self._weights), judged))


def with_doubt(quality: Judgement, findings: tuple[Distortion, ...]) -> Judgement:
    """The judgement as it is, with a note for everything that cannot both be true; nothing is changed for it."""
    notes = []
    severe = [finding for finding in findings if finding.probability >= CERTAIN and finding.strength >= SEVERE]
    if severe and quality.score >= GOOD:
        worst = max(severe, key=lambda finding: finding.strength)
        notes = [f"the score of {quality.score:.2f} and the finding of {worst.severity} {worst.category} disagree"]
    if quality.out_of_domain is None:
        notes += [note for finding in findings if not finding.disturbs for note in _doubts(finding)]
    return replace(quality, notes=(*quality.notes, *(f"doubtful: {note}" for note in notes)))


def _doubts(finding: Distortion) -> Iterator[str]:
    """The readings of a finding that hardly any photograph without the flaw has."""
    for reading in finding.readings:
        least, most = USUAL_READINGS.get(reading.name, (-math.inf, math.inf))
        if not least <= reading.value <= most:
            told = f"{reading.name} {reading.value:g} {reading.unit}".strip()
            yield f"{told} was measured, and the finding is {finding.severity} {finding.category}"


def _cut(pixels: Pixels, region: Region) -> Pixels:
    return np.ascontiguousarray(pixels[region.top : region.bottom, region.left : region.right])


class RecalibratedPerception:
    """Sees what the perception inside sees; scores and intervals follow the scales, by reference mode."""

    def __init__(self, perception: Perception, scales: Mapping[str, EmbeddedScale]) -> None:
        self._perception = perception
        self._scales = scales

    def look(self, image: LoadedImage, reference: LoadedImage | None = None, region: Region | None = None) -> Look:
        """The look with its judgements on the user's scale."""
        seen = self._perception.look(image, reference, region)
        scale = self._scales.get("No-Reference" if reference is None else "Full-Reference")
        if scale is None:
            return seen
        judged = seen.quality
        score, interval = scale.apply(judged.score, judged.interval)
        _, likely = scale.apply(judged.score, judged.likely_interval)
        low, high = interval or (score, score)
        levels = level_probabilities(score, (high - low) / (2 * HALF_WIDTH))
        return replace(seen, quality=replace(judged, levels=levels, interval=interval, likely_interval=likely))

    def locate(self, image: LoadedImage, name: str) -> Region | None:
        """The place, as the perception inside finds it."""
        return self._perception.locate(image, name)
