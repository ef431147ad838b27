"""JPEG traces in pixels: the quality setting the coefficients betray, and the visible block grid."""

from __future__ import annotations

import functools

import cv2
import numpy as np
from numpy.typing import NDArray

from agenticiqa.images.containers import luminance_steps
from agenticiqa.tools.metrics.planes import YIQ, Image, block_dct, phase_means, profile, require_image

SMALLEST_SIDE = 32
BLOCK = 8
MOST_BLOCKS = 16_384
NO_TRACES = 100.0
BINS_PER_LEVEL = 4
HIGHEST = 1024
SMALLEST_COEFFICIENT = 1.5
# Rounding to whole RGB values after decoding moves a coefficient by about this much.
ROUNDING_SIGMA = 0.5
OUTLIERS = 0.05
LEAST_EVIDENCE = 0.02


def jpeg_quality(image: Image) -> float:
    """The quality (1–99) of the last JPEG compression, or 100 where the pixels show none."""
    require_image(image, SMALLEST_SIDE)
    grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    evidence = np.max([_evidence(image, *offset) for offset in {(0, 0), _grid_offset(grey)}], axis=0)
    best = int(evidence.argmax())
    return float(best + 1) if evidence[best] > LEAST_EVIDENCE else NO_TRACES


def blockiness(image: Image) -> float:
    """How much larger steps across the 8-pixel grid are than steps inside it; 0 is none, 1 is double."""
    require_image(image, SMALLEST_SIDE)
    grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    down, across = (_excess(_step_profile(grey, axis)) for axis in (0, 1))
    return max(0.0, (down + across) / 2)


def _grid_offset(grey: Image) -> tuple[int, int]:
    """Where the block grid seems to begin, down and across."""
    down, across = (int(_step_profile(grey, axis).argmax() + 1) % BLOCK for axis in (0, 1))
    return down, across


def _step_profile(grey: Image, axis: int) -> NDArray[np.float64]:
    """The mean step between neighbours at each of the eight phases of the grid."""
    steps = cv2.absdiff(grey[1:], grey[:-1]) if axis == 0 else cv2.absdiff(grey[:, 1:], grey[:, :-1])
    return phase_means(profile(np.asarray(steps), 1 - axis), BLOCK)


def _excess(profile: NDArray[np.float64]) -> float:
    inside = (profile.sum() - profile.max()) / (BLOCK - 1)
    return float(profile.max() / inside - 1) if inside > 0 else 0.0


def _evidence(image: Image, down: int, across: int) -> NDArray[np.float64]:
    """Log-likelihood gain per coefficient of each quality over no compression, for one grid offset."""
    histograms = _coefficient_histograms(_coefficients(image[down:, across:]))
    count = max(1.0, histograms.sum())
    # Of the magnitudes up to the largest most do not occur.
    met = np.flatnonzero(histograms.any(axis=0))
    scores = histograms[:, met] @ _lattice_gains()[met]
    # At quality 100 every step is 1, as without compression.
    return np.asarray(scores[np.arange(BLOCK * BLOCK), luminance_steps()[:-1] - 1].sum(axis=1) / count)


def _coefficients(image: Image) -> NDArray[np.float32]:
    """The cosine transforms of evenly spread blocks of Y in which no channel is clipped."""
    rows, columns = (side // BLOCK for side in image.shape[:2])
    cells = image[: rows * BLOCK, : columns * BLOCK].reshape(rows, BLOCK, columns, BLOCK, 3).swapaxes(1, 2)
    cells = cells.reshape(-1, BLOCK, BLOCK, 3)[:: max(1, rows * columns // MOST_BLOCKS)]
    samples = cells.reshape(len(cells), -1)
    unclipped = cells[(samples.min(axis=1) > 0) & (samples.max(axis=1) < 255)]
    # One long product: as a stack of small ones it takes five times as long.
    luma = unclipped.reshape(-1, 3).astype(np.float32) @ YIQ[0]
    return block_dct(luma.reshape(-1, BLOCK, BLOCK))


def _coefficient_histograms(coefficients: NDArray[np.float32]) -> NDArray[np.float64]:
    """How often each magnitude, up to the largest there is, occurs at each of the 63 varying positions of a block."""
    magnitudes = np.abs(coefficients.reshape(-1, BLOCK * BLOCK))
    magnitudes[:, 0] = 0
    bins = np.rint(magnitudes * BINS_PER_LEVEL)
    counted = (magnitudes > SMALLEST_COEFFICIENT) & (bins < HIGHEST * BINS_PER_LEVEL)
    # Most magnitudes are small, and columns nobody fills cost as much as others.
    places = np.flatnonzero(counted)
    values = bins.ravel()[places].astype(np.intp)
    used = int(values.max(initial=0)) + 1
    counts = np.bincount(values + used * (places % (BLOCK * BLOCK)), minlength=BLOCK * BLOCK * used)
    return counts.reshape(BLOCK * BLOCK, used).astype(np.float64)


@functools.lru_cache(maxsize=1)
def _lattice_gains() -> NDArray[np.float64]:
    """For each magnitude and step 1–255: log density if values sit on multiples of the step, over even spread."""
    gains = np.empty((255, HIGHEST * BINS_PER_LEVEL))
    for step, row in enumerate(gains, 1):
        # From one multiple of the step to the next, and so on again and again.
        magnitudes = np.arange(BINS_PER_LEVEL * step) / BINS_PER_LEVEL
        row[:] = np.resize(_lattice_gain(magnitudes - step * np.rint(magnitudes / step), step), len(row))
    return np.ascontiguousarray(gains.T)


def _lattice_gain(off: NDArray[np.float64], step: int) -> NDArray[np.float64]:
    density = sum(np.exp(-(((off - shift * step) / ROUNDING_SIGMA) ** 2) / 2) for shift in (-1, 0, 1))
    return np.asarray(np.log((1 - OUTLIERS) * step * density / (ROUNDING_SIGMA * np.sqrt(2 * np.pi)) + OUTLIERS))
