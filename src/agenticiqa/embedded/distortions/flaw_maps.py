"""Where a flaw is: one map per flaw that people ask about, and the box of its worst part.

`flaw_maps(pixels)` gives softness, burnt-out lights, black shadows and noise, each as a grid of shares from 0 (none)
to 1 (as strong as it gets there). Cells that cannot show a flaw, as a smooth sky cannot show blur, are 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import cv2
import numpy as np
import numpy.typing as npt

from agenticiqa.limits import CRISP_SHARE, SOFT_SHARE
from agenticiqa.state import Region

Pixels = npt.NDArray[np.uint8]
Plane = npt.NDArray[np.float32]
MappedFlaw = Literal["softness", "highlights", "shadows", "noise"]
MAPPED_FLAWS: tuple[MappedFlaw, ...] = get_args(MappedFlaw)
LEGENDS: dict[MappedFlaw, str] = {
    "softness": "0: crisp, or without detail that could be soft; 1: edges as soft as a strong blur leaves them",
    "highlights": "share of the cell that is burnt out: all channels at 250 or more",
    "shadows": "share of the cell that is black: all channels at 5 or less",
    "noise": "0: no grain in calm parts; 1: grain of 20 grey levels or more",
}
# The longest side at which maps are made, and the side of a cell there.
LONGEST, CELL = 640, 16
WHITE, BLACK = 250, 5
# Grain this strong is drawn at full strength, in grey levels.
FULL_NOISE = 20.0
# A cell and its neighbourhood need a range of this many grey levels to be judged sharp or soft.
FAINTEST_DETAIL = 16.0
# A worst part is a window of this share of the picture's sides, and worth showing from this mean on.
WINDOW, TELLING = 0.25, 0.05
# Annihilates planes and slopes; divided by its norm so that white noise keeps its sigma.
FINE = np.array([[1, -2, 1], [-2, 4, -2], [1, -2, 1]], np.float32) / 6


@dataclass(frozen=True)
class FlawMap:
    """The flaw's share in each cell of a grid over the picture, the box of its worst part, and how to read it."""

    flaw: MappedFlaw
    array: Plane
    worst: Region | None
    legend: str

    @property
    def mean(self) -> float:
        """The flaw's mean share over the picture."""
        return float(self.array.mean())


def flaw_maps(pixels: Pixels) -> dict[MappedFlaw, FlawMap]:
    """All maps of one RGB picture; the boxes are in its own pixels."""
    size = (pixels.shape[0], pixels.shape[1])
    maps = measured_maps(_shrunk(pixels))
    return {flaw: FlawMap(flaw, array, worst_part(array, size), LEGENDS[flaw]) for flaw, array in maps.items()}


def measured_maps(small: Pixels) -> dict[MappedFlaw, Plane]:
    """The shares in the cells of a picture that is small enough."""
    luma = cv2.cvtColor(small, cv2.COLOR_RGB2GRAY).astype(np.float32)
    return {
        "softness": _softness(luma),
        "highlights": _cells((small.min(axis=2) >= WHITE).astype(np.float32)),
        "shadows": _cells((small.max(axis=2) <= BLACK).astype(np.float32)),
        "noise": _noise(luma),
    }


def worst_part(array: Plane, size: tuple[int, int]) -> Region | None:
    """The window with the highest mean, in pixels of a picture of this (height, width); None where there is nothing."""
    rows, columns = (max(1, round(length * WINDOW)) for length in array.shape)
    means = cv2.boxFilter(array, cv2.CV_32F, (columns, rows), anchor=(0, 0), borderType=cv2.BORDER_CONSTANT)
    inside = means[: array.shape[0] - rows + 1, : array.shape[1] - columns + 1]
    row, column = (int(n) for n in np.unravel_index(int(inside.argmax()), inside.shape))
    if inside[row, column] < TELLING:
        return None
    (top, bottom), (left, right) = (
        (first * length // cells, min(length, -(-(first + count) * length // cells)))
        for first, count, cells, length in (
            (row, rows, array.shape[0], size[0]),
            (column, columns, array.shape[1], size[1]),
        )
    )
    return Region(left=left, top=top, right=max(right, left + 1), bottom=max(bottom, top + 1))


def _shrunk(pixels: Pixels) -> Pixels:
    factor = min(1.0, LONGEST / max(pixels.shape[:2]))
    if factor == 1:
        return pixels
    size = (max(1, round(pixels.shape[1] * factor)), max(1, round(pixels.shape[0] * factor)))
    return np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA), np.uint8)


def _cells(plane: Plane) -> Plane:
    rows, columns = (max(1, length // CELL) for length in plane.shape)
    return np.asarray(cv2.resize(plane, (columns, rows), interpolation=cv2.INTER_AREA), np.float32)


def _softness(luma: Plane) -> Plane:
    """How little of the steps between neighbours a strong blur would remove, where there is detail at all."""
    steps, left = (_steps(plane) for plane in (luma, cv2.blur(luma, (9, 9), borderType=cv2.BORDER_REFLECT)))
    total, removed = _cells(steps), _cells(np.maximum(steps - left, 0))
    share = removed / np.maximum(total, 1e-3)
    around = np.ones((2 * CELL, 2 * CELL), np.uint8)
    detailed = _cells(cv2.dilate(luma, around) - cv2.erode(luma, around)) >= FAINTEST_DETAIL
    return np.where(detailed, np.clip((CRISP_SHARE - share) / (CRISP_SHARE - SOFT_SHARE), 0, 1), 0).astype(np.float32)


def _steps(plane: Plane) -> Plane:
    across, down = cv2.Sobel(plane, cv2.CV_32F, 1, 0), cv2.Sobel(plane, cv2.CV_32F, 0, 1)
    return np.asarray(cv2.magnitude(across, down) / 8, np.float32)


def _noise(luma: Plane) -> Plane:
    """The grain of each cell, taken from the calmer of its neighbours where texture hides it."""
    grain = _cells(np.abs(cv2.filter2D(luma, cv2.CV_32F, FINE))) * np.float32(1.2533)
    calm = cv2.erode(grain, np.ones((3, 3), np.uint8))
    return np.asarray(np.clip(np.maximum(calm - 1, 0) / FULL_NOISE, 0, 1), np.float32)
