"""Labels for damage we made ourselves: how far a picture is from its original, in the eyes of published formulas.

Two full-reference measures are written here from their papers' formulas: the mean deviation
similarity index (gradient and chromaticity similarity, deviation pooling) and gradient magnitude
similarity deviation at two scales. Neither was fitted by us, so no opinion data enters the labels.
"""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float32]

OPPONENT = np.array([[0.2989, 0.5870, 0.1140], [0.30, 0.04, -0.35], [0.34, -0.60, 0.17]], np.float32)
PREWITT = np.array([[1, 0, -1]] * 3, np.float32) / 3


def measure(reference: Pixels, damaged: Pixels) -> tuple[float, float, float]:
    """Three distances from the original, each 0 for an identical pair."""
    first, second = _planes(reference), _planes(damaged)
    return _mean_deviation(first, second), _gradient_deviation(first[0], second[0]), _distance(first, second)


def _planes(image: Pixels) -> list[Floats]:
    side = max(1, round(min(image.shape[:2]) / 256))
    smooth = cv2.blur(image.astype(np.float32), (side, side))[::side, ::side]
    mixed = smooth @ OPPONENT.T
    return [np.ascontiguousarray(mixed[..., plane]) for plane in range(3)]


def _gradient(plane: Floats) -> Floats:
    across = cv2.filter2D(plane, -1, PREWITT, borderType=cv2.BORDER_REFLECT)
    down = cv2.filter2D(plane, -1, PREWITT.T, borderType=cv2.BORDER_REFLECT)
    return np.asarray(np.sqrt(across**2 + down**2), np.float32)


def _similar(first: Floats, second: Floats, stabiliser: float) -> Floats:
    return np.asarray((2 * first * second + stabiliser) / (first**2 + second**2 + stabiliser), np.float32)


def _mean_deviation(first: list[Floats], second: list[Floats]) -> float:
    edges_first, edges_second = _gradient(first[0]), _gradient(second[0])
    edges_fused = _gradient(np.asarray((first[0] + second[0]) / 2, np.float32))
    gradient = _similar(edges_first, edges_second, 140) + (
        _similar(edges_second, edges_fused, 55) - _similar(edges_first, edges_fused, 55)
    )
    products = first[1] * second[1] + first[2] * second[2]
    squares = sum(plane**2 for plane in (*first[1:], *second[1:]))
    joint = 0.6 * gradient + 0.4 * (2 * products + 550) / (squares + 550)
    rooted = np.clip(joint, 0, None) ** 0.25
    return float(np.abs(rooted - rooted.mean()).mean() ** 0.25)


def _gradient_deviation(first: Floats, second: Floats) -> float:
    deviations = []
    for _ in range(2):
        similarity = _similar(_gradient(first), _gradient(second), 170)
        deviations.append(float(similarity.std()))
        first, second = (cv2.resize(p, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA) for p in (first, second))
    return float(np.sqrt(np.mean(np.square(deviations))))


def _distance(first: list[Floats], second: list[Floats]) -> float:
    # Deviation pooling overlooks damage that is the same everywhere; the plain distance does not.
    squared = sum(float(((a - b) ** 2).mean()) for a, b in zip(first, second, strict=True))
    return float(np.log1p(squared))
