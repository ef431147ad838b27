"""MDSI (Nafchi et al., 2016) with its constants: gradients and chroma; lower is better, 0 is identical."""

from __future__ import annotations

import math
from typing import cast

import cv2
import numpy as np

from agenticiqa.tools.metrics import planes
from agenticiqa.tools.metrics.planes import Image, Plane

SMALLEST_SIDE = 6
LHM = np.array([[0.2989, 0.587, 0.114], [0.3, 0.04, -0.35], [0.34, -0.6, 0.17]], np.float32)
GRADIENT_SHARE = np.float32(0.6)


def mdsi(test: Image, reference: Image) -> float:
    """The fourth root of the mean absolute deviation of the fourth root of the similarity map."""
    likeness = mdsi_map(test, reference)
    root = cv2.sqrt(cv2.sqrt(np.abs(likeness)))
    negative = likeness < 0
    # The fourth root of a negative number is complex, with a phase of 45 degrees.
    diagonal = np.float32(math.sqrt(0.5)) * root
    real = np.where(negative, diagonal, root)
    imaginary = np.where(negative, diagonal, np.float32(0))
    deviation = planes.sum_of_squares(
        real - np.float32(planes.mean(real)), imaginary - np.float32(planes.mean(imaginary))
    )
    return math.sqrt(math.sqrt(planes.mean(np.sqrt(deviation))))


def mdsi_map(test: Image, reference: Image, factor: int | None = None) -> Plane:
    """Gradient and chroma similarity, 1 where nothing changed; shrunk by the factor, to viewing size without one."""
    planes.require_pair(test, reference, SMALLEST_SIDE)
    chosen = planes.viewing_factor(test) if factor is None else factor
    first, second = (planes.change_colours(_shrunk(image, chosen), LHM) for image in (test, reference))
    gradients = _gradient_similarity(first[0], second[0])
    return GRADIENT_SHARE * gradients + (1 - GRADIENT_SHARE) * _chroma_similarity(first[1:], second[1:])


def _shrunk(image: Image, factor: int) -> Plane:
    before, after = (factor - 1) // 2, factor // 2
    if after:
        image = cv2.copyMakeBorder(image, before, after, before, after, cv2.BORDER_CONSTANT, value=0)
    return planes.pool(planes.to_float(image), factor)


def _gradient_similarity(test: Plane, reference: Plane) -> Plane:
    average = (test + reference) * np.float32(0.5)
    of_test, of_reference, of_average = (
        planes.gradient_energy(plane, planes.PREWITT) for plane in (test, reference, average)
    )
    # The two corrections first: they cancel exactly where nothing changed.
    likeness = planes.energy_similarity(of_test, of_average, 55)
    likeness -= planes.energy_similarity(of_reference, of_average, 55)
    likeness += planes.energy_similarity(of_test, of_reference, 140)
    return likeness


def _chroma_similarity(test: tuple[Plane, Plane], reference: tuple[Plane, Plane]) -> Plane:
    difference = planes.sum_of_squares(test[0] - reference[0], test[1] - reference[1])
    spread = planes.sum_of_squares(*test) + planes.sum_of_squares(*reference)
    return cast(Plane, 1 - difference / (spread + np.float32(550)))
