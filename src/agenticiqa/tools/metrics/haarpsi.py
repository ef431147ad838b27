"""HaarPSI (Reisenhofer et al., 2018) with its constants, in YIQ at half size; higher is better, 1 is identical."""

from __future__ import annotations

import math
from typing import cast

import cv2
import numpy as np

from agenticiqa.tools.metrics import planes
from agenticiqa.tools.metrics.planes import Image, Plane

SMALLEST_SIDE = 16
CONSTANT = 30.0
STEEPNESS = 4.2


def haarpsi(test: Image, reference: Image) -> float:
    """The weighted wavelet similarity, passed through the logistic curve and back."""
    planes.require_pair(test, reference, SMALLEST_SIDE)
    first, second = (
        planes.change_colours(planes.halve(planes.to_float(image)), planes.YIQ) for image in (test, reference)
    )
    across, weight_across = _edges(first[0], second[0], vertical=False)
    down, weight_down = _edges(first[0], second[0], vertical=True)
    chroma, weight_chroma = _chroma(first[1:], second[1:]), (weight_across + weight_down) * np.float32(0.5)
    pairs = ((across, weight_across), (down, weight_down), (chroma, weight_chroma))
    tiny = float(np.finfo(np.float32).eps)
    weighted = sum(planes.total(_logistic(likeness) * weight) for likeness, weight in pairs) + tiny * (
        1 / (1 + math.exp(-STEEPNESS))
    )
    score = weighted / (sum(planes.total(weight) for _, weight in pairs) + tiny)
    # In single precision the way through the curve and back ends 2e-7 above 1.
    return min(1.0, (math.log(score / (1 - score)) / STEEPNESS) ** 2)


def _edges(test: Plane, reference: Plane, vertical: bool) -> tuple[Plane, Plane]:
    """The mean similarity of the two fine wavelets and, as weight, the coarse one's magnitude."""
    fine, middle, coarse = ((_haar(test, size, vertical), _haar(reference, size, vertical)) for size in (2, 4, 8))
    likeness = (planes.similarity(*fine, CONSTANT) + planes.similarity(*middle, CONSTANT)) * np.float32(0.5)
    return likeness, cast(Plane, np.maximum(*coarse))


def _haar(plane: Plane, size: int, vertical: bool) -> Plane:
    """The magnitude of the Haar wavelet of this width, with zeros outside the image."""
    smooth = np.ones(size, np.float32) / np.float32(size)
    step = np.repeat(np.array([1, -1], np.float32), size // 2)
    along_x, along_y = (smooth, step) if vertical else (step, smooth)
    anchor = (size // 2 - 1, size // 2 - 1)
    response = cv2.sepFilter2D(plane, cv2.CV_32F, along_x, along_y, anchor=anchor, borderType=cv2.BORDER_CONSTANT)
    return cast(Plane, np.abs(response, out=response))


def _chroma(test: tuple[Plane, ...], reference: tuple[Plane, ...]) -> Plane:
    maps = [planes.similarity(_box(a), _box(b), CONSTANT) for a, b in zip(test, reference, strict=True)]
    return cast(Plane, (maps[0] + maps[1]) * np.float32(0.5))


def _box(plane: Plane) -> Plane:
    means = cv2.boxFilter(plane, cv2.CV_32F, (2, 2), anchor=(0, 0), borderType=cv2.BORDER_CONSTANT)
    return cast(Plane, np.abs(means, out=means))


def _logistic(likeness: Plane) -> Plane:
    powers = np.exp(likeness * np.float32(-STEEPNESS))
    powers += np.float32(1)
    return cast(Plane, np.reciprocal(powers, out=powers))
