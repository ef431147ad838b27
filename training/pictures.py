"""Reading and resizing pictures while training."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt
from PIL import Image

Pixels = npt.NDArray[np.uint8]


# Several views of one large photograph follow each other.
@lru_cache(maxsize=2)
def read_pixels(path: Path) -> Pixels:
    """The picture as RGB."""
    return np.asarray(Image.open(path).convert("RGB"))


def resize(pixels: Pixels, height: int, width: int) -> Pixels:
    """The picture at another size, averaged by area when it shrinks."""
    method = cv2.INTER_AREA if height < pixels.shape[0] else cv2.INTER_CUBIC
    return np.asarray(cv2.resize(pixels, (width, height), interpolation=method), np.uint8)


def halve(pixels: Pixels) -> Pixels:
    """The picture at half its width and height."""
    height, width = pixels.shape[:2]
    return resize(pixels, max(32, height // 2), max(32, width // 2))
