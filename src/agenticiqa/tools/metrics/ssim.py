"""SSIM (Wang et al., 2004) and MS_SSIM (2003) with their constants, on the rounded Y of YIQ; higher is better."""

from __future__ import annotations

from typing import cast

import cv2
import numpy as np

from agenticiqa.tools.metrics.planes import Image, Plane, pool, require_pair, rounded_luma, total

SMALLEST_SIDE = 11
SMALLEST_SIDE_MULTISCALE = 161
SCALE_WEIGHTS = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)
RADIUS = 5
C1 = np.float32((0.01 * 255) ** 2)
C2 = np.float32((0.03 * 255) ** 2)
TWO = np.float32(2)
# Strips stay in the processor's cache, which halves the time, and bound the memory of huge images.
STRIP_ROWS = 96


def ssim(test: Image, reference: Image) -> float:
    """The mean structural similarity of the positions where the window fits, at most 1."""
    require_pair(test, reference, SMALLEST_SIDE)
    return _mean_similarities(rounded_luma(test), rounded_luma(reference))[0]


def ms_ssim(test: Image, reference: Image) -> float:
    """The multi-scale structural similarity over five scales, from 0 to 1."""
    require_pair(test, reference, SMALLEST_SIDE_MULTISCALE)
    planes = rounded_luma(test), rounded_luma(reference)
    factors = []
    for _ in SCALE_WEIGHTS:
        whole, structure = _mean_similarities(*planes)
        factors.append(max(0.0, structure))
        planes = _half_size(planes[0]), _half_size(planes[1])
    factors[-1] = max(0.0, whole)
    return float(np.prod(np.power(factors, SCALE_WEIGHTS)))


def _mean_similarities(test: Plane, reference: Plane) -> tuple[float, float]:
    """The means of SSIM and of its contrast-structure part over the window's valid positions."""
    whole = structure = 0.0
    for top in range(0, test.shape[0] - 2 * RADIUS, STRIP_ROWS):
        rows = slice(top, top + STRIP_ROWS + 2 * RADIUS)
        strip_structure, brightness = _similarities(test[rows], reference[rows])
        structure += total(strip_structure)
        whole += total(strip_structure * brightness)
    count = (test.shape[0] - 2 * RADIUS) * (test.shape[1] - 2 * RADIUS)
    # On flat pictures the variances are differences of nearly equal numbers, and rounding may lift the mean above 1.
    return min(1.0, whole / count), min(1.0, structure / count)


def _similarities(test: Plane, reference: Plane) -> tuple[Plane, Plane]:
    """The contrast-structure map and the brightness map where the window fits."""
    mean_test, mean_reference = _window(test), _window(reference)
    products = mean_test * mean_reference
    squares = mean_test * mean_test + mean_reference * mean_reference
    # SSIM needs only the sum of the two variances, so one filtering serves both.
    spread = _window(test * test + reference * reference) - squares
    shared = _window(test * reference) - products
    structure = cast(Plane, (TWO * shared + C2) / (spread + C2))
    brightness = cast(Plane, (TWO * products + C1) / (squares + C1))
    return structure, brightness


def _window(plane: Plane) -> Plane:
    size = (2 * RADIUS + 1, 2 * RADIUS + 1)
    blurred = cv2.GaussianBlur(plane, size, 1.5, borderType=cv2.BORDER_REFLECT)
    return cast(Plane, np.ascontiguousarray(blurred[RADIUS:-RADIUS, RADIUS:-RADIUS]))


def _half_size(plane: Plane) -> Plane:
    # An odd side gets a row of zeros on both ends, as in the implementation MS_SSIM is compared with.
    odd_rows, odd_columns = plane.shape[0] % 2, plane.shape[1] % 2
    if odd_rows or odd_columns:
        plane = cv2.copyMakeBorder(plane, odd_rows, odd_rows, odd_columns, odd_columns, cv2.BORDER_CONSTANT, value=0)
    return pool(plane, 2)
