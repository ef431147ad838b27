"""What of a pair is compared: pictures cropped or shifted are brought together, then seen as they are or as they fit
a screen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import cv2
import numpy as np
import numpy.typing as npt

from agenticiqa.embedded.full_reference.difference_map import visible_loss
from agenticiqa.embedded.trunk import PIXEL_BUDGET, Floats, Pixels, resize
from agenticiqa.errors import ImageTooSmallError

Viewing = Literal["native", "screen"]
# The five scales of MS_SSIM need 161 pixels.
WORKING_SIDE = 176
# Parts are cut where a coder's blocks of 8 pixels begin, and hold whole blocks.
PART, PARTS_PER_SIDE = 96, 4
PARTS = PARTS_PER_SIDE**2
WINDOW = 512
FURTHEST = 128
# Moving the picture must remove most of the difference, else it was not displaced.
REMAINING = 0.5


@dataclass(frozen=True)
class PairView:
    """The two pictures to compare, the factor they were resized by and the share of the pixels seen."""

    test: Pixels
    reference: Pixels
    scale: float
    share: float


def view_pair(test: Pixels, reference: Pixels, viewing: Viewing = "native") -> PairView:
    """What is compared of a pair of one size."""
    height, width = test.shape[:2]
    if max(height, width) > 64 * min(height, width):
        raise ImageTooSmallError(f"a strip of {width}×{height} pixels is too narrow to be judged; crop it first")
    holds_parts = (height // PART) * (width // PART) >= PARTS
    if height * width <= PIXEL_BUDGET or viewing == "screen" or not holds_parts:
        return _on_screen(test, reference)
    loss = visible_loss(test, reference)
    corners = representative_parts(loss, (height, width))
    first, second = (_joined(image, corners) for image in (test, reference))
    return PairView(first, second, 1.0, first.shape[0] * first.shape[1] / (height * width))


def representative_parts(loss: Floats, size: tuple[int, int]) -> list[tuple[int, int]]:
    """Top left corners of the parts that stand for the picture: even steps of the loss, the last of them the worst."""
    rows, columns = (side // PART for side in size)
    means = cv2.resize(loss[: rows * PART // 2, : columns * PART // 2], (columns, rows), interpolation=cv2.INTER_AREA)
    order = np.argsort(means.ravel(), kind="stable")
    steps = np.append((np.arange(PARTS - 1) + 0.5) / PARTS, 1.0)
    chosen = order[np.rint(steps * (len(order) - 1)).astype(np.intp)]
    return [(int(place) // columns * PART, int(place) % columns * PART) for place in chosen]


def _on_screen(test: Pixels, reference: Pixels) -> PairView:
    height, width = test.shape[:2]
    scale = min(1.0, float(np.sqrt(PIXEL_BUDGET / (height * width))))
    scale = max(scale, WORKING_SIDE / min(height, width))
    return PairView(resize(test, scale), resize(reference, scale), scale, 1.0)


def _joined(image: Pixels, corners: list[tuple[int, int]]) -> Pixels:
    parts = [image[top : top + PART, left : left + PART] for top, left in corners]
    rows = [np.hstack(parts[start : start + PARTS_PER_SIDE]) for start in range(0, PARTS, PARTS_PER_SIDE)]
    return np.ascontiguousarray(np.vstack(rows))


def aligned(test: Pixels, reference: Pixels) -> tuple[Pixels, Pixels, tuple[str, ...]]:
    """The common part of both pictures, and a note if one had to be moved by whole pixels."""
    across, down = _displacement(test, reference)
    if (across, down) == (0, 0) or max(abs(across), abs(down)) > FURTHEST:
        return test, reference, ()
    (rows, back_rows), (columns, back_columns) = (_overlap(shift) for shift in (down, across))
    moved = np.ascontiguousarray(test[rows, columns])
    still = np.ascontiguousarray(reference[back_rows, back_columns])
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


def _overlap(shift: int) -> tuple[slice, slice]:
    """Where the moved picture and the still one show the same, along one side."""
    late, early = slice(abs(shift), None), slice(None, -abs(shift) or None)
    return (late, early) if shift > 0 else (early, late)


def _difference(first: Pixels, second: Pixels) -> float:
    return float(cv2.norm(first, second, cv2.NORM_L2) ** 2 / first.size)
