"""VSI (Zhang et al., 2014) with its constants: saliency, gradients, chroma in LMN; higher is better, 1 is identical."""

from __future__ import annotations

import functools
import math
from typing import cast

import cv2
import numpy as np

from agenticiqa.tools.metrics import planes
from agenticiqa.tools.metrics.fsim import frequencies
from agenticiqa.tools.metrics.planes import Image, Plane

SMALLEST_SIDE = 16
LMN = np.array([[0.06, 0.63, 0.27], [0.30, 0.04, -0.35], [0.34, -0.6, 0.17]], np.float32)
GRADIENT_POWER = np.float32(0.4)
CHROMA_POWER = 0.02
SIDE = 256
CENTRE_FREQUENCY = 0.021
BANDWIDTH = 1.34
CENTRE_SPREAD = 145.0
WARMTH_SPREAD = np.float32(0.001)
TINY = np.float32(np.finfo(np.float32).eps)
XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
# White point D50 on sRGB primaries: not colorimetry, but what the published saliency code does.
WHITE_D50 = np.array([[0.9642119944211994], [1.0], [0.8251882845188288]])
LAB = np.array([[0, 116, 0], [500, -500, 0], [0, 200, -200]], np.float32)


def vsi(test: Image, reference: Image) -> float:
    """The similarity weighted by the stronger saliency, at viewing size."""
    likeness, weight = _similarity_and_weight(test, reference)
    tiny = float(TINY)
    return (planes.total(likeness * weight) + tiny) / (planes.total(weight) + tiny)


def _similarity_and_weight(test: Image, reference: Image) -> tuple[Plane, Plane]:
    planes.require_pair(test, reference, SMALLEST_SIDE)
    salient, salient_reference = (_pooled_saliency(image) for image in (test, reference))
    first, second = (planes.change_colours(_shrunk(image), LMN) for image in (test, reference))
    likeness = planes.energy_similarity(
        planes.gradient_energy(first[0], planes.SCHARR), planes.gradient_energy(second[0], planes.SCHARR), 386
    )
    likeness **= GRADIENT_POWER
    likeness *= planes.similarity(salient, salient_reference, 1.27)
    likeness *= _chroma_factor(
        planes.similarity(first[1], second[1], 130) * planes.similarity(first[2], second[2], 130)
    )
    return likeness, cast(Plane, np.maximum(salient, salient_reference))


def _chroma_factor(chroma: Plane) -> Plane:
    """The real part of the map raised to a small power; a negative value turns it by a small angle."""
    turn = np.where(chroma < 0, np.float32(math.cos(math.pi * CHROMA_POWER)), np.float32(1))
    return np.abs(chroma) ** np.float32(CHROMA_POWER) * turn


def _shrunk(image: Image) -> Plane:
    factor = planes.viewing_factor(image)
    before, after = factor // 2, (factor - 1) // 2
    if before:
        image = cv2.copyMakeBorder(image, before, after, before, after, cv2.BORDER_REPLICATE)
    return planes.pool(planes.to_float(image), factor)


def _pooled_saliency(image: Image) -> Plane:
    """Saliency at viewing size, scaled by its extremes at full size."""
    salient = saliency(planes.to_float(image))
    low, high = -_highest_enlarged(-salient, image.shape), _highest_enlarged(salient, image.shape)
    factor = planes.viewing_factor(image)
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
    return cast(Plane, matrix)


def saliency(pixels: Plane) -> Plane:
    """The unscaled saliency of float RGB pixels on a 256 × 256 grid."""
    lab = _lab(cv2.resize(pixels, (SIDE, SIDE), interpolation=cv2.INTER_LINEAR))
    contrast = np.sqrt(np.square(_band_pass(np.stack(lab))).sum(axis=0))
    warmth = _stretched(lab[1]) ** 2 + _stretched(lab[2]) ** 2
    return cast(Plane, contrast * _centre() * (1 - np.exp(-warmth / WARMTH_SPREAD**2)))


def _lab(pixels: Plane) -> list[Plane]:
    """CIE Lab planes; the lightness offset of −16 is left out, the band-pass removes it anyway."""
    encoded = pixels / np.float32(255)
    linear = np.where(
        encoded <= 0.04045,
        encoded / np.float32(12.92),
        ((encoded + np.float32(0.055)) / np.float32(1.055)) ** np.float32(2.4),
    )
    xyz = cv2.transform(linear, (XYZ / WHITE_D50).astype(np.float32))
    roots = np.where(xyz > 0.008856, np.cbrt(xyz), (np.float32(903.3) * xyz + 16) / np.float32(116))
    return list(cv2.split(cv2.transform(roots, LAB)))


def _band_pass(channels: Plane) -> Plane:
    return cast(Plane, np.fft.irfft2(np.fft.rfft2(channels) * _log_gabor(), s=channels.shape[1:]))


def _stretched(channel: Plane) -> Plane:
    low, high = np.float32(channel.min()), np.float32(channel.max())
    return (channel - low) / (high - low + TINY)


@functools.lru_cache(maxsize=1)
def _log_gabor() -> Plane:
    line = frequencies(SIDE)
    radius = np.hypot(line[:, None], line[None, : SIDE // 2 + 1])
    # Beyond half a cycle per pixel the published code lets the filter see a radius of 0.
    inside = np.where(radius <= 0.5, radius, 0)
    with np.errstate(divide="ignore"):
        distance = np.log(inside / CENTRE_FREQUENCY)
    return np.exp(-(distance**2) / (2 * BANDWIDTH**2)).astype(np.float32)


@functools.lru_cache(maxsize=1)
def _centre() -> Plane:
    place = np.fft.fftshift(frequencies(SIDE)) * SIDE + 1
    distance = place[:, None] ** 2 + place[None, :] ** 2
    return np.exp(-distance / CENTRE_SPREAD**2).astype(np.float32)
