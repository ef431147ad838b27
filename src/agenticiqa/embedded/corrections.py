"""Every correction of a finding, in one place and in one order; what comes out of it is only read.

The detector and the models of pairs give a `Distortion` per category. After that, and nowhere else, it may change:

of a picture (`of_picture`)
  1. what was enlarged from few pixels counts as blurred too;
  2. a score below Fair with nothing found makes the likeliest distortion a slight one, except in drawings and pages;
  3. compression of a noisy picture needs noise, else it is plain JPEG.
of a pair (`of_pair`)
  4. a pair that lost fine detail and nothing else is soft or enlarged, not compressed or noisy;
  5. the kind the pair shows fills in where the finding has none, and step 3 holds here too.
of a part of a picture (`of_part`)
  6. bokeh and sky are not blur (`in_context`);
  7. a background is no worse than the picture for being soft, and for it the steps end here;
  8. a thing has no stronger cast than the picture, unless it is a face that no skin is coloured like;
  9. its own edges say whether a thing is blurred; a person is as blurred as the face.
for a question (`as_asked`)
  10. whether a background is soft is measured beside the sharpest part, be it a flaw or not;
  11. of a thing that was not found nothing is said of a blur that only some parts have.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agenticiqa.embedded.findings import Look
from agenticiqa.images import LoadedImage
from agenticiqa.limits import BARELY_PRESENT, PRESENT, SLIGHT, SOMETHING_WRONG
from agenticiqa.state import SEVERITIES, LocatedRegion, Region
from agenticiqa.values import Distortion

if TYPE_CHECKING:
    from agenticiqa.embedded.full_reference.judge import FullReferenceJudgement

Findings = tuple[Distortion, ...]


def of_picture(findings: Findings, score: float, *, drawn: bool) -> Findings:
    """The findings of a picture judged by itself (steps 1 to 3); `drawn` is a drawing or a page."""
    findings = softness_counted_as_blur(findings)
    # Of a drawing or a page a low score says nothing that a flaw could explain.
    return compressed_as_it_is(findings if drawn else with_a_reason(findings, score))


def of_pair(findings: Findings, judged: FullReferenceJudgement) -> Findings:
    """The findings of a picture beside its reference (steps 4 and 5)."""
    return compressed_as_it_is(tuple(_with_kind(_as_judged(each, judged), judged.kind) for each in findings))


def of_part(crop: Look, whole: Look, image: LoadedImage, region: Region) -> Look:
    """The look at a part of a picture with its surroundings in mind (steps 6 to 9)."""
    from agenticiqa.embedded.distortions.distortion_detector import in_context
    from agenticiqa.embedded.objects.scene import scene_of
    from agenticiqa.embedded.regions.object_look import (
        behind_a_subject,
        in_the_light_of,
        with_blur_of,
        with_own_sharpness,
        with_skin_colour,
    )
    from agenticiqa.embedded.regions.places import face_in

    look = replace(crop, findings=in_context(crop.findings, whole.findings, image.pixels, region))
    if not isinstance(region, LocatedRegion):
        return look
    if region.kind in ("background", "sky"):
        return behind_a_subject(look, whole)
    if look.against_reference is None:
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
    """The look at what a question names, for that question (steps 10 and 11)."""
    from agenticiqa.embedded.objects.scene import scene_of
    from agenticiqa.embedded.regions.object_look import blur_differs, with_measured_blur
    from agenticiqa.embedded.regions.sharpness import focus_parts

    is_background = isinstance(region, LocatedRegion) and region.kind == "background"
    if is_found and not (asks_softness and is_background):
        return look
    edges = scene_of(image).edges
    parts = focus_parts(edges, image.width, image.height)
    if is_found and region is not None:
        return look if parts is None else with_measured_blur(look, edges, region, parts.sharpest.softness)
    uneven = parts is not None and parts.some_soft >= PRESENT
    if not uneven and not blur_differs(edges, image.width, image.height):
        return look
    return replace(look, findings=tuple(each for each in look.findings if each.category not in ("Blurs", "Sharpness")))


def softness_counted_as_blur(findings: Findings) -> Findings:
    """The findings with blur at least as strong as enlargement: what was enlarged from few pixels is blurred too."""
    enlarged = next((f for f in findings if f.category == "Sharpness" and f.kind == "upscale"), None)
    if enlarged is None:
        return findings
    return tuple(
        replace(
            finding,
            probability=max(finding.probability, enlarged.probability),
            strength=max(finding.strength, enlarged.strength),
        )
        if finding.category == "Blurs"
        else finding
        for finding in findings
    )


def with_a_reason(findings: Findings, score: float) -> Findings:
    """The findings, the likeliest of them slight where none is there although the score says something is wrong."""
    if score >= SOMETHING_WRONG or any(finding.is_present for finding in findings):
        return findings
    likeliest = max(findings, key=lambda finding: finding.strength)
    return tuple(_slight(finding) if finding is likeliest else finding for finding in findings)


def _slight(finding: Distortion) -> Distortion:
    """The finding as barely present; of two directions the likelier one."""
    likelier = max(finding.directions, key=lambda each: each.strength, default=None)
    directions = tuple(_slight(each) if each is likelier else each for each in finding.directions)
    return replace(finding, probability=BARELY_PRESENT, strength=SLIGHT, directions=directions)


def compressed_as_it_is(findings: Findings) -> Findings:
    """The findings in which no picture without noise is called a compressed noisy one."""
    if any(finding.category == "Noise" and finding.is_present for finding in findings):
        return findings
    return tuple(replace(each, kind="jpeg") if each.kind == "noisy_jpeg" else each for each in findings)


def _as_judged(finding: Distortion, judged: FullReferenceJudgement) -> Distortion:
    """The finding of a pair that lost fine detail and nothing else: soft or enlarged, not compressed or noisy."""
    from agenticiqa.embedded.full_reference.changes import measured_softness

    share = measured_softness(judged.features)
    if share < PRESENT:
        return finding
    own = judged.categories.get(finding.category, 0.0)
    if own < PRESENT and finding.category == "Blurs":
        return finding
    if own < PRESENT:
        return replace(finding, probability=min(finding.probability, 1 - share))
    strength = max(finding.strength, float(SEVERITIES.index(judged.severity)))
    return replace(finding, probability=max(finding.probability, own), strength=strength)


def _with_kind(finding: Distortion, kind: str | None) -> Distortion:
    """The finding with the kind the pair shows, where it could not tell one itself."""
    from agenticiqa.embedded.full_reference.changes import category_of

    if finding.kind or kind is None or not finding.is_present or category_of(kind) != finding.category:
        return finding
    return replace(finding, kind=kind)
