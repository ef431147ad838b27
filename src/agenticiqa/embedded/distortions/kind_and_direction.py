"""Which way and of which kind a flaw of a photograph is: under-exposed, out of focus, a yellow cast, grain.

It gets the kind of `tools.synthetic.kinds` that looks like it, where there is one, and of a cast the colour.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

Traces = Mapping[str, float]
# Hue angles of CIE Lab at which a colour's name begins, in degrees.
HUE_NAMES = (
    (-20, "red"), (45, "orange"), (75, "yellow"), (105, "green"), (170, "cyan"), (235, "blue"), (303, "violet"),
    (318, "magenta"),
)  # fmt: skip
# A mean colour this far from grey, in Lab units, is a cast; so is this colour of what should be grey.
CAST, CAST_OF_GREYS = 10.0, 7.0
# Chroma of half the picture that is vivid, and of its most colourful part that is faded.
VIVID, FADED = 38.0, 14.0
# The range of lightness, of 100, beyond which contrast that disturbs is hard and not flat.
WIDE_RANGE = 80.0
# Coarse against fine structure of calm parts, as a logarithm, from which grain has run into blotches.
BLOTCHY = 0.25


@dataclass(frozen=True)
class Manner:
    """The kind of damage that looks like it, if any, and of a cast its colour."""

    kind: str | None
    colour: str | None = None


BLURS = {
    "defocus": Manner("defocus_blur"),
    "motion": Manner("motion_blur"),
    "soft": Manner("gaussian_blur"),
}
UNDER_EXPOSED, OVER_EXPOSED = Manner("darken"), Manner("brighten")
JPEG_FILE = Manner("jpeg")
OVER_SHARPENED = Manner("over_sharpen")


def blur_manner(shares: Mapping[str, float]) -> Manner:
    """The likeliest kind of blur."""
    return BLURS[max(shares, key=lambda name: shares[name])]


def colour_manner(traces: Traces) -> Manner:
    """A cast with its colour, else colours that are too strong or too weak."""
    red, yellow = traces["cast.red"], traces["cast.yellow"]
    greys = math.hypot(traces["cast.greys_red"], traces["cast.greys_yellow"])
    if traces["cast.size"] >= CAST or greys >= CAST_OF_GREYS:
        return Manner("color_cast", hue_name(red, yellow))
    if traces["chroma.95"] <= FADED:
        return Manner("saturation_down")
    return Manner("saturation_up" if traces["chroma.75"] >= VIVID else None)


def hue_name(red: float, yellow: float) -> str:
    """The name of a colour by its direction in Lab (a towards red, b towards yellow)."""
    angle = math.degrees(math.atan2(yellow, red))
    angle += 360 if angle < HUE_NAMES[0][0] else 0
    return [name for start, name in HUE_NAMES if angle >= start][-1]


def contrast_manner(traces: Traces) -> Manner:
    """Flat or hard, by the range the tones fill."""
    if traces["light.98"] - traces["light.2"] >= WIDE_RANGE:
        return Manner("contrast_up")
    return Manner("contrast_down")


def noise_manner(traces: Traces) -> Manner:
    """Grain of single pixels, or the blotches denoising leaves."""
    if traces["blotches.luma"] - traces["blotches.luma_fine"] >= BLOTCHY:
        return Manner("correlated_noise")
    return Manner("white_noise")


def coding_manner(traces: Traces) -> Manner:
    """Blocks of a JPEG file, or coding whose file left no trace."""
    return JPEG_FILE if traces["tile.jpeg_quality"] < 99 else Manner(None)
