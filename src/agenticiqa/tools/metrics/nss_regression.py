"""NSS_REGRESSION: an opinion learnt from natural-scene statistics of brightness and colour; higher is better.

The idea is BRISQUE's; features and regression are our own. Fitted on ratings of BIQ2021's training split and on
damaged clean photographs, for which HaarPSI stood in for ratings.
"""

from __future__ import annotations

import numpy as np

from agenticiqa.tools.metrics.nss import Values, cell_features
from agenticiqa.tools.metrics.planes import (
    YIQ,
    Image,
    colour_planes,
    load_parameters,
    require_image,
    rounded_luma,
)

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
