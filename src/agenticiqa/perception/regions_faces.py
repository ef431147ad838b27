"""Faces, found by whichever cascade is installed: OpenCV's where its build has one, else scikit-image's.

OpenCV 5 no longer carries the cascades and scikit-image is not a dependency, so with neither there are no
faces to be found, and callers say so.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from agenticiqa.state import Region

Pixels = npt.NDArray[np.uint8]
LARGEST_SIDE = 640
SMALLEST_FACE = 48


def find_faces(pixels: Pixels) -> list[Region]:
    """The boxes of upright faces seen from the front; none where no cascade is installed."""
    factor = min(1.0, LARGEST_SIDE / max(pixels.shape[:2]))
    small = pixels if factor == 1.0 else cv2.resize(pixels, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA)
    boxes = _search(np.ascontiguousarray(small))
    height, width = pixels.shape[:2]
    return [_grown(box, factor, width, height) for box in boxes]


def _search(pixels: Pixels) -> list[tuple[int, int, int, int]]:
    """Left, top, width and height of every face."""
    if min(pixels.shape[:2]) < SMALLEST_FACE:
        return []
    cascade = _opencv_cascade()
    if cascade is not None:
        found = cascade.detectMultiScale(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY), 1.1, 6, minSize=(SMALLEST_FACE,) * 2)
        return [(int(x), int(y), int(w), int(h)) for x, y, w, h in found]
    cascade = _skimage_cascade()
    if cascade is None:
        return []
    largest = min(pixels.shape[:2])
    found = cascade.detect_multi_scale(
        img=pixels,
        scale_factor=1.2,
        step_ratio=1,
        min_size=(SMALLEST_FACE,) * 2,
        max_size=(largest, largest),
        min_neighbor_number=5,
    )
    return [(int(face["c"]), int(face["r"]), int(face["width"]), int(face["height"])) for face in found]


def _opencv_cascade() -> Any | None:
    file = Path(cv2.__file__).parent / "data" / "haarcascade_frontalface_default.xml"
    if not hasattr(cv2, "CascadeClassifier") or not file.exists():
        return None
    return cv2.CascadeClassifier(str(file))


def _skimage_cascade() -> Any | None:
    try:
        from skimage.data import lbp_frontal_face_cascade_filename
        from skimage.feature import Cascade
    except ImportError:
        return None
    return Cascade(lbp_frontal_face_cascade_filename())


def _grown(box: tuple[int, int, int, int], factor: float, width: int, height: int) -> Region:
    left, top, wide, high = (int(value / factor) for value in box)
    left, top = min(max(left, 0), width - 1), min(max(top, 0), height - 1)
    return Region(left=left, top=top, right=min(width, left + max(wide, 1)), bottom=min(height, top + max(high, 1)))
