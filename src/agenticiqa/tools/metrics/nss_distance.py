"""NSS_DISTANCE: how far local statistics are from those of clean photographs; lower is better.

The idea is NIQE's; cells, scales and the model of clean photographs are our own.
"""

from __future__ import annotations

import math
from typing import cast

import cv2
import numpy as np

from agenticiqa.tools.metrics.nss import Values, cell_features, normalise
from agenticiqa.tools.metrics.planes import Image, load_parameters, require_image, rounded_luma

CELL = 96
SMALLEST_SIDE = CELL


def nss_distance(image: Image) -> float:
    """The Mahalanobis-like distance of the image's cells, taken together, from clean photographs."""
    clean = load_parameters("nss_distance")
    features = _features(image).reshape(-1, len(clean["mean"]))
    spread = np.cov(features, rowvar=False) if len(features) > 1 else np.zeros_like(clean["covariance"])
    return _distance(features.mean(axis=0) - clean["mean"], (spread + clean["covariance"]) / 2)


def _features(image: Image) -> Values:
    require_image(image, SMALLEST_SIDE)
    rows, columns = (side // CELL for side in image.shape[:2])
    return cell_features(rounded_luma(image[: rows * CELL, : columns * CELL]), rows, columns)


def clean_cells(image: Image, least_share: float) -> Values:
    """The features of the cells that are at least this share as sharp as the sharpest, for fitting."""
    features = _features(image)
    rows, columns = features.shape[:2]
    deviation = normalise(rounded_luma(image[: rows * CELL, : columns * CELL]))[1]
    sharpness = cv2.resize(deviation, (columns, rows), interpolation=cv2.INTER_AREA).reshape(rows, columns)
    return cast(Values, features[sharpness >= least_share * sharpness.max()])


def _distance(offset: Values, covariance: Values) -> float:
    return math.sqrt(max(0.0, float(offset @ np.linalg.pinv(covariance) @ offset)))
