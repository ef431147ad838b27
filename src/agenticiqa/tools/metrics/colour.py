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
    lab = cv2.cvtColor(to_float(image) / np.float32(255), cv2.COLOR_RGB2Lab)
    a, b = (np.asarray(cv2.extractChannel(lab, channel), np.float32) for channel in (1, 2))
    cast = float(np.hypot(*cv2.mean(lab)[1:3]))
    return cast, cv2.mean(np.sqrt(sum_of_squares(a, b)))[0]
