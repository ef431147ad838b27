"""Attributes of a picture: exposure and contrast on Y, colour cast and saturation in CIE Lab under D65, banding."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from agenticiqa.tools.metrics.planes import Image, histogram, require_image, sum_of_squares, to_float

BRIGHT_END = 250
DARK_END = 5


def overexposed_share(image: Image) -> float:
    """The share of pixels, 0 to 1, whose Y is 250 or more: highlights without detail."""
    return exposures(image)[1]


def underexposed_share(image: Image) -> float:
    """The share of pixels, 0 to 1, whose Y is 5 or less: shadows without detail."""
    return exposures(image)[0]


def contrast(image: Image) -> float:
    """The RMS contrast: the standard deviation of Y over 255."""
    return exposures(image)[2]


def exposures(image: Image) -> tuple[float, float, float]:
    """Clipped shadows, clipped highlights and contrast, from one histogram."""
    levels = np.arange(256) / 255
    shares = _shares(image)
    spread = float(np.sqrt(np.sum(shares * (levels - np.sum(shares * levels)) ** 2)))
    return float(shares[: DARK_END + 1].sum()), float(shares[BRIGHT_END:].sum()), spread


def _shares(image: Image) -> NDArray[np.float64]:
    require_image(image)
    grey = np.asarray(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), np.uint8)
    return histogram(grey) / grey.size


def colour_cast(image: Image) -> float:
    """How far the average colour lies from neutral, in Lab units; about 2 is just visible."""
    return cast_and_saturation(image)[0]


def saturation(image: Image) -> float:
    """The mean Lab chroma; 0 is grey, vivid photographs reach 40."""
    return cast_and_saturation(image)[1]


def cast_and_saturation(image: Image) -> tuple[float, float]:
    """Both, from one conversion to Lab."""
    require_image(image)
    lab = cv2.cvtColor(to_float(image) / np.float32(255), cv2.COLOR_RGB2Lab)
    a, b = (np.asarray(cv2.extractChannel(lab, channel), np.float32) for channel in (1, 2))
    cast = float(np.hypot(*cv2.mean(lab)[1:3]))
    return cast, cv2.mean(np.sqrt(sum_of_squares(a, b)))[0]


SMALLEST_SIDE = 16
FLAT_RUN = 4
# One grey level is how any 8-bit gradient looks; more than 32 is an edge of the scene.
SMALLEST_STEP, LARGEST_STEP = 2, 32


def banding(image: Image) -> float:
    """The share of pixels, 0 to 1, that lie on a false contour; clean photographs stay near 0."""
    require_image(image, SMALLEST_SIDE)
    grey = np.asarray(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), np.uint8)
    contours = sum(_contours(plane) for plane in (grey, np.ascontiguousarray(grey.T)))
    return float(contours / grey.size)


def _contours(grey: Image) -> int:
    """How many steps along the rows have flat stretches on both sides."""
    steps = np.asarray(cv2.absdiff(grey[:, 1:], grey[:, :-1]), np.uint8)
    still = (steps == 0).view(np.uint8)
    flat = still[:, : 1 - FLAT_RUN].copy()
    for shift in range(1, FLAT_RUN):
        flat &= still[:, shift : steps.shape[1] - FLAT_RUN + 1 + shift]
    step = steps[:, FLAT_RUN:-FLAT_RUN]
    between_flats = flat[:, : step.shape[1]] & flat[:, FLAT_RUN + 1 :]
    return int(np.count_nonzero(between_flats & ((step >= SMALLEST_STEP) & (step <= LARGEST_STEP)).view(np.uint8)))
