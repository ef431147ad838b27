"""Softness, burnt-out lights, black shadows and noise of every cell of a picture, from 0 (none) to 1 (all of it).

Cells that cannot show a flaw, as a smooth sky cannot show blur, are 0.
"""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from agenticiqa.limits import CRISP_SHARE, SOFT_SHARE

Pixels = npt.NDArray[np.uint8]
Plane = npt.NDArray[np.float32]
# The side of a cell in pixels.
CELL = 16
WHITE, BLACK = 250, 5
# Grain this strong is drawn at full strength, in grey levels.
FULL_NOISE = 20.0
# A cell and its neighbourhood need a range of this many grey levels to be judged sharp or soft.
FAINTEST_DETAIL = 16.0
# Annihilates planes and slopes; divided by its norm so that white noise keeps its sigma.
FINE = np.array([[1, -2, 1], [-2, 4, -2], [1, -2, 1]], np.float32) / 6


def measure_cells(small: Pixels) -> Plane:
    """The four shares in every cell of a picture of working size, one plane each."""
    grey = np.asarray(cv2.cvtColor(small, cv2.COLOR_RGB2GRAY), np.uint8)
    first, second, third = cv2.split(small)
    burnt = cv2.min(cv2.min(first, second), third) >= WHITE
    black = cv2.max(cv2.max(first, second), third) <= BLACK
    lights, shadows = (_cells(mask.astype(np.float32)) for mask in (burnt, black))
    return np.stack([_softness(grey), lights, shadows, _noise(grey.astype(np.float32))])


def _cells(plane: Plane) -> Plane:
    rows, columns = (max(1, length // CELL) for length in plane.shape)
    return np.asarray(cv2.resize(plane, (columns, rows), interpolation=cv2.INTER_AREA), np.float32)


def _softness(grey: Pixels) -> Plane:
    """How little of the steps between neighbours a strong blur would remove, where there is detail at all."""
    luma = grey.astype(np.float32)
    steps, left = (_steps(plane) for plane in (luma, cv2.blur(luma, (9, 9), borderType=cv2.BORDER_REFLECT)))
    total, removed = _cells(steps), _cells(np.maximum(steps - left, 0))
    share = removed / np.maximum(total, 1e-3)
    around = np.ones((2 * CELL, 2 * CELL), np.uint8)
    span = cv2.subtract(cv2.dilate(grey, around), cv2.erode(grey, around))
    detailed = _cells(span.astype(np.float32)) >= FAINTEST_DETAIL
    return np.where(detailed, np.clip((CRISP_SHARE - share) / (CRISP_SHARE - SOFT_SHARE), 0, 1), 0).astype(np.float32)


def _steps(plane: Plane) -> Plane:
    across, down = cv2.Sobel(plane, cv2.CV_32F, 1, 0), cv2.Sobel(plane, cv2.CV_32F, 0, 1)
    return np.asarray(cv2.magnitude(across, down) / 8, np.float32)


def _noise(luma: Plane) -> Plane:
    """The grain of each cell, taken from the calmer of its neighbours where texture hides it."""
    grain = _cells(np.abs(cv2.filter2D(luma, cv2.CV_32F, FINE))) * np.float32(1.2533)
    calm = cv2.erode(grain, np.ones((3, 3), np.uint8))
    return np.asarray(np.clip(np.maximum(calm - 1, 0) / FULL_NOISE, 0, 1), np.float32)
