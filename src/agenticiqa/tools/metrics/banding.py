"""Banding: false contours, where brightness jumps once between two flat stretches."""

from __future__ import annotations

import cv2
import numpy as np

from agenticiqa.tools.metrics.planes import Image, require_image

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
