"""Blur: the radius of the Gaussian that would explain how soft the edges are, and sharpness from 0 to 1."""

from __future__ import annotations

import math
from typing import cast

import cv2
import numpy as np
from numpy.typing import NDArray

from agenticiqa.tools.metrics.planes import (
    Image,
    Plane,
    load_parameters,
    percentile,
    require_image,
    rounded_luma,
    sum_of_squares,
)

SMALLEST_SIDE = 24
LARGEST_RADIUS = 12.0
REBLURS = (0.7, 1.2, 2.0, 3.5, 6.0)
PERCENTILES = (50, 75, 90, 97)
EDGE_PERCENTILE = 90
FAINTEST_EDGE = 3.0
FEWEST_EDGES = 20
MARGIN = 4
# A clean photograph is not infinitely sharp: its own softness, in pixels, is not counted as blur.
OWN_SOFTNESS = 0.5
SHARPNESS_WINDOW = 11


def blur_radius(image: Image) -> float:
    """The sigma in pixels of the Gaussian blur the edges show, 0 for a sharp image and at most 12."""
    require_image(image, SMALLEST_SIDE)
    features = edge_features(rounded_luma(image))
    if features is None:
        return LARGEST_RADIUS
    fitted = load_parameters("blur_radius")
    softness = math.exp(min(3.0, float(expand(features, fitted["mean"], fitted["scale"]) @ fitted["weights"])))
    return min(LARGEST_RADIUS, math.sqrt(max(0.0, softness**2 - OWN_SOFTNESS**2)))


def edge_features(brightness: Plane) -> NDArray[np.float64] | None:
    """How much the strongest edges fade under five further blurs, as percentiles; None without edges."""
    slope = _slope(brightness)
    edges = _edges(slope)
    if len(edges) < FEWEST_EDGES:
        return None
    before = slope.ravel()[edges]
    blurred = (np.asarray(cv2.GaussianBlur(brightness, (0, 0), sigma)) for sigma in REBLURS)
    faded = np.stack([_slope_at(plane, edges) for plane in blurred])
    # A tenth of a grey level keeps rounding of faint slopes from deciding.
    return np.ravel(percentile(np.log((before + 0.1) / (faded + 0.1)), PERCENTILES, by_row=True))


def expand(features: NDArray[np.float64], mean: NDArray[np.float64], scale: NDArray[np.float64]) -> NDArray[np.float64]:
    """A constant, the standardised features and their products in pairs."""
    standard = (features - mean) / scale
    first, second = np.triu_indices(standard.shape[-1])
    products = standard[..., first] * standard[..., second]
    return np.concatenate([np.ones_like(standard[..., :1]), standard, products], axis=-1)


def sharpness(image: Image) -> float:
    """The share of neighbour differences that a strong blur removes; 1 is crisp, 0 is all blur."""
    require_image(image, SMALLEST_SIDE)
    brightness = rounded_luma(image)
    return min(_lost_share(brightness, axis) for axis in (0, 1))


def _slope(brightness: Plane) -> Plane:
    difference, point = np.array([-0.5, 0, 0.5], np.float32), np.ones(1, np.float32)
    across = cv2.sepFilter2D(brightness, cv2.CV_32F, difference, point, borderType=cv2.BORDER_REFLECT)
    down = cv2.sepFilter2D(brightness, cv2.CV_32F, point, difference, borderType=cv2.BORDER_REFLECT)
    return _size(cast(Plane, across), cast(Plane, down))


def _slope_at(brightness: Plane, places: NDArray[np.intp]) -> Plane:
    """The slope at some places only, none of them at the border."""
    values, width = brightness.ravel(), brightness.shape[1]
    left, right, above, below = (values[places + offset] for offset in (-1, 1, -width, width))
    half = np.float32(0.5)
    return _size((right - left) * half, (below - above) * half)


def _size(across: Plane, down: Plane) -> Plane:
    return cast(Plane, np.sqrt(sum_of_squares(across, down)))


def _edges(slope: Plane) -> NDArray[np.intp]:
    """Where in the flat plane the local peaks among the steepest tenth of the image are, away from its border."""
    threshold = np.float32(max(FAINTEST_EDGE, float(percentile(slope, EDGE_PERCENTILE))))
    inner = (slice(MARGIN, -MARGIN), slice(MARGIN, -MARGIN))
    steep, highest = slope[inner], cv2.dilate(slope, np.ones((3, 3), np.uint8))[inner]
    rows, columns = np.divmod(np.flatnonzero((steep >= highest) & (steep >= threshold)), steep.shape[1])
    return cast(NDArray[np.intp], (rows + MARGIN) * slope.shape[1] + columns + MARGIN)


def _lost_share(brightness: Plane, axis: int) -> float:
    window = (1, SHARPNESS_WINDOW) if axis == 0 else (SHARPNESS_WINDOW, 1)
    blurred = cv2.blur(brightness, window, borderType=cv2.BORDER_REFLECT)
    before, after = (_differences(plane, axis) for plane in (brightness, blurred))
    total = cv2.sumElems(before)[0]
    return cv2.sumElems(np.maximum(before - after, 0))[0] / total if total else 0.0


def _differences(plane: Plane, axis: int) -> Plane:
    along_x, along_y = (0, 1) if axis == 0 else (1, 0)
    slopes = cv2.Sobel(plane, cv2.CV_32F, along_x, along_y, borderType=cv2.BORDER_REFLECT)
    return cast(Plane, np.abs(slopes)[2:-1, 2:-1])
