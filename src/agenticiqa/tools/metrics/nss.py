"""Natural-scene statistics: how locally normalised brightness is distributed, cell by cell, and two metrics on it.

NSS_DISTANCE: how far they are from those of clean photographs; lower is better. The idea is NIQE's; cells, scales and
the model of clean photographs are our own. NSS_REGRESSION: an opinion learnt from those of brightness and colour;
higher is better. The idea is BRISQUE's; features and regression are our own, fitted on ratings of BIQ2021's training
split and on damaged clean photographs, for which HaarPSI stood in for ratings.
"""

from __future__ import annotations

import functools
import math
from typing import cast

import cv2
import numpy as np
from numpy.typing import NDArray

from agenticiqa.tools.metrics.planes import (
    YIQ,
    Image,
    Plane,
    colour_planes,
    load_parameters,
    pool,
    require_image,
    rounded_luma,
)

Values = NDArray[np.float64]
SCALES = 2
NEIGHBOURS = ((0, 1), (1, 0), (1, 1), (1, -1))
TINY = 1e-12


def cell_features(brightness: Plane, rows: int, columns: int) -> Values:
    """Thirty-six numbers for each cell of a grid of rows × columns, as an array of that grid by feature."""
    parts = []
    for scale in range(SCALES):
        own, *products = _cell_means(brightness, rows, columns)
        parts += [_brightness_features(own), *map(_neighbour_features, products)]
        if scale < SCALES - 1:
            brightness = pool(brightness, 2)
    return np.concatenate(parts, axis=-1)


def normalise(brightness: Plane) -> tuple[Plane, Plane]:
    """Brightness less its local mean over its local deviation plus one, and that deviation."""
    mean = cv2.GaussianBlur(brightness, (7, 7), 7 / 6, borderType=cv2.BORDER_REPLICATE)
    square = cv2.GaussianBlur(brightness * brightness, (7, 7), 7 / 6, borderType=cv2.BORDER_REPLICATE)
    square -= mean * mean
    deviation = cast(Plane, np.sqrt(np.abs(square, out=square), out=square))
    normalised = brightness - mean
    normalised /= deviation + np.float32(1)
    return normalised, deviation


def _brightness_features(means: Values) -> Values:
    shape, left, right = _fit(means)
    return np.stack([shape, (left + right) / 2], axis=-1)


def _neighbour_features(means: Values) -> Values:
    """Shape, mean, left and right width of the products of neighbouring pixels."""
    shape, left, right = _fit(means)
    mean = (right - left) * _gamma(2 / shape) / _gamma(1 / shape)
    return np.stack([shape, mean, left, right], axis=-1)


def _fit(means: Values) -> tuple[Values, Values, Values]:
    """The shape and the two widths of an asymmetric generalised Gaussian in every cell, from its moments."""
    magnitude, square, signed_square, balance_of_signs, not_zero = means
    above, below = (not_zero + balance_of_signs) / 2, (not_zero - balance_of_signs) / 2
    # The signed squares split the squares into the sides above and below zero.
    left = np.sqrt(np.maximum(square - signed_square, 0) / (2 * below + TINY))
    right = np.sqrt(np.maximum(square + signed_square, 0) / (2 * above + TINY))
    balance = (left + TINY) / (right + TINY)
    asymmetry = (balance**3 + 1) * (balance + 1) / (balance**2 + 1) ** 2
    shapes, ratios = _shape_table()
    shape = np.interp(magnitude**2 / (square + TINY) * asymmetry, ratios, shapes)
    width = np.sqrt(_gamma(1 / shape) / _gamma(3 / shape))
    return shape, left * width, right * width


def _cell_means(brightness: Plane, rows: int, columns: int) -> Values:
    """Five moments of each cell, of normalised brightness and of its products with its four neighbours.

    Means of magnitudes, squares, signed squares, signs and nonzero values, as an array of 5 planes × 5 moments × grid.
    All five of a product are the products of the neighbours' own. The plane is taken as going on with its other end
    beyond each border.
    """
    around = np.asarray(cv2.copyMakeBorder(normalise(brightness)[0], 1, 0, 1, 1, cv2.BORDER_WRAP), np.float32)
    magnitudes, signs = np.abs(around), np.sign(around)
    height, width = brightness.shape[0] // rows, brightness.shape[1] // columns
    found = np.empty((1 + len(NEIGHBOURS), 5, rows, columns))
    for moment, plane in enumerate((magnitudes, around * around, around * magnitudes, signs, np.abs(signs))):

        def cells(down: int, across: int, plane: Plane = plane) -> Plane:
            """What lies so far above and to the left of the cells' pixels."""
            part = plane[1 - down : 1 - down + rows * height, 1 - across : 1 - across + columns * width]
            return part.reshape(rows, height, columns, width)

        own = cells(0, 0)
        found[0, moment] = np.einsum("rhcw->rhc", own).mean(axis=1, dtype=np.float64) / width
        for number, neighbour in enumerate(NEIGHBOURS, 1):
            products = np.einsum("rhcw,rhcw->rhc", own, cells(*neighbour))
            found[number, moment] = products.mean(axis=1, dtype=np.float64) / width
    return found


@functools.lru_cache(maxsize=1)
def _shape_table() -> tuple[Values, Values]:
    """Shapes and the ratio of squared mean magnitude to mean square that each implies."""
    shapes = np.arange(0.2, 10.001, 0.001)
    ratios = _gamma(2 / shapes) ** 2 / (_gamma(1 / shapes) * _gamma(3 / shapes))
    return shapes, ratios


def _gamma(values: Values) -> Values:
    return np.asarray([math.gamma(value) for value in values.ravel()]).reshape(values.shape)


CELL = 96


def nss_distance(image: Image) -> float:
    """The Mahalanobis-like distance of the image's cells, taken together, from clean photographs."""
    clean = load_parameters("nss_distance")
    features = features_by_cell(image).reshape(-1, len(clean["mean"]))
    spread = np.cov(features, rowvar=False) if len(features) > 1 else np.zeros_like(clean["covariance"])
    offset, covariance = features.mean(axis=0) - clean["mean"], (spread + clean["covariance"]) / 2
    return math.sqrt(max(0.0, float(offset @ np.linalg.pinv(covariance) @ offset)))


def features_by_cell(image: Image) -> Values:
    """Thirty-six numbers for each cell of the brightness of an image."""
    require_image(image, CELL)
    rows, columns = (side // CELL for side in image.shape[:2])
    return cell_features(rounded_luma(image[: rows * CELL, : columns * CELL]), rows, columns)


SMALLEST_SIDE = 32
FARTHEST = 5.0


def nss_regression(image: Image) -> float:
    """The predicted mean opinion from 0 to 1; what resembles no rated photograph gets a low one."""
    return float(predict(opinion_features(image)))


def opinion_features(image: Image) -> Values:
    """The statistics of Y, I and Q over the whole image, 36 each."""
    require_image(image, SMALLEST_SIDE)
    _, first_chroma, second_chroma = colour_planes(image, YIQ)
    planes = (rounded_luma(image), first_chroma, second_chroma)
    return np.concatenate([cell_features(plane, 1, 1).reshape(-1) for plane in planes])


def predict(features: Values) -> Values:
    """Opinions for one row of features or many."""
    fitted = load_parameters("nss_regression")
    standard = standardise(features, fitted["mean"], fitted["scale"])
    return np.clip(fitted["base"] + likeness(standard, fitted["centres"], fitted["gamma"]) @ fitted["weights"], 0, 1)


def standardise(features: Values, mean: Values, scale: Values) -> Values:
    """Features in deviations from those of rated photographs, no further away than five."""
    return np.clip((features - mean) / scale, -FARTHEST, FARTHEST)


def likeness(standard: Values, centres: Values, gamma: Values) -> Values:
    """How much features resemble each centre, from 0 to 1."""
    squares = (standard**2).sum(axis=-1)[..., None] + (centres**2).sum(axis=-1) - 2 * standard @ centres.T
    return np.asarray(np.exp(-gamma * np.maximum(squares, 0)))
