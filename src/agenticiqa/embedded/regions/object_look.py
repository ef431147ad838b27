"""A look at an object with its surroundings in mind.

Whether an object is blurred is told by its own edges beside the rest of the picture, not by the model of whole
pictures: a small crop of a sharp thing has few edges, and a blurred thing in a sharp picture is a small crop. Of a
face its sharper edges count, at its own size: skin is smooth in the sharpest portrait, eyes and lips are not. Its
score follows: what is blurred where the rest is sharp is worse than the picture, a blurred face worst of all, and a
soft background behind a sharp subject is as good as the picture.

The colour of a face is held beside those human skin has. Skin of every complexion lies in one sector of hues, from pink
to yellowish brown; light and dark differ in lightness. A face outside it by more than a viewer overlooks, or more
colourful than any skin, was changed by the light, the white balance or an edit. Distances are those of CIE Lab.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np

from agenticiqa.embedded.distortions.hues import hue_name
from agenticiqa.embedded.findings import Look
from agenticiqa.embedded.regions.sharpness import EdgeMap, Softness, face_softness
from agenticiqa.embedded.trunk import Pixels
from agenticiqa.limits import BLURRED, BLURRED_FACE, IN_FOCUS, SOFT_BACKGROUND, TIMES_SOFTER
from agenticiqa.state import LocatedRegion, Region
from agenticiqa.values import Distortion, Judgement, Reading, level_probabilities

Steps = tuple[tuple[float, ...], tuple[float, ...]]

# How far the softness from which a thing is blurred is in doubt, of a thing and of a face at its own size.
DOUBT, FACE_DOUBT = 0.12, 0.06
# Strength of the blur by the softness of the edges, in pixels at working size.
STRENGTHS = ((1.25, 2.0, 3.0, 4.0, 6.0), (1.8, 2.4, 2.9, 3.4, 3.8))
# The same for the sharper edges of a face at its own size (docs/objects.md has the faces they were chosen on).
FACE_STRENGTHS = ((1.1, 1.4, 2.0, 3.0, 4.0, 6.0), (0.7, 1.6, 2.3, 2.9, 3.4, 3.8))
# What each step of blur costs an object in a picture that is sharper than it, and a face besides.
LOSS_PER_STEP, LOSS_OF_A_FACE = 0.35, 0.5
LOOKED_AT_FIRST = ("face", "eyes")
NARROWEST = 0.25


@dataclass(frozen=True)
class _Verdict:
    """How soft something is, how likely it is blurred and how strongly; neither in focus nor blurred leaves it open."""

    softness: float
    likely: float
    strength: float
    in_focus: bool
    blurred: bool


def with_own_sharpness(look: Look, whole: Look, edges: EdgeMap, region: LocatedRegion, pixels: Pixels) -> Look:
    """The look at an object's crop with its blur and score as its edges and the rest of the picture tell them."""
    own, rest = edges.within(region), edges.outside(region)
    verdict = _verdict(own, region, pixels)
    if verdict is None:
        return look
    seen = look.changed("Blurs", lambda blur: _blur(blur, verdict))
    blur = seen.finding("Blurs")
    if blur is None or not blur.is_present or not verdict.blurred:
        return seen
    # The rest may be mostly soft too; it is enough that some of it is sharper.
    sharper = rest is not None and own is not None and rest.sharp < own.typical / 1.3
    score = min(look.quality.score, whole.quality.score)
    if sharper:
        score -= LOSS_PER_STEP * blur.strength + (LOSS_OF_A_FACE if region.kind in LOOKED_AT_FIRST else 0.0)
    return replace(seen, quality=moved(look.quality, score))


def _verdict(own: Softness | None, region: LocatedRegion, pixels: Pixels) -> _Verdict | None:
    """What the edges say of an object; of a face at its own size. None where there are too few."""
    face = face_softness(pixels, region) if region.kind in LOOKED_AT_FIRST else None
    if face is not None:
        return _judged(face.sharp, BLURRED_FACE, FACE_DOUBT, FACE_STRENGTHS)
    return None if own is None else _judged(own.typical, BLURRED, DOUBT, STRENGTHS)


def _judged(softness: float, blurred: float, doubt: float, strengths: Steps) -> _Verdict:
    likely = 1 / (1 + math.exp(-(softness - (IN_FOCUS + blurred) / 2) / doubt))
    return _Verdict(softness, likely, float(np.interp(softness, *strengths)), softness < IN_FOCUS, softness >= blurred)


def with_blur_of(look: Look, face: Look) -> Look:
    """The look at a person, as blurred as the face at least: who has a soft face is not in focus."""
    own, of_face = look.finding("Blurs"), face.finding("Blurs")
    if own is None or of_face is None or of_face.weight <= own.weight:
        return look
    worse = min(look.quality, face.quality, key=lambda each: each.score)
    return replace(look.changed("Blurs", lambda _: of_face), quality=worse)


def in_the_light_of(look: Look, whole: Look) -> Look:
    """The look at a thing, with no stronger cast than the picture has: its own color says nothing of the light."""
    own, around = look.finding("Color distortions"), whole.finding("Color distortions")
    if own is None or around is None or own.strength <= around.strength:
        return look
    return look.changed("Color distortions", lambda own: replace(around, readings=own.readings))


def worst_of(looks: Sequence[Look], kind: str) -> Look:
    """One look at several things of a class: each flaw where it is worst, and the lowest score."""
    findings = tuple(
        max((look.findings[number] for look in looks), key=lambda each: (each.is_present, each.weight))
        for number in range(len(looks[0].findings))
    )
    blurred = sum(blur is not None and blur.is_present for blur in (look.finding("Blurs") for look in looks))
    note = f"{kind}: {len(looks)} found, {blurred} of them blurred; of each flaw the worst one counts"
    worst = min(looks, key=lambda look: look.quality.score)
    quality = replace(worst.quality, notes=(*worst.quality.notes, note))
    return replace(worst, findings=findings, quality=quality)


def behind_a_subject(look: Look, whole: Look) -> Look:
    """The look at a background: where its softness is no flaw, it is no worse than the picture for being soft."""
    blur = look.finding("Blurs")
    if (blur is not None and blur.is_present) or look.quality.score >= whole.quality.score:
        return look
    return replace(look, quality=moved(look.quality, whole.quality.score))


def with_measured_blur(look: Look, edges: EdgeMap, region: Region, sharpest: float) -> Look:
    """The look at a background with its blur beside the sharpest part, whether that is a flaw or not."""
    own = edges.inside(region)
    if own is None:
        return look
    softer = own.typical >= TIMES_SOFTER * sharpest
    verdict = _judged(own.typical, SOFT_BACKGROUND if softer else BLURRED, DOUBT, FACE_STRENGTHS)
    return look.changed("Blurs", lambda blur: _blur(blur, verdict))


def moved(judgement: Judgement, score: float) -> Judgement:
    """The judgement at another score, as uncertain as it was."""
    score = min(5.0, max(1.0, score))
    low, high = judgement.interval or (judgement.score - 0.5, judgement.score + 0.5)
    spread = max(NARROWEST, (high - low) / 3.92)
    interval, likely = ((max(1.0, score - reach * spread), min(5.0, score + reach * spread)) for reach in (1.96, 1.28))
    return replace(judgement, levels=level_probabilities(score, spread), interval=interval, likely_interval=likely)


def _blur(finding: Distortion, verdict: _Verdict) -> Distortion:
    """The finding of blur as the edges tell it; where they leave it open, as the model saw it."""
    # The radius told is that of the object's edges, which the verdict rests on, not of its crop.
    softness = round(verdict.softness, 3)
    readings = (replace(each, value=softness) if each.name == "blur radius" else each for each in finding.readings)
    finding = replace(finding, readings=tuple(readings))
    probability, strength = finding.probability, finding.strength
    if verdict.blurred:
        probability, strength = max(probability, verdict.likely), max(strength, verdict.strength)
    elif verdict.in_focus:
        probability, strength = min(probability, verdict.likely), 0.0
    return replace(finding, probability=round(probability, 3), strength=round(strength, 3))


# Hues of skin in degrees, and the most colourful it is. Of 65 faces in photographs without a striking light none is
# as far outside as the first of the strengths below; their colours under made casts are (docs/objects.md).
PINK, YELLOWISH, MOST_COLOURFUL = 5.0, 85.0, 50.0
# Strength of the flaw by the distance from the sector.
SKIN_STRENGTHS = ((3.0, 10.0, 20.0, 35.0, 60.0), (0.7, 1.6, 2.3, 3.0, 3.7))
# The part of the box that is skin, the darkest lightness with a colour, and the fewest pixels to tell.
INNER, DARKEST, CLIPPED, FEWEST = 0.6, 15.0, 250, 50


def with_skin_colour(look: Look, pixels: Pixels, face: Region) -> Look:
    """The look at a face, its colour a flaw where no human skin has it."""
    found = skin_colour(pixels, face)
    if found is None:
        return look
    hue, colourful = found
    off = _distance(hue, colourful)
    if off < SKIN_STRENGTHS[0][0]:
        return look
    return look.changed("Color distortions", lambda colour: _off(colour, hue, off))


def skin_colour(pixels: Pixels, face: Region) -> tuple[float, float] | None:
    """Hue in degrees and chroma of the middle of a face; None where it is too dark or burnt out to have a colour."""
    crop = pixels[face.top : face.bottom, face.left : face.right]
    high, wide = crop.shape[:2]
    rows, columns = np.mgrid[:high, :wide]
    middle = np.hypot((columns + 0.5) / wide * 2 - 1, (rows + 0.5) / high * 2 - 1) <= INNER
    skin = crop[middle]
    lab = cv2.cvtColor(skin[None].astype(np.float32) / 255, cv2.COLOR_RGB2LAB)[0]
    usable = (lab[:, 0] > DARKEST) & (skin.max(axis=1) < CLIPPED)
    if usable.sum() < FEWEST:
        return None
    _, a, b = np.median(lab[usable], axis=0)
    return math.degrees(math.atan2(float(b), float(a))), math.hypot(float(a), float(b))


def _distance(hue: float, colourful: float) -> float:
    """How far a colour lies from those of skin."""
    outside = max(PINK - hue, hue - YELLOWISH, 0.0)
    outside = min(outside, 360 - (YELLOWISH - PINK) - outside) if outside else 0.0
    return max(colourful * math.sin(math.radians(min(outside, 90.0))), colourful - MOST_COLOURFUL)


def _off(finding: Distortion, hue: float, off: float) -> Distortion:
    strength = max(finding.strength, float(np.interp(off, *SKIN_STRENGTHS)))
    return replace(
        finding,
        probability=round(max(finding.probability, 1 / (1 + math.exp(-(off - 2.0) / 2.0))), 3),
        strength=round(strength, 3),
        kind="color_cast",
        colour=hue_name(math.cos(math.radians(hue)), math.sin(math.radians(hue))),
        readings=(Reading("skin hue", round(hue), "degrees"), *finding.readings),
    )
