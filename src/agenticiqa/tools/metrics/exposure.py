"""Exposure and contrast, measured on Y."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from agenticiqa.tools.metrics.planes import Image, histogram, require_image

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
