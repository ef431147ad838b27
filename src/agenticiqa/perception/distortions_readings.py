"""The measurements behind a finding, in units a person knows.

Noise, JPEG quality, blur and banding are measured at the file's own resolution on the middle of the picture,
at most 320 pixels a side, so that large files cost no more than small ones; tones and colours on a thinned
picture.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from agenticiqa.perception.eyes import Reading
from agenticiqa.state import DistortionCategory
from agenticiqa.tools.metrics import banding, blur, colour, exposure, jpeg, noise

Pixels = npt.NDArray[np.uint8]
Readings = dict[DistortionCategory, tuple[Reading, ...]]
SAMPLE_SIDE = 320
TONE_PIXELS = 100_000
SMALLEST_SIDE = 32


def measure_readings(pixels: Pixels) -> Readings:
    """What was measured for each category; a picture too small for a measurement has none of it."""
    sample, thin = middle(pixels), _thinned(pixels)
    large_enough = min(pixels.shape[:2]) >= SMALLEST_SIDE
    fine = _fine_readings(sample) if large_enough else {}
    return fine | _tone_readings(thin)


def middle(pixels: Pixels, side: int = SAMPLE_SIDE) -> Pixels:
    """The middle of the picture, cut on the borders of 16-pixel blocks so that a JPEG grid stays in place."""
    height, width = pixels.shape[:2]
    top, left = (max(0, (length - side) // 2) // 16 * 16 for length in (height, width))
    return np.ascontiguousarray(pixels[top : top + side, left : left + side])


def _fine_readings(sample: Pixels) -> Readings:
    radius = Reading("blur radius", _rounded(blur.blur_radius(sample)), "px")
    compression = [
        Reading("JPEG quality", _rounded(jpeg.jpeg_quality(sample))),
        Reading("blockiness", _rounded(jpeg.blockiness(sample))),
        Reading("banding", _rounded(100 * banding.banding(sample)), "%"),
    ]
    return {
        "Blurs": (radius,),
        "Sharpness": (radius, Reading("sharpness", _rounded(blur.sharpness(sample)))),
        "Noise": (Reading("noise sigma", _rounded(noise.noise_sigma(sample)), "grey levels"),),
        "Compression": tuple(compression),
    }


def _tone_readings(thin: Pixels) -> Readings:
    dark, bright = _share(exposure.underexposed_share, thin), _share(exposure.overexposed_share, thin)
    clipped = (Reading("clipped shadows", dark, "%"), Reading("clipped highlights", bright, "%"))
    brightness = Reading("mean brightness", _rounded(float(thin.mean())), "grey levels")
    return {
        "Brightness change": (brightness, *clipped),
        "Contrast": (Reading("contrast", _rounded(100 * exposure.contrast(thin)), "%"), *clipped),
        "Color distortions": (
            Reading("color cast", _rounded(colour.colour_cast(thin)), "Lab"),
            Reading("saturation", _rounded(colour.saturation(thin)), "Lab"),
        ),
    }


def _thinned(pixels: Pixels) -> Pixels:
    step = max(1, int(np.sqrt(pixels.shape[0] * pixels.shape[1] / TONE_PIXELS)))
    return np.ascontiguousarray(pixels[::step, ::step])


def _share(measure: Callable[[Pixels], float], pixels: Pixels) -> float:
    return _rounded(100 * measure(pixels))


def _rounded(value: float) -> float:
    """Three digits are what the measurements are good for."""
    return float(f"{value:.3g}")
