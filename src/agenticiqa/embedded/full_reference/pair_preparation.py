"""What of a pair is compared: the pixels themselves, or the picture as it fits a screen.

`native`: every pixel counts as a pixel, whatever the size of the picture. A pair of up to 640 × 480 pixels in area is
compared whole. Of a larger one the visible difference of every pixel is measured first; then 16 parts of 96 × 96
pixels stand for all of it, taken at even steps of that difference from the least to the worst, so that they are
damaged as the whole picture is. Equal damage per pixel gives equal scores at every size.

`screen`: the pair is shrunk to 640 × 480 pixels in area, as a viewer sees a picture that fills part of a screen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import cv2
import numpy as np
import numpy.typing as npt

from agenticiqa.embedded.full_reference.difference_map import visible_loss, worst_part
from agenticiqa.embedded.trunk import PIXEL_BUDGET, resize
from agenticiqa.errors import ImageTooSmallError
from agenticiqa.state import Region

Pixels = npt.NDArray[np.uint8]
Plane = npt.NDArray[np.float32]
Viewing = Literal["native", "screen"]
# The five scales of MS_SSIM need 161 pixels.
WORKING_SIDE = 176
# Parts are cut where a coder's blocks of 8 pixels begin, and hold whole blocks.
PART, PARTS_PER_SIDE = 96, 4
PARTS = PARTS_PER_SIDE**2


@dataclass(frozen=True)
class PairView:
    """The two pictures to compare, the factor they were resized by, the share of the pixels seen, the worst part."""

    test: Pixels
    reference: Pixels
    scale: float
    share: float
    worst: Region | None = None


def view_pair(test: Pixels, reference: Pixels, viewing: Viewing = "native") -> PairView:
    """What is compared of a pair of one size."""
    height, width = test.shape[:2]
    if max(height, width) > 64 * min(height, width):
        raise ImageTooSmallError(f"a strip of {width}×{height} pixels is too narrow to be judged; crop it first")
    if height * width <= PIXEL_BUDGET or viewing == "screen" or not _holds_parts(height, width):
        return _on_screen(test, reference)
    loss = visible_loss(test, reference)
    corners = representative_parts(loss, (height, width))
    first, second = (_joined(image, corners) for image in (test, reference))
    return PairView(
        first, second, 1.0, first.shape[0] * first.shape[1] / (height * width), worst_part(loss, (height, width))
    )


def representative_parts(loss: Plane, size: tuple[int, int]) -> list[tuple[int, int]]:
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


def _holds_parts(height: int, width: int) -> bool:
    return (height // PART) * (width // PART) >= PARTS


def _joined(image: Pixels, corners: list[tuple[int, int]]) -> Pixels:
    parts = [image[top : top + PART, left : left + PART] for top, left in corners]
    rows = [np.hstack(parts[start : start + PARTS_PER_SIDE]) for start in range(0, PARTS, PARTS_PER_SIDE)]
    return np.ascontiguousarray(np.vstack(rows))
