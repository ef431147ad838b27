"""Pairs that are the same picture cropped or shifted: found and brought together before they are compared."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]

WINDOW = 512
FURTHEST = 128
# Moving the picture must remove most of the difference, else it was not displaced.
REMAINING = 0.5


def aligned(test: Pixels, reference: Pixels) -> tuple[Pixels, Pixels, tuple[str, ...]]:
    """The common part of both pictures, and a note if one had to be moved by whole pixels."""
    across, down = _displacement(test, reference)
    if (across, down) == (0, 0) or max(abs(across), abs(down)) > FURTHEST:
        return test, reference, ()
    moved, still = _common(test, reference, across, down)
    if min(moved.shape[:2]) < WINDOW // 16 or _difference(moved, still) > REMAINING * _difference(test, reference):
        return test, reference, ()
    note = f"the test image is displaced by {across} × {down} pixels; the common part is judged"
    return moved, still, (note,)


def _displacement(test: Pixels, reference: Pixels) -> tuple[int, int]:
    first, second = (_window(image) for image in (reference, test))
    if first.std() < 1 or second.std() < 1:
        return 0, 0
    (across, down), _ = cv2.phaseCorrelate(first, second, cv2.createHanningWindow(first.shape[::-1], cv2.CV_32F))
    return round(across), round(down)


def _window(image: Pixels) -> npt.NDArray[np.float32]:
    top, left = (max(0, (side - WINDOW) // 2) for side in image.shape[:2])
    part = image[top : top + WINDOW, left : left + WINDOW]
    return np.asarray(cv2.cvtColor(np.ascontiguousarray(part), cv2.COLOR_RGB2GRAY), np.float32)


def _common(test: Pixels, reference: Pixels, across: int, down: int) -> tuple[Pixels, Pixels]:
    (rows, back_rows), (columns, back_columns) = (_overlap(down), _overlap(across))
    return np.ascontiguousarray(test[rows, columns]), np.ascontiguousarray(reference[back_rows, back_columns])


def _overlap(shift: int) -> tuple[slice, slice]:
    """Where the moved picture and the still one show the same, along one side."""
    late, early = slice(abs(shift), None), slice(None, -abs(shift) or None)
    return (late, early) if shift > 0 else (early, late)


def _difference(first: Pixels, second: Pixels) -> float:
    return float(cv2.norm(first, second, cv2.NORM_L2) ** 2 / first.size)
