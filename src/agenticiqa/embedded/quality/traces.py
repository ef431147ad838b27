"""What is measured of a picture because the trunk hardly sees it: faint colour noise, the range of tones, a tint."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]
# Annihilates planes and slopes; divided by its norm so that white noise keeps its sigma.
FINE = np.array([[1, -2, 1], [-2, 4, -2], [1, -2, 1]], np.float32) / 6
CELL = 8
FLOORS = (5, 20)
TINT_SIDE = 96
# Black and burnt-out pixels have no colour to be tinted.
DARKEST, BRIGHTEST = 8, 97
FEWEST_PIXELS = 200
LEAST_TINTED = 5


def colour_grain(pixels: Pixels) -> float:
    """Logarithm of the fine structure in the calmest cells of both colour planes; texture is seldom coloured."""
    import cv2

    _, red, blue = cv2.split(cv2.cvtColor(pixels, cv2.COLOR_RGB2YCrCb))
    return float(np.mean([np.log(0.05 + np.percentile(_cells(plane), FLOORS)) for plane in (red, blue)]))


def tonal_range(pixels: Pixels) -> float:
    """Grey levels between the darkest and the brightest hundredth of a picture."""
    import cv2

    low, high = np.percentile(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY), (1, 99))
    return float(high - low)


def common_tint(pixels: Pixels) -> float:
    """How far even the least tinted twentieth leans towards the mean hue, in Lab units; below 0 it leans away."""
    import cv2

    small = cv2.resize(pixels, (TINT_SIDE, TINT_SIDE), interpolation=cv2.INTER_AREA)
    lab = cv2.cvtColor(small.astype(np.float32) / np.float32(255), cv2.COLOR_RGB2Lab).reshape(-1, 3)
    coloured = lab[(lab[:, 0] > DARKEST) & (lab[:, 0] < BRIGHTEST)]
    planes = (coloured if len(coloured) > FEWEST_PIXELS else lab)[:, 1:]
    mean = planes.mean(0)
    return float(np.percentile(planes @ (mean / (np.hypot(*mean) + 1e-6)), LEAST_TINTED))


def _cells(plane: Pixels) -> npt.NDArray[np.float32]:
    """Mean absolute fine structure of each cell."""
    import cv2

    fine = np.abs(cv2.filter2D(plane, cv2.CV_32F, FINE))
    rows, columns = (max(1, side // CELL) for side in plane.shape)
    return np.asarray(cv2.resize(fine, (columns, rows), interpolation=cv2.INTER_AREA), np.float32)
