"""Where things are: boxes for place words, faces and the part in focus.

What cannot be found is None: an object is never guessed. Place words have fixed boxes. Foreground is the box
around what is in focus, background the largest part of the picture beside it; where everything is about
equally sharp, the lower half is near and the upper half is far.
"""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from agenticiqa.perception.regions_faces import find_faces
from agenticiqa.state import Region

Pixels = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float32]

# Left, top, right, bottom as shares of width and height.
PLACES: dict[str, tuple[float, float, float, float]] = {
    "left": (0, 0, 1 / 2, 1),
    "right": (1 / 2, 0, 1, 1),
    "top": (0, 0, 1, 1 / 2),
    "bottom": (0, 1 / 2, 1, 1),
    "top left": (0, 0, 1 / 2, 1 / 2),
    "top right": (1 / 2, 0, 1, 1 / 2),
    "bottom left": (0, 1 / 2, 1 / 2, 1),
    "bottom right": (1 / 2, 1 / 2, 1, 1),
    "centre": (1 / 4, 1 / 4, 3 / 4, 3 / 4),
}
FOCUS_GRID = 16
# A box that holds most of the sharp detail is a subject only if it leaves a good part of the picture free.
FOCUS_SHARE, LARGEST_SUBJECT = 0.7, 0.6


def locate(pixels: Pixels, name: str) -> Region | None:
    """The box of a place word or of the largest face; None for anything else and for a face that is not found."""
    height, width = pixels.shape[:2]
    if name in PLACES:
        return _box(PLACES[name], width, height)
    if name == "face":
        return max(find_faces(pixels), key=area, default=None)
    if name in ("foreground", "background"):
        return _by_depth(pixels, name)
    return None


def focus_box(pixels: Pixels) -> Region | None:
    """The smallest box with most of the sharp detail, or None where detail is everywhere or nowhere."""
    detail = focus_map(pixels)
    total = float(detail.sum())
    if total < 1e-3:
        return None
    box = _shrink(detail / total)
    shares = (box[0] / FOCUS_GRID, box[1] / FOCUS_GRID, box[2] / FOCUS_GRID, box[3] / FOCUS_GRID)
    if (shares[2] - shares[0]) * (shares[3] - shares[1]) > LARGEST_SUBJECT:
        return None
    return _box(shares, pixels.shape[1], pixels.shape[0])


def focus_map(pixels: Pixels) -> Floats:
    """How much of the finest detail lies in each of 16 × 16 cells."""
    grey = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY).astype(np.float32)
    factor = min(1.0, 512 / max(grey.shape))
    if factor < 1:
        grey = np.asarray(cv2.resize(grey, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA), np.float32)
    fine = np.abs(grey - cv2.GaussianBlur(grey, (0, 0), 1.0))
    return np.asarray(cv2.resize(fine, (FOCUS_GRID, FOCUS_GRID), interpolation=cv2.INTER_AREA), np.float32)


def area(region: Region) -> int:
    """Pixels inside a box."""
    return (region.right - region.left) * (region.bottom - region.top)


def overlap(first: Region, second: Region) -> float:
    """The share of the first box that lies in the second."""
    width = min(first.right, second.right) - max(first.left, second.left)
    height = min(first.bottom, second.bottom) - max(first.top, second.top)
    return max(0, width) * max(0, height) / area(first)


def _by_depth(pixels: Pixels, name: str) -> Region:
    height, width = pixels.shape[:2]
    subject = focus_box(pixels)
    if subject is None:
        return _box(PLACES["bottom" if name == "foreground" else "top"], width, height)
    if name == "foreground":
        return subject
    beside = [
        (0, 0, width, subject.top),
        (0, subject.bottom, width, height),
        (0, 0, subject.left, height),
        (subject.right, 0, width, height),
    ]
    left, top, right, bottom = max(beside, key=lambda box: (box[2] - box[0]) * (box[3] - box[1]))
    return Region(left=left, top=top, right=right, bottom=bottom)


def _shrink(shares: Floats) -> tuple[int, int, int, int]:
    """Cells off the sides, the poorest first, while the box still holds most of the detail."""
    left, top, right, bottom = 0, 0, FOCUS_GRID, FOCUS_GRID
    while right - left > 2 and bottom - top > 2:
        smaller = [
            (left + 1, top, right, bottom),
            (left, top + 1, right, bottom),
            (left, top, right - 1, bottom),
            (left, top, right, bottom - 1),
        ]
        held = [float(shares[box[1] : box[3], box[0] : box[2]].sum()) for box in smaller]
        best = int(np.argmax(held))
        if held[best] < FOCUS_SHARE:
            break
        left, top, right, bottom = smaller[best]
    return left, top, right, bottom


def _box(shares: tuple[float, float, float, float], width: int, height: int) -> Region:
    left, top = int(shares[0] * width), int(shares[1] * height)
    right, bottom = max(left + 1, round(shares[2] * width)), max(top + 1, round(shares[3] * height))
    return Region(
        left=min(left, width - 1), top=min(top, height - 1), right=min(right, width), bottom=min(bottom, height)
    )
