"""Exposure and contrast, measured on Y."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from agenticiqa.tools.metrics.planes import Image, require_image

BRIGHT_END = 250
DARK_END = 5


def overexposed_share(image: Image) -> float:
    """The share of pixels, 0 to 1, whose Y is 250 or more: highlights without detail."""
    return float(_shares(image)[BRIGHT_END:].sum())


def underexposed_share(image: Image) -> float:
    """The share of pixels, 0 to 1, whose Y is 5 or less: shadows without detail."""
    return float(_shares(image)[: DARK_END + 1].sum())


def contrast(image: Image) -> float:
    """The RMS contrast: the standard deviation of Y over 255."""
    levels = np.arange(256) / 255
    shares = _shares(image)
    return float(np.sqrt(np.sum(shares * (levels - np.sum(shares * levels)) ** 2)))


def _shares(image: Image) -> NDArray[np.float64]:
    require_image(image)
    grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    return np.asarray(np.bincount(grey.reshape(-1), minlength=256) / grey.size)
