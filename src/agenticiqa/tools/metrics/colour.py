"""Colour cast and saturation, in CIE Lab units under D65."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from agenticiqa.tools.metrics.planes import Image, require_image, to_float


def colour_cast(image: Image) -> float:
    """How far the average colour lies from neutral, in Lab units; about 2 is just visible."""
    a, b = _chroma_planes(image)
    return float(np.hypot(a.mean(dtype=np.float64), b.mean(dtype=np.float64)))


def saturation(image: Image) -> float:
    """The mean Lab chroma; 0 is grey, vivid photographs reach 40."""
    return float(np.hypot(*_chroma_planes(image)).mean(dtype=np.float64))


def _chroma_planes(image: Image) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    require_image(image)
    lab = cv2.cvtColor(to_float(image) / np.float32(255), cv2.COLOR_RGB2Lab)
    return lab[..., 1], lab[..., 2]
