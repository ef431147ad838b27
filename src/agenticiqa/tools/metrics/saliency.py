"""SDSP saliency: what draws the eye, from band-pass contrast, nearness to the centre and warm colours."""

from __future__ import annotations

import functools
from typing import cast

import cv2
import numpy as np
from numpy.typing import NDArray

from agenticiqa.tools.metrics.phase_congruency import frequencies
from agenticiqa.tools.metrics.planes import Plane

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


def saliency(pixels: Plane) -> Plane:
    """The unscaled saliency of float RGB pixels on a 256 × 256 grid."""
    lab = _lab(cv2.resize(pixels, (SIDE, SIDE), interpolation=cv2.INTER_LINEAR))
    contrast = np.sqrt(sum(_band_pass(channel) ** 2 for channel in lab))
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


def _band_pass(channel: Plane) -> Plane:
    return cast(Plane, np.fft.irfft2(np.fft.rfft2(channel) * _log_gabor(), s=channel.shape))


def _stretched(channel: Plane) -> Plane:
    low, high = np.float32(channel.min()), np.float32(channel.max())
    return (channel - low) / (high - low + TINY)


@functools.lru_cache(maxsize=1)
def _log_gabor() -> Plane:
    radius = _radius()[:, : SIDE // 2 + 1]
    # Beyond half a cycle per pixel the published code lets the filter see a radius of 0.
    inside = np.where(radius <= 0.5, radius, 0)
    with np.errstate(divide="ignore"):
        distance = np.log(inside / CENTRE_FREQUENCY)
    return _frozen(np.exp(-(distance**2) / (2 * BANDWIDTH**2)))


@functools.lru_cache(maxsize=1)
def _centre() -> Plane:
    place = np.fft.fftshift(frequencies(SIDE)) * SIDE + 1
    distance = place[:, None] ** 2 + place[None, :] ** 2
    return _frozen(np.exp(-distance / CENTRE_SPREAD**2))


def _radius() -> NDArray[np.float64]:
    line = frequencies(SIDE)
    return np.hypot(line[:, None], line[None, :])


def _frozen(values: NDArray[np.float64]) -> Plane:
    single = values.astype(np.float32)
    single.setflags(write=False)
    return single
