"""Brightness and colour apart: the planes in which damage is looked for."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]
Plane = npt.NDArray[np.float32]

# Y, Cb and Cr without offsets, so that a grey pixel has no chroma.
OPPONENT = np.array([[0.299, 0.587, 0.114], [-0.1687, -0.3313, 0.5], [0.5, -0.4187, -0.0813]], np.float32)


def opponent_planes(pixels: Pixels) -> tuple[Plane, Plane, Plane]:
    """Luma, blue difference and red difference of an RGB picture, on the scale of 255."""
    luma, blue, red = cv2.split(cv2.transform(pixels.astype(np.float32), OPPONENT))
    return np.asarray(luma), np.asarray(blue), np.asarray(red)
