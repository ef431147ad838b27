"""VSI: saliency, gradients and chroma in LMN; higher is better, 1 is identical."""

from __future__ import annotations

import functools
import math
from typing import cast

import cv2
import numpy as np

from agenticiqa.tools.metrics.planes import (
    SCHARR,
    Image,
    Plane,
    change_colours,
    energy_similarity,
    gradient_energy,
    pool,
    require_pair,
    similarity,
    to_float,
    total,
    viewing_factor,
)
from agenticiqa.tools.metrics.saliency import SIDE, TINY, saliency

SMALLEST_SIDE = 16
LMN = np.array([[0.06, 0.63, 0.27], [0.30, 0.04, -0.35], [0.34, -0.6, 0.17]], np.float32)
GRADIENT_POWER = np.float32(0.4)
CHROMA_POWER = 0.02


def vsi(test: Image, reference: Image) -> float:
    """The similarity weighted by the stronger saliency, at viewing size."""
    likeness, weight = _similarity_and_weight(test, reference)
    tiny = float(TINY)
    return (total(likeness * weight) + tiny) / (total(weight) + tiny)


def vsi_map(test: Image, reference: Image) -> Plane:
    """The similarity of saliency, gradients and chroma at viewing size, 1 where nothing changed."""
    return _similarity_and_weight(test, reference)[0]


def _similarity_and_weight(test: Image, reference: Image) -> tuple[Plane, Plane]:
    require_pair(test, reference, SMALLEST_SIDE)
    salient, salient_reference = (_pooled_saliency(image) for image in (test, reference))
    first, second = (change_colours(_shrunk(image), LMN) for image in (test, reference))
    likeness = energy_similarity(gradient_energy(first[0], SCHARR), gradient_energy(second[0], SCHARR), 386)
    likeness **= GRADIENT_POWER
    likeness *= similarity(salient, salient_reference, 1.27)
    likeness *= _chroma_factor(similarity(first[1], second[1], 130) * similarity(first[2], second[2], 130))
    return likeness, cast(Plane, np.maximum(salient, salient_reference))


def _chroma_factor(chroma: Plane) -> Plane:
    """The real part of the map raised to a small power; a negative value turns it by a small angle."""
    turn = np.where(chroma < 0, np.float32(math.cos(math.pi * CHROMA_POWER)), np.float32(1))
    return np.abs(chroma) ** np.float32(CHROMA_POWER) * turn


def _shrunk(image: Image) -> Plane:
    factor = viewing_factor(image)
    before, after = factor // 2, (factor - 1) // 2
    if before:
        image = cv2.copyMakeBorder(image, before, after, before, after, cv2.BORDER_REPLICATE)
    return pool(to_float(image), factor)


def _pooled_saliency(image: Image) -> Plane:
    """Saliency at viewing size, scaled by its extremes at full size."""
    salient = saliency(to_float(image))
    low, high = -_highest_enlarged(-salient, image.shape), _highest_enlarged(salient, image.shape)
    factor = viewing_factor(image)
    down, across = (_pooled_enlargement(length, factor) for length in image.shape[:2])
    return cast(Plane, (down @ salient @ across.T - low) / (high - low + TINY))


def _highest_enlarged(grid: Plane, shape: tuple[int, ...]) -> np.float32:
    """The highest value the grid would have after bilinear enlargement to the image's size."""
    tall = _enlarged(grid, shape[0])
    # No row can rise above its own grid values, so only rows whose bound beats the best one matter.
    bounds = tall.max(axis=1)
    best = _enlarged(tall[[bounds.argmax()]].T, shape[1]).max()
    contenders = tall[bounds > best]
    return cast(np.float32, _enlarged(contenders.T, shape[1]).max(initial=best))


def _enlarged(grid: Plane, length: int) -> Plane:
    """The grid's rows interpolated to this many, first and last staying first and last."""
    position = np.linspace(0, SIDE - 1, length, dtype=np.float32)
    above = np.minimum(position.astype(np.intp), SIDE - 2)
    share = (position - above)[:, None].astype(np.float32)
    return cast(Plane, grid[above] * (1 - share) + grid[above + 1] * share)


@functools.lru_cache(maxsize=8)
def _pooled_enlargement(length: int, factor: int) -> Plane:
    """The matrix that enlarges 256 values to this length, repeats the ends and means over cells."""
    rows = _enlarged(np.eye(SIDE, dtype=np.float32), length)
    padded = np.pad(rows, ((factor // 2, (factor - 1) // 2), (0, 0)), mode="edge")
    cells = len(padded) // factor
    matrix = padded[: cells * factor].reshape(cells, factor, SIDE).mean(axis=1)
    matrix.setflags(write=False)
    return cast(Plane, matrix)
