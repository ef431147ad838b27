"""Noise sigma in grey levels, from the fine structure of the blocks that have the least coarse structure."""

from __future__ import annotations

import math

import cv2
import numpy as np
from numpy.typing import NDArray

from agenticiqa.tools.metrics.planes import DCT_OF_BLOCK, Image, Plane, median, require_image

SMALLEST_SIDE = 16
BLOCK = 8
STRIDE = 4
MOST_BLOCKS = 40_000
FEWEST_BLOCKS = 24
SMOOTH_SHARE = 0.1
# Clipping hides noise, so blocks that touch the ends of the scale are left out while enough remain.
DARKEST, BRIGHTEST = 1, 254
ORDER = np.add.outer(np.arange(BLOCK), np.arange(BLOCK))
TO_COARSE = np.ascontiguousarray(DCT_OF_BLOCK[:, ((ORDER >= 1) & (ORDER <= 5)).ravel()])
TO_FINE = np.ascontiguousarray(DCT_OF_BLOCK[:, (ORDER >= 8).ravel()])
# The median of the square of a standard normal variable.
MEDIAN_SQUARE = 0.45494


def noise_sigma(image: Image) -> float:
    """The standard deviation of independent noise, mean of the three channels, in grey levels of 255."""
    require_image(image, SMALLEST_SIDE)
    return float(_sigmas(np.stack(cv2.split(image))).mean())


def noise_sigmas(images: NDArray[np.uint8]) -> NDArray[np.float64]:
    """The same of each of several images of one size, stacked."""
    require_image(images[0], SMALLEST_SIDE)
    planes = images.transpose(0, 3, 1, 2).reshape(-1, *images.shape[1:3])
    return np.asarray(_sigmas(planes).reshape(-1, 3).mean(axis=1))


def _sigmas(planes: NDArray[np.uint8]) -> NDArray[np.float64]:
    """The noise of each plane of a stack."""
    step = _step(planes)
    blocks = _blocks(planes, step)
    # White noise is independent between coefficients: choosing by the coarse ones does not bias the fine ones.
    coarse = np.square(blocks.reshape(-1, BLOCK * BLOCK) @ TO_COARSE).sum(axis=1).reshape(blocks.shape[:2])
    return np.array([_sigma(*plane) for plane in zip(blocks, coarse, _unclipped(planes, step), strict=True)])


def _sigma(blocks: Plane, coarse: Plane, unclipped: NDArray[np.bool_]) -> float:
    kept = np.flatnonzero(unclipped)
    if len(kept) < FEWEST_BLOCKS:
        kept = np.arange(len(coarse))
    count = max(min(FEWEST_BLOCKS, len(kept)), int(len(kept) * SMOOTH_SHARE))
    smoothest = kept[np.argpartition(coarse[kept], count - 1)[:count]]
    return math.sqrt(median(np.square(blocks[smoothest] @ TO_FINE)) / MEDIAN_SQUARE)


def _step(planes: NDArray[np.uint8]) -> int:
    """How far apart blocks begin, so that a large plane has no more of them than a small one."""
    rows, columns = (side - BLOCK + 1 for side in planes.shape[1:])
    return max(STRIDE, math.isqrt(rows * columns // MOST_BLOCKS))


def _blocks(planes: NDArray[np.uint8], step: int) -> Plane:
    """Evenly spread 8 × 8 blocks of each plane, as rows of 64 samples."""
    count, height, width = planes.shape
    shape = (count, *((side - BLOCK) // step + 1 for side in (height, width)), BLOCK)
    # A block's row of eight bytes is copied as one word, four times as fast as sample by sample.
    strides = (height * width, step * width, step, width)
    words = np.ndarray(shape, np.uint64, np.ascontiguousarray(planes).data, strides=strides)
    return words.copy().view(np.uint8).astype(np.float32).reshape(count, -1, BLOCK * BLOCK)


def _unclipped(planes: NDArray[np.uint8], step: int) -> NDArray[np.bool_]:
    """Which of those blocks stay away from the ends of the scale."""
    count, height, width = planes.shape
    stacked = planes.reshape(-1, width)
    ends = ((stacked < DARKEST) | (stacked > BRIGHTEST)).view(np.uint8)
    # Blocks begin at their place and end inside their plane, so none sees the next one.
    met = cv2.dilate(ends, np.ones((BLOCK, BLOCK), np.uint8), anchor=(0, 0)).reshape(count, height, width)
    starts = met[:, : height - BLOCK + 1 : step, : width - BLOCK + 1 : step]
    return np.asarray(starts.reshape(count, -1) == 0)
