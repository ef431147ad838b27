"""Natural-scene statistics: how locally normalised brightness is distributed, cell by cell."""

from __future__ import annotations

import functools
import math
from typing import cast

import cv2
import numpy as np
from numpy.typing import NDArray

from agenticiqa.tools.metrics.planes import Plane, pool

Values = NDArray[np.float64]
SCALES = 2
NEIGHBOURS = ((0, 1), (1, 0), (1, 1), (1, -1))
TINY = 1e-12


def cell_features(brightness: Plane, rows: int, columns: int) -> Values:
    """Thirty-six numbers for each cell of a grid of rows × columns, as an array of that grid by feature."""
    parts = []
    for scale in range(SCALES):
        normalised = normalise(brightness)[0]
        parts.append(_brightness_features(normalised, rows, columns))
        parts += [_neighbour_features(normalised, step, rows, columns) for step in NEIGHBOURS]
        if scale < SCALES - 1:
            brightness = pool(brightness, 2)
    return np.concatenate(parts, axis=-1)


def normalise(brightness: Plane) -> tuple[Plane, Plane]:
    """Brightness less its local mean over its local deviation plus one, and that deviation."""
    mean = cv2.GaussianBlur(brightness, (7, 7), 7 / 6, borderType=cv2.BORDER_REPLICATE)
    square = cv2.GaussianBlur(brightness * brightness, (7, 7), 7 / 6, borderType=cv2.BORDER_REPLICATE)
    deviation = np.sqrt(np.abs(square - mean * mean))
    return cast(Plane, (brightness - mean) / (deviation + np.float32(1))), cast(Plane, deviation)


def _brightness_features(normalised: Plane, rows: int, columns: int) -> Values:
    shape, left, right = _fit(normalised, rows, columns)
    return np.stack([shape, (left + right) / 2], axis=-1)


def _neighbour_features(normalised: Plane, step: tuple[int, int], rows: int, columns: int) -> Values:
    """Shape, mean, left and right width of the products of neighbouring pixels."""
    product = normalised * np.roll(normalised, step, axis=(0, 1))
    shape, left, right = _fit(product, rows, columns)
    mean = (right - left) * _gamma(2 / shape) / _gamma(1 / shape)
    return np.stack([shape, mean, left, right], axis=-1)


def _fit(values: Plane, rows: int, columns: int) -> tuple[Values, Values, Values]:
    """The shape and the two widths of an asymmetric generalised Gaussian in every cell."""
    magnitudes, signs = np.abs(values), np.sign(values)
    magnitude, square = (_cell_means(plane, rows, columns) for plane in (magnitudes, values * values))
    # Signed squares and signs split the sums into the sides above and below zero.
    signed_square = _cell_means(values * magnitudes, rows, columns)
    sign, nonzero = (_cell_means(plane, rows, columns) for plane in (signs, np.abs(signs)))
    left = np.sqrt(np.maximum(square - signed_square, 0) / (nonzero - sign + TINY))
    right = np.sqrt(np.maximum(square + signed_square, 0) / (nonzero + sign + TINY))
    balance = (left + TINY) / (right + TINY)
    asymmetry = (balance**3 + 1) * (balance + 1) / (balance**2 + 1) ** 2
    shape = _shape_of(magnitude**2 / (square + TINY) * asymmetry)
    width = np.sqrt(_gamma(1 / shape) / _gamma(3 / shape))
    return shape, left * width, right * width


def _cell_means(values: Plane, rows: int, columns: int) -> Values:
    height, width = values.shape[0] // rows, values.shape[1] // columns
    whole = values[: rows * height, : columns * width]
    strips = whole.reshape(rows, height, -1).sum(axis=1)
    sums = strips.reshape(rows, columns, width).sum(axis=2, dtype=np.float64)
    return np.asarray(sums / (height * width))


def _shape_of(ratio: Values) -> Values:
    shapes, ratios = _shape_table()
    return np.interp(ratio, ratios, shapes)


@functools.lru_cache(maxsize=1)
def _shape_table() -> tuple[Values, Values]:
    """Shapes and the ratio of squared mean magnitude to mean square that each implies."""
    shapes = np.arange(0.2, 10.001, 0.001)
    ratios = _gamma(2 / shapes) ** 2 / (_gamma(1 / shapes) * _gamma(3 / shapes))
    return shapes, ratios


def _gamma(values: Values) -> Values:
    return np.asarray([math.gamma(value) for value in values.ravel()]).reshape(values.shape)
