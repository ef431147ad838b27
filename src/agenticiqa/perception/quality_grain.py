"""Faint colour noise, which the trunk overlooks: the fine structure of the colour planes where they have least."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

# Annihilates planes and slopes; divided by its norm so that white noise keeps its sigma.
FINE = np.array([[1, -2, 1], [-2, 4, -2], [1, -2, 1]], np.float32) / 6
CELL = 8
FLOORS = (5, 20)


def colour_grain(pixels: npt.NDArray[np.uint8]) -> float:
    """Logarithm of the fine structure in the calmest cells of both colour planes; texture is seldom coloured."""
    import cv2

    _, red, blue = cv2.split(cv2.cvtColor(pixels, cv2.COLOR_RGB2YCrCb))
    return float(np.mean([np.log(0.05 + np.percentile(_cells(plane), FLOORS)) for plane in (red, blue)]))


def _cells(plane: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
    """Mean absolute fine structure of each cell."""
    import cv2

    fine = np.abs(cv2.filter2D(plane, cv2.CV_32F, FINE))
    rows, columns = (max(1, side // CELL) for side in plane.shape)
    return np.asarray(cv2.resize(fine, (columns, rows), interpolation=cv2.INTER_AREA), np.float32)
