"""Corrections of a finding by what is known beside it, in one order; what comes out of it is only read.

What is found in a whole picture is what the detector says, and nothing here touches it. The other findings may change:

of a pair (`of_pair`)
  1. a pair that lost fine detail and nothing else is soft or enlarged, not compressed or noisy;
  2. the kind the pair shows fills in where the finding has none, and compression of a noisy picture needs noise.
of a part of a picture (`of_part`)
  3. bokeh and sky are not blur (`in_context`);
  4. a background is no worse than the picture for being soft, and for it the steps end here;
  5. a thing has no stronger cast than the picture, unless it is a face that no skin is coloured like;
  6. its own edges say whether a thing is blurred; a person is as blurred as the face.
for a question (`as_asked`)
  7. whether a background is soft is measured beside the sharpest part, be it a flaw or not;
  8. of a thing that was not found nothing is said of a blur that only some parts have.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agenticiqa.embedded.distortions.distortion_detector import in_context
from agenticiqa.embedded.findings import Look
from agenticiqa.embedded.objects.scene import scene_of
from agenticiqa.embedded.regions.object_look import (
    behind_a_subject,
    in_the_light_of,
    with_blur_of,
    with_measured_blur,
    with_own_sharpness,
    with_skin_colour,
)
from agenticiqa.embedded.regions.places import face_in
from agenticiqa.embedded.regions.sharpness import focus_parts
from agenticiqa.images import LoadedImage
from agenticiqa.limits import PRESENT
from agenticiqa.state import SEVERITIES, LocatedRegion, Region
from agenticiqa.values import Distortion

if TYPE_CHECKING:
    from agenticiqa.embedded.full_reference.judge import PairJudgement

Findings = tuple[Distortion, ...]


def of_pair(findings: Findings, judged: PairJudgement) -> Findings:
    """The findings of a picture beside its reference (steps 1 and 2)."""
    return compressed_as_it_is(tuple(_with_kind(_as_judged(each, judged), judged) for each in findings))


def of_part(crop: Look, whole: Look, image: LoadedImage, region: Region, *, has_reference: bool) -> Look:
    """The look at a part of a picture with its surroundings in mind (steps 3 to 6)."""
    look = replace(crop, findings=in_context(crop.findings, whole.findings, image.pixels, region))
    if not isinstance(region, LocatedRegion):
        return look
    if region.kind in ("background", "sky"):
        return behind_a_subject(look, whole)
    if not has_reference:
        look = in_the_light_of(look, whole)
    if region.kind == "face":
        look = with_skin_colour(look, image.pixels, region)
    scene = scene_of(image)
    own = with_own_sharpness(look, whole, scene.edges, region, image.pixels)
    face = face_in(scene, region, *image.size) if region.kind == "person" else None
    if face is None:
        return own
    return with_blur_of(own, with_own_sharpness(look, whole, scene.edges, face, image.pixels))


def as_asked(look: Look, image: LoadedImage, region: Region | None, *, asks_softness: bool, is_found: bool) -> Look:
    """The look at what a question names, for that question (steps 7 and 8)."""
    is_background = isinstance(region, LocatedRegion) and region.kind == "background"
    if is_found and not (asks_softness and is_background):
        return look
    edges = scene_of(image).edges
    parts = focus_parts(edges, image.width, image.height)
    if is_found and region is not None:
        return look if parts is None else with_measured_blur(look, edges, region, parts.sharpest.softness)
    if parts is None or parts.some_soft < PRESENT:
        return look
    return replace(look, findings=tuple(each for each in look.findings if each.category not in ("Blurs", "Sharpness")))


def compressed_as_it_is(findings: Findings) -> Findings:
    """The findings in which no picture without noise is called a compressed noisy one."""
    if any(finding.category == "Noise" and finding.is_present for finding in findings):
        return findings
    return tuple(replace(each, kind="jpeg") if each.kind == "noisy_jpeg" else each for each in findings)


def _as_judged(finding: Distortion, judged: PairJudgement) -> Distortion:
    """The finding of a pair that lost fine detail and nothing else: soft or enlarged, not compressed or noisy."""
    share = judged.softness
    if share < PRESENT:
        return finding
    own = judged.categories.get(finding.category, 0.0)
    if own < PRESENT and finding.category == "Blurs":
        return finding
    if own < PRESENT:
        return replace(finding, probability=min(finding.probability, 1 - share))
    strength = max(finding.strength, float(SEVERITIES.index(judged.severity)))
    return replace(finding, probability=max(finding.probability, own), strength=strength)


def _with_kind(finding: Distortion, judged: PairJudgement) -> Distortion:
    """The finding with the kind the pair shows, where it could not tell one itself."""
    is_told = finding.kind or not finding.is_present or judged.category != finding.category
    return finding if is_told else replace(finding, kind=judged.kind)
