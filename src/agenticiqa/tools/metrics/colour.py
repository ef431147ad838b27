"""Colour cast and saturation, in CIE Lab units under D65."""

from __future__ import annotations

import cv2
import numpy as np

from agenticiqa.tools.metrics.planes import Image, require_image, sum_of_squares, to_float


def colour_cast(image: Image) -> float:
    """How far the average colour lies from neutral, in Lab units; about 2 is just visible."""
    return cast_and_saturation(image)[0]


def saturation(image: Image) -> float:
    """The mean Lab chroma; 0 is grey, vivid photographs reach 40."""
    return cast_and_saturation(image)[1]


def cast_and_saturation(image: Image) -> tuple[float, float]:
    """Both, from one conversion to Lab."""
    require_image(image)
    _, a, b = cv2.split(cv2.cvtColor(to_float(image) / np.float32(255), cv2.COLOR_RGB2Lab))
    cast = float(np.hypot(a.mean(dtype=np.float64), b.mean(dtype=np.float64)))
    return cast, float(np.sqrt(sum_of_squares(np.asarray(a), np.asarray(b))).mean(dtype=np.float64))
