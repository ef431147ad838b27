"""GMSD (Xue et al., 2014) and MS_GMSDc (Zhang et al., 2017) with their constants; lower is better, 0 is identical."""

from __future__ import annotations

import math

import cv2
import numpy as np

from agenticiqa.tools.metrics import planes
from agenticiqa.tools.metrics.planes import Image, Plane

SMALLEST_SIDE = 6
SMALLEST_SIDE_MULTISCALE = 17
CONSTANT = 170.0
SCALE_WEIGHTS = (0.096, 0.596, 0.289, 0.019)
MASKING = 0.5
CHROMA_WEIGHT = 0.01


def gmsd(test: Image, reference: Image) -> float:
    """The standard deviation of the gradient similarity of Y at half size."""
    return _deviation(gmsd_map(test, reference))


def gmsd_map(test: Image, reference: Image) -> Plane:
    """The gradient similarity of Y at half size, 1 where nothing changed."""
    planes.require_pair(test, reference, SMALLEST_SIDE)
    return _gradient_similarity(
        planes.halve(planes.luma(planes.to_float(test))), planes.halve(planes.luma(planes.to_float(reference)))
    )


def ms_gmsdc(test: Image, reference: Image) -> float:
    """The masked gradient deviation over four scales, joined with the chroma error of the coarsest."""
    planes.require_pair(test, reference, SMALLEST_SIDE_MULTISCALE)
    pixels = planes.to_float(test), planes.to_float(reference)
    variance = 0.0
    for scale, weight in enumerate(SCALE_WEIGHTS):
        if scale:
            pixels = planes.halve(pixels[0]), planes.halve(pixels[1])
        gradients = _gradient_similarity(planes.luma(pixels[0]), planes.luma(pixels[1]), MASKING)
        variance += weight * _deviation(gradients) ** 2
    deviation = math.sqrt(variance)
    share = 2 / (1 + 0.32 * math.exp(-15 * deviation)) - 1
    return share * deviation + (1 - share) * CHROMA_WEIGHT * _chroma_error(pixels[0] - pixels[1])


def _gradient_similarity(test: Plane, reference: Plane, masking: float = 0.0) -> Plane:
    energies = planes.gradient_energy(test, planes.PREWITT), planes.gradient_energy(reference, planes.PREWITT)
    return planes.energy_similarity(*energies, CONSTANT, masking)


def _deviation(plane: Plane) -> float:
    return float(cv2.meanStdDev(plane)[1][0, 0])


def _chroma_error(difference: Plane) -> float:
    """The root mean squared difference of I and Q together."""
    chroma = cv2.transform(difference, planes.YIQ[1:])
    return math.sqrt(cv2.norm(chroma, cv2.NORM_L2SQR) / np.prod(difference.shape[:2]))
