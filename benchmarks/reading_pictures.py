"""Six versions of five photographs that no model was fitted on: clean, and five flaws that anyone notices."""

from __future__ import annotations

import io
from functools import lru_cache
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

Pixels = NDArray[np.uint8]
# Sharp, well exposed, colourful photographs bundled with scikit-image; none is in a training list.
PHOTOGRAPHS = ("astronaut", "chelsea", "motorcycle_left", "coffee", "rocket")
VERSIONS = ("clean", "blurred", "noisy", "dark", "bright", "blocky")


def version_of(photograph: str, version: str) -> Pixels:
    """The photograph with one strong flaw, or none."""
    pixels = photograph_called(photograph)
    match version:
        case "blurred":
            return _out_of_focus(pixels, 7)
        case "noisy":
            noise = np.random.default_rng(0).normal(0, 40, pixels.shape)
            return np.clip(pixels + noise, 0, 255).astype(np.uint8)
        case "dark":
            return _exposed(pixels, -3.0)
        case "bright":
            return _exposed(pixels, 2.2)
        case "blocky":
            return _jpeg(pixels, 6)
        case _:
            return pixels


def _out_of_focus(pixels: Pixels, radius: int) -> Pixels:
    grid = np.arange(-radius, radius + 1)
    disc = (grid[:, None] ** 2 + grid[None] ** 2 <= radius**2).astype(np.float32)
    return np.asarray(cv2.filter2D(pixels, -1, disc / disc.sum()), dtype=np.uint8)


def _exposed(pixels: Pixels, stops: float) -> Pixels:
    light = (pixels / 255.0) ** 2.2 * 2**stops
    return np.clip(255 * np.clip(light, 0, 1) ** (1 / 2.2) + 0.5, 0, 255).astype(np.uint8)


def _jpeg(pixels: Pixels, quality: int) -> Pixels:
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "JPEG", quality=quality)
    return np.asarray(Image.open(stream).convert("RGB"))


@lru_cache(maxsize=8)
def photograph_called(name: str) -> Pixels:
    """A photograph bundled with scikit-image, as sRGB bytes."""
    import skimage

    folder = Path(skimage.__file__).parent / "data"
    with Image.open(next(folder.glob(f"{name}.*"))) as image:
        return np.asarray(image.convert("RGB"))
