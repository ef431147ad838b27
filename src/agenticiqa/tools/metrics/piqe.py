"""PIQE (Venkatanath et al., 2015) with its constants: the share of damaged 16-pixel blocks; lower is better, 0–100."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from agenticiqa.tools.metrics.planes import Image, require_image

SMALLEST_SIDE = 16
BLOCK = 16
SEGMENT = 6
THRESHOLD = 0.1
Values = NDArray[np.float64]


def piqe(image: Image) -> float:
    """The PIQE score; an image without texture scores 100."""
    require_image(image, SMALLEST_SIDE)
    blocks = _blocks(_normalised(image))
    variance = blocks.var(axis=(2, 3), ddof=1)
    active = variance > THRESHOLD
    damage = np.where(_has_flat_edge(blocks), 1 - variance, 0) + np.where(_is_noisy(blocks, variance), variance, 0)
    return float((damage[active].sum() + 1) / (active.sum() + 1) * 100)


def _normalised(image: Image) -> Values:
    """Grey values stretched to 255, less their local mean over their local deviation plus one."""
    grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    below, beside = (-side % BLOCK for side in grey.shape)
    grey = cv2.copyMakeBorder(grey, 0, below, 0, beside, cv2.BORDER_REFLECT)
    # Double precision: the thresholds below decide whole blocks.
    stretched = np.rint(255 * (grey / max(1, int(grey.max()))))
    mean, square = (
        cv2.GaussianBlur(plane, (7, 7), 7 / 6, borderType=cv2.BORDER_REPLICATE)
        for plane in (stretched, stretched * stretched)
    )
    return np.asarray((stretched - mean) / (np.sqrt(np.abs(square - mean * mean)) + 1), np.float64)


def _blocks(plane: Values) -> Values:
    rows, columns = (side // BLOCK for side in plane.shape)
    return np.ascontiguousarray(plane.reshape(rows, BLOCK, columns, BLOCK).swapaxes(1, 2))


def _has_flat_edge(blocks: Values) -> NDArray[np.bool_]:
    """Whether some run of six pixels along a block's edge hardly varies, as compression leaves it."""
    edges = np.stack([blocks[..., 0, :], blocks[..., -1, :], blocks[..., :, 0], blocks[..., :, -1]], axis=2)
    deviations = sliding_window_view(edges, SEGMENT, axis=-1).std(axis=-1, ddof=1)
    return np.asarray((deviations < THRESHOLD).any(axis=(2, 3)))


def _is_noisy(blocks: Values, variance: Values) -> NDArray[np.bool_]:
    """Whether the two middle columns vary as much as their surround, as noise does."""
    middle = BLOCK // 2
    centre = blocks[..., middle - 1 : middle + 1].std(axis=(2, 3), ddof=1)
    # The published code drops the columns one after the other, so the second one dropped is one further.
    surround = np.delete(blocks, [middle - 1, middle + 1], axis=3).std(axis=(2, 3), ddof=1)
    ratio = np.divide(centre, surround, out=np.zeros_like(centre), where=surround > 0)
    deviation = np.sqrt(variance)
    larger = np.maximum(np.maximum(deviation, ratio), np.finfo(np.float64).tiny)
    return np.asarray(deviation > 2 * np.abs(deviation - ratio) / larger)
