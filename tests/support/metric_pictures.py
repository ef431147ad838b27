"""Distorted photographs for comparing metrics with other libraries.

The damage is plain array arithmetic, so that every machine gets the same pixels whatever codec it has.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from scipy import fft

from tests.support.photos import photo

Pixels = NDArray[np.uint8]
PHOTOGRAPHS = ("astronaut", "chelsea", "coffee", "rocket", "hubble_deep_field")


def pair(name: str) -> tuple[Pixels, Pixels]:
    """The distorted picture and its original, for a name such as "coffee/grain"."""
    photograph, damage = name.split("/")
    original = photo(photograph)
    return DAMAGES[damage](original), original


def fingerprint(pixels: Pixels) -> str:
    """A short hash of the pixels."""
    return hashlib.sha256(pixels.tobytes()).hexdigest()[:16]


def _grain(image: Pixels) -> Pixels:
    return _to_bytes(image + np.random.default_rng(7).normal(0, 12, image.shape))


def _blur(image: Pixels) -> Pixels:
    padded = np.pad(image.astype(np.int64), ((2, 2), (2, 2), (0, 0)), mode="edge")
    windows = sliding_window_view(padded, (5, 5), axis=(0, 1))
    return _to_bytes(windows.mean(axis=(3, 4)))


def _blocks(image: Pixels) -> Pixels:
    rows, columns = (side // 8 for side in image.shape[:2])
    cells = image[: rows * 8, : columns * 8].reshape(rows, 8, columns, 8, 3).astype(np.float64)
    coefficients = fft.dctn(cells, axes=(1, 3), norm="ortho")
    coarse = np.rint(coefficients / 64) * 64
    damaged = image.copy()
    damaged[: rows * 8, : columns * 8] = _to_bytes(fft.idctn(coarse, axes=(1, 3), norm="ortho")).reshape(
        rows * 8, columns * 8, 3
    )
    return damaged


def _flat(image: Pixels) -> Pixels:
    return _to_bytes(image * 0.45 + 80)


def _warm(image: Pixels) -> Pixels:
    return _to_bytes(image + np.array([30, 4, -34]))


def _steps(image: Pixels) -> Pixels:
    return _to_bytes(image // 40 * 40 + 20.0)


def _to_bytes(values: NDArray[Any]) -> Pixels:
    return np.asarray(np.clip(np.rint(values), 0, 255), np.uint8)


DAMAGES: dict[str, Callable[[Pixels], Pixels]] = {
    "grain": _grain,
    "blur": _blur,
    "blocks": _blocks,
    "flat": _flat,
    "warm": _warm,
    "steps": _steps,
}
NAMES = tuple(f"{photograph}/{damage}" for photograph in PHOTOGRAPHS for damage in DAMAGES)
