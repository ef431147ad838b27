"""The colour of a face beside the colours human skin has.

Skin of every complexion lies in one sector of hues, from pink to yellowish brown; light and dark differ in lightness. A
face whose colour lies outside the sector by more than a viewer overlooks, or that is more colourful than any skin, was
changed by the light, the white balance or an edit. Distances are those of CIE Lab.
"""

from __future__ import annotations

import math
from dataclasses import replace

import cv2
import numpy as np
import numpy.typing as npt

from agenticiqa.embedded.findings import Look
from agenticiqa.state import Region
from agenticiqa.values import Distortion, Reading

Pixels = npt.NDArray[np.uint8]

# Hues of skin in degrees, and the most colourful it is. Of 65 faces in photographs without a striking light none is
# as far outside as the first of the strengths below; their colours under made casts are (docs/objects.md).
PINK, YELLOWISH, MOST_COLOURFUL = 5.0, 85.0, 50.0
# Strength of the flaw by the distance from the sector.
STRENGTHS = ((3.0, 10.0, 20.0, 35.0, 60.0), (0.7, 1.6, 2.3, 3.0, 3.7))
# The part of the box that is skin, the darkest lightness with a colour, and the fewest pixels to tell.
INNER, DARKEST, CLIPPED, FEWEST = 0.6, 15.0, 250, 50
_NAMES = ((22, "red"), (60, "orange"), (100, "yellow"), (165, "green"), (220, "cyan"), (310, "blue"), (345, "magenta"))


def with_skin_colour(look: Look, pixels: Pixels, face: Region) -> Look:
    """The look at a face, its colour a flaw where no human skin has it."""
    found = skin_colour(pixels, face)
    if found is None:
        return look
    hue, colourful = found
    off = _distance(hue, colourful)
    if off < STRENGTHS[0][0]:
        return look
    findings = tuple(_off(each, hue, off) if each.category == "Color distortions" else each for each in look.findings)
    return replace(look, findings=findings)


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
    strength = max(finding.strength, float(np.interp(off, *STRENGTHS)))
    name = next((name for upto, name in _NAMES if hue % 360 < upto), "red")
    return replace(
        finding,
        probability=round(max(finding.probability, 1 / (1 + math.exp(-(off - 2.0) / 2.0))), 3),
        strength=round(strength, 3),
        kind="color_cast",
        colour=name,
        readings=(Reading("skin hue", round(hue), "degrees"), *finding.readings),
    )
