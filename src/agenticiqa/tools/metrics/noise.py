"""Noise sigma in grey levels, from the fine structure of the blocks that have the least coarse structure."""

from __future__ import annotations

import math

import cv2
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from agenticiqa.tools.metrics.planes import Image, block_dct, require_image

SMALLEST_SIDE = 16
BLOCK = 8
STRIDE = 4
MOST_BLOCKS = 40_000
FEWEST_BLOCKS = 24
SMOOTH_SHARE = 0.1
# Clipping hides noise, so blocks that touch the ends of the scale are left out while enough remain.
DARKEST, BRIGHTEST = 1, 254
ORDER = np.add.outer(np.arange(BLOCK), np.arange(BLOCK))
COARSE = (ORDER >= 1) & (ORDER <= 5)
FINE = ORDER >= 8
# The median of the square of a standard normal variable.
MEDIAN_SQUARE = 0.45494


def noise_sigma(image: Image) -> float:
    """The standard deviation of independent noise, mean of the three channels, in grey levels of 255."""
    require_image(image, SMALLEST_SIDE)
    return float(np.mean([_channel_sigma(channel) for channel in cv2.split(image)]))


def _channel_sigma(channel: Image) -> float:
    energy = block_dct(_blocks(channel).astype(np.float32)) ** 2
    # White noise is independent between coefficients: choosing by the coarse ones does not bias the fine ones.
    coarse = energy[:, COARSE].sum(axis=1)
    count = max(min(FEWEST_BLOCKS, len(coarse)), int(len(coarse) * SMOOTH_SHARE))
    smoothest = np.argpartition(coarse, count - 1)[:count]
    return math.sqrt(float(np.median(energy[smoothest][:, FINE])) / MEDIAN_SQUARE)


def _blocks(channel: Image) -> NDArray[np.uint8]:
    """Evenly spread 8 × 8 blocks."""
    windows = sliding_window_view(channel, (BLOCK, BLOCK))
    step = max(STRIDE, math.isqrt(windows.shape[0] * windows.shape[1] // MOST_BLOCKS))
    blocks = windows[::step, ::step].reshape(-1, BLOCK, BLOCK)
    unclipped = blocks[(blocks.min(axis=(1, 2)) >= DARKEST) & (blocks.max(axis=(1, 2)) <= BRIGHTEST)]
    return unclipped if len(unclipped) >= FEWEST_BLOCKS else blocks
