"""The regions of an assessment: where each named thing is, what it is, and how good it is there."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image
from pydantic import Field

from agenticiqa.errors import AgenticIQAError
from agenticiqa.images import LoadedImage
from agenticiqa.outputs import replacing
from agenticiqa.state import DistortionCategory, LocatedRegion, Record, Region, Severity

if TYPE_CHECKING:
    from agenticiqa.embedded.findings import Look, Perception

logger = logging.getLogger("agenticiqa.assessor")

# What no file name needs.
_NO_WORD = re.compile(r"[^\w-]+")


class RegionFinding(Record):
    """One distortion of a region, how strong and how certain."""

    type: DistortionCategory
    severity: Severity
    probability: float


class AssessedRegion(Record, Region):
    """A box in pixels of the upright image, the class of what is in it, and its quality with its surroundings in mind.

    `class_name` and `confidence` are None for a place such as "top left". `findings` lists what is there; `score` and
    `findings` are None where the region could not be judged.
    """

    class_name: str | None = None
    confidence: float | None = None
    score: float | None = Field(default=None, description="1 (bad) to 5 (excellent)")
    interval: tuple[float, float] | None = None
    findings: list[RegionFinding] | None = None

    @property
    def box(self) -> tuple[int, int, int, int]:
        """Left, top, right and bottom."""
        return self.left, self.top, self.right, self.bottom


def assess_regions(
    image: LoadedImage,
    reference: LoadedImage | None,
    located: Mapping[str, Region | None],
    wanted: Iterable[str],
    terms: str,
) -> dict[str, AssessedRegion | None]:
    """Every located region judged, and the wanted ones located first; None for a thing that is not found.

    Of several things named together ("cars") each is judged besides: "cars 1", "cars 2" and so on, from the left.
    """
    from agenticiqa.embedded.combined_models import shipped_perception

    perception = shipped_perception(terms)
    places = {name: located.get(name) or perception.locate(image, name) for name in dict.fromkeys([*located, *wanted])}
    regions = {
        name: _assessed(perception, image, reference, region) if region else None for name, region in places.items()
    }
    for name, region in places.items():
        members = region.members if isinstance(region, LocatedRegion) else ()
        for number, member in enumerate(sorted(members, key=lambda each: each.left), 1):
            regions[f"{name} {number}"] = _assessed(perception, image, reference, member)
    return regions


def whole_findings(image: LoadedImage, reference: LoadedImage | None, terms: str) -> list[RegionFinding]:
    """The distortions of the whole image that are told; raises AgenticIQAError where it cannot be judged."""
    from agenticiqa.embedded.combined_models import shipped_perception

    return _present_findings(shipped_perception(terms).look(image, reference))


def write_crops(
    image: LoadedImage, regions: Mapping[str, AssessedRegion | None], folder: Path, stem: str
) -> list[Path]:
    """Writes each region's pixels as `STEM-NAME.png` and returns the files."""
    folder.mkdir(parents=True, exist_ok=True)
    files = crop_files(regions, folder, stem)
    for name, path in files.items():
        region = regions[name]
        assert region is not None
        with replacing(path) as spare:
            Image.fromarray(image.pixels).crop(region.box).save(spare, "PNG")
    return list(files.values())


def crop_files(regions: Mapping[str, AssessedRegion | None], folder: Path, stem: str) -> dict[str, Path]:
    """The file of each region that was found; what a name holds besides letters and digits becomes an underscore."""
    found = [name for name, region in regions.items() if region is not None]
    return {name: folder / f"{stem}-{_NO_WORD.sub('_', name)}.png" for name in found}


def draw_regions(image: LoadedImage, regions: Mapping[str, AssessedRegion | None]) -> bytes:
    """The image as PNG with every region framed and named."""
    from agenticiqa.embedded.overlay import draw_overlay

    return draw_overlay(image.pixels, None, {name: region for name, region in regions.items() if region is not None})


def _assessed(
    perception: Perception, image: LoadedImage, reference: LoadedImage | None, region: Region
) -> AssessedRegion:
    box = {"left": region.left, "top": region.top, "right": region.right, "bottom": region.bottom}
    what = {"class_name": region.kind, "confidence": region.confidence} if isinstance(region, LocatedRegion) else {}
    try:
        look = perception.look(image, reference, region)
    except AgenticIQAError as error:
        logger.warning("a region could not be judged: %s", error)
        return AssessedRegion.model_validate({**box, **what})
    quality = {"score": round(look.quality.score, 4), "interval": look.quality.interval}
    return AssessedRegion.model_validate({**box, **what, **quality, "findings": _present_findings(look)})


def _present_findings(look: Look) -> list[RegionFinding]:
    return [
        RegionFinding(type=each.category, severity=each.severity, probability=round(each.probability, 3))
        for each in sorted(look.findings, key=lambda each: -each.weight)
        if each.is_present
    ]
