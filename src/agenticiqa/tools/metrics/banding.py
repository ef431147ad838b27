"""Banding: false contours, where brightness jumps once between two flat stretches."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from agenticiqa.tools.metrics.planes import Image, require_image

SMALLEST_SIDE = 16
FLAT_RUN = 4
# One grey level is how any 8-bit gradient looks; more than 32 is an edge of the scene.
SMALLEST_STEP, LARGEST_STEP = 2, 32


def banding(image: Image) -> float:
    """The share of pixels, 0 to 1, that lie on a false contour; clean photographs stay near 0."""
    require_image(image, SMALLEST_SIDE)
    grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY).astype(np.int16)
    contours = sum(_contours(plane) for plane in (grey, np.ascontiguousarray(grey.T)))
    return float(contours / grey.size)


def _contours(grey: NDArray[np.int16]) -> int:
    """How many steps along the rows have flat stretches on both sides."""
    steps = np.abs(np.diff(grey, axis=1))
    flat = np.asarray(sliding_window_view(steps == 0, FLAT_RUN, axis=1).all(axis=-1))
    step = steps[:, FLAT_RUN:-FLAT_RUN]
    between_flats = flat[:, : step.shape[1]] & flat[:, FLAT_RUN + 1 :]
    return int(np.count_nonzero(between_flats & (step >= SMALLEST_STEP) & (step <= LARGEST_STEP)))
