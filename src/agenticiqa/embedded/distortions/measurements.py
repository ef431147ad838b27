"""The measurements behind a finding, in units a person knows.

Noise, JPEG quality, blur and banding are measured on nine tiles spread over the whole picture (`tiles.py`): blur where
the working size shows it, the rest at the file's own resolution, so that large files cost no more than small ones.
Tones and colours are measured on a thinned picture.
"""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from agenticiqa.embedded.distortions.tile_features import SMALLEST_SIDE, Tiles, cut_tiles
from agenticiqa.state import DistortionCategory
from agenticiqa.tools.metrics import attributes, blur_radius, jpeg
from agenticiqa.tools.metrics.planes import median, percentile
from agenticiqa.values import Reading

Pixels = npt.NDArray[np.uint8]
Readings = dict[DistortionCategory, tuple[Reading, ...]]
TONE_PIXELS = 100_000
# The tile, counted from the sharpest, whose softness stands for the picture: a sharp subject may fill only a few.
SUBJECT_TILE = 1


def measure_readings(pixels: Pixels, working: Tiles | None = None, scale: float = 1.0, brief: bool = False) -> Readings:
    """What was measured for each category; `working` are the tiles at working size, `scale` the factor to it.

    A picture too small for a measurement has none of it. `brief` leaves out what no finding rests on.
    """
    large_enough = min(pixels.shape[:2]) >= SMALLEST_SIDE
    fine: Readings = {}
    if large_enough:
        own = working if working is not None and scale == 1 else cut_tiles(pixels)
        fine = _brief_readings(own, working or own, scale) if brief else _fine_readings(own, working or own, scale)
    return fine | _tone_readings(_thinned(pixels))


def blur_in_pixels(tiles: Tiles, scale: float = 1.0) -> float:
    """The blur radius of the picture in its own pixels, by its sharper parts; the largest there is without edges."""
    radius = float(np.sort(tiles.radii)[SUBJECT_TILE])
    return blur_radius.LARGEST_RADIUS if radius >= blur_radius.LARGEST_RADIUS else radius / scale


def _brief_readings(own: Tiles, working: Tiles, scale: float) -> Readings:
    pixels = blur_in_pixels(working, scale)
    # Without an edge there is nothing to measure a radius at.
    radius = (Reading("blur radius", _rounded(pixels), "px"),) if pixels < blur_radius.LARGEST_RADIUS else ()
    return {"Blurs": radius, "Compression": (Reading("JPEG quality", _rounded(own.quality)),)}


def _fine_readings(own: Tiles, working: Tiles, scale: float) -> Readings:
    brief = _brief_readings(own, working, scale)
    compression = [
        *brief["Compression"],
        Reading("blockiness", _rounded(median(np.array([jpeg.blockiness(tile) for tile in own.pixels])))),
        Reading("banding", _rounded(100 * attributes.banding(own.joined)), "%"),
    ]
    crispness = float(percentile(np.array([blur_radius.sharpness(tile) for tile in working.pixels]), 75))
    return {
        "Blurs": brief["Blurs"],
        "Sharpness": (*brief["Blurs"], Reading("sharpness", _rounded(crispness))),
        "Noise": (Reading("noise sigma", _rounded(median(own.sigmas)), "grey levels"),),
        "Compression": tuple(compression),
    }


def _tone_readings(thin: Pixels) -> Readings:
    dark, bright, contrast = (_rounded(100 * share) for share in attributes.exposures(thin))
    cast, saturation = attributes.cast_and_saturation(thin)
    clipped = (Reading("clipped shadows", dark, "%"), Reading("clipped highlights", bright, "%"))
    brightness = Reading("mean brightness", _rounded(float(np.mean(cv2.mean(thin)[:3]))), "grey levels")
    return {
        "Brightness change": (brightness, *clipped),
        "Contrast": (Reading("contrast", contrast, "%"), *clipped),
        "Color distortions": (
            Reading("color cast", _rounded(cast), "Lab"),
            Reading("saturation", _rounded(saturation), "Lab"),
        ),
    }


def _thinned(pixels: Pixels) -> Pixels:
    step = max(1, int(np.sqrt(pixels.shape[0] * pixels.shape[1] / TONE_PIXELS)))
    return np.ascontiguousarray(pixels[::step, ::step])


def _rounded(value: float) -> float:
    """Three digits are what the measurements are good for, and less than a thousandth is nothing."""
    return float(f"{value:.3g}") if abs(value) >= 1e-3 else 0.0
