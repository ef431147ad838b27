"""Noise sigma in grey levels, from the fine structure of the blocks that have the least coarse structure."""

from __future__ import annotations

import math

import cv2
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from agenticiqa.tools.metrics.planes import DCT_OF_BLOCK, Image, Plane, require_image

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
    blocks = _blocks(planes)
    # White noise is independent between coefficients: choosing by the coarse ones does not bias the fine ones.
    coarse = np.square(blocks.reshape(-1, BLOCK * BLOCK) @ TO_COARSE).sum(axis=1).reshape(blocks.shape[:2])
    unclipped = (blocks.min(axis=2) >= DARKEST) & (blocks.max(axis=2) <= BRIGHTEST)
    return np.array([_sigma(*plane) for plane in zip(blocks, coarse, unclipped, strict=True)])


def _sigma(blocks: Plane, coarse: Plane, unclipped: NDArray[np.bool_]) -> float:
    if np.count_nonzero(unclipped) >= FEWEST_BLOCKS:
        blocks, coarse = blocks[unclipped], coarse[unclipped]
    count = max(min(FEWEST_BLOCKS, len(coarse)), int(len(coarse) * SMOOTH_SHARE))
    smoothest = np.argpartition(coarse, count - 1)[:count]
    return math.sqrt(float(np.median(np.square(blocks[smoothest] @ TO_FINE))) / MEDIAN_SQUARE)


def _blocks(planes: NDArray[np.uint8]) -> Plane:
    """Evenly spread 8 × 8 blocks of each plane, as rows of 64 samples."""
    windows = sliding_window_view(planes, (BLOCK, BLOCK), axis=(1, 2))
    step = max(STRIDE, math.isqrt(windows.shape[1] * windows.shape[2] // MOST_BLOCKS))
    return windows[:, ::step, ::step].astype(np.float32).reshape(len(planes), -1, BLOCK * BLOCK)
