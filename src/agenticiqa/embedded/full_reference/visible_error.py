"""Visible error by frequency: 8 × 8 cosine blocks weighted by the eye's sensitivity, with and without masking."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from agenticiqa.embedded.trunk import Floats
from agenticiqa.tools.metrics.planes import block_dct

Planes = tuple[Floats, Floats, Floats]
SIDE = 8
# Cycles per degree of the finest pattern a picture shows when looked at from about four times its height.
FINEST = 32.0


def visible_error(test: Planes, reference: Planes) -> dict[str, float]:
    """Log energies of the weighted difference: plain, masked by texture, and without change of mean and gain."""
    changed, original = ([_cosines(plane) for plane in planes] for planes in (test, reference))
    found = {}
    for name, first, second, weight in zip(("y", "cb", "cr"), changed, original, _weights(), strict=True):
        difference = np.abs(first - second) * weight
        found[f"visible.{name}"] = _decibels(difference)
        found[f"visible.{name}_masked"] = _decibels(_unmasked(difference, first * weight, second * weight))
    found["visible.y_corrected"] = _decibels(np.abs(_corrected(changed[0], original[0]) - original[0]) * _weights()[0])
    return found


def _cosines(plane: Floats) -> Floats:
    rows, columns = plane.shape[0] // SIDE, plane.shape[1] // SIDE
    blocks = plane[: rows * SIDE, : columns * SIDE].reshape(rows, SIDE, columns, SIDE).transpose(0, 2, 1, 3)
    return block_dct(np.ascontiguousarray(blocks).reshape(-1, SIDE, SIDE))


@lru_cache(maxsize=1)
def _weights() -> tuple[Floats, Floats, Floats]:
    """Sensitivity to each cosine of luma and chroma; chroma is seen at lower frequencies only."""
    rows, columns = np.mgrid[0:SIDE, 0:SIDE]
    frequency = np.hypot(rows, columns) * FINEST / SIDE
    luma = 2.6 * (0.0192 + 0.114 * frequency) * np.exp(-((0.114 * frequency) ** 1.1))
    # Below its peak the formula falls to zero, but a wide change of brightness is seen.
    luma = np.where(frequency < 8, luma.max(), luma)
    chroma = np.exp(-0.15 * frequency)
    return luma.astype(np.float32), chroma.astype(np.float32), chroma.astype(np.float32)


def _unmasked(difference: Floats, first: Floats, second: Floats) -> Floats:
    """What is left of the difference above the threshold that each block's texture raises."""
    masking = np.minimum(_texture(first), _texture(second))
    threshold = 0.25 * np.sqrt(masking)[:, None, None]
    left = np.maximum(difference - threshold, 0)
    left[:, 0, 0] = difference[:, 0, 0]
    return np.asarray(left, np.float32)


def _texture(blocks: Floats) -> Floats:
    squares = blocks * blocks
    return np.asarray((squares.sum((1, 2)) - squares[:, 0, 0]) / (SIDE**2 - 1), np.float32)


def _corrected(changed: Floats, original: Floats) -> Floats:
    """The test's cosines after the best common gain and offset are undone."""
    first, second = changed.copy(), original.copy()
    centre = float(second[:, 0, 0].mean())
    first[:, 0, 0] -= float(first[:, 0, 0].mean())
    second[:, 0, 0] -= centre
    first *= float((first * second).sum() / ((first * first).sum() + 1e-6))
    first[:, 0, 0] += centre
    return first


def _decibels(blocks: Floats) -> float:
    return float(10 * np.log10(0.05 + float((blocks * blocks).mean())))
