"""Known damage for known pictures: named kinds in five strengths, the same again for the same seed.

`distort(image, kind, level, seed)` is a pure function on 8-bit RGB arrays; `KINDS` is the table of
kinds with their category in the project's vocabulary and the amount each level stands for; `mix`
applies several in turn. Level 1 is barely visible on a clean photograph, level 5 is severe.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from agenticiqa.errors import UsageError
from agenticiqa.images.colour import Pixels
from agenticiqa.tools.synthetic import degradations as px

Category = Literal["Blurs", "Color distortions", "Compression", "Noise", "Brightness change", "Sharpness", "Contrast"]
Operation = Callable[[Pixels, float, "px.Random"], px.Floats]
LEVELS = (1, 2, 3, 4, 5)


@dataclass(frozen=True)
class DistortionKind:
    """One way to damage a picture: its category, the unit of its amount, the amount at levels 1 to 5."""

    name: str
    category: Category
    unit: str
    amounts: tuple[float, float, float, float, float]
    operation: Operation


def distort(image: Pixels, kind: str, level: int, seed: int = 0) -> Pixels:
    """A damaged copy of an RGB picture, identical for identical arguments."""
    chosen = KINDS.get(kind)
    if chosen is None:
        raise UsageError(f"no distortion kind named {kind!r}; there are: {', '.join(KINDS)}")
    if level not in LEVELS:
        raise UsageError(f"level {level} of {kind!r} does not exist; levels are 1 to 5")
    # The kind enters the seed, so that two kinds with one seed do not share their grain.
    random = np.random.default_rng((seed, zlib.crc32(kind.encode())))
    damaged = chosen.operation(np.ascontiguousarray(image), chosen.amounts[level - 1], random)
    return np.clip(np.rint(damaged), 0, 255).astype(np.uint8)


def mix(image: Pixels, parts: Sequence[tuple[str, int]], seed: int = 0) -> Pixels:
    """A copy damaged by several (kind, level) pairs in the order given."""
    for position, (kind, level) in enumerate(parts):
        image = distort(image, kind, level, seed + position)
    return image


# fmt: off
_ROWS: dict[Category, list[tuple[str, str, tuple[float, float, float, float, float], Operation]]] = {
    "Blurs": [
        ("gaussian_blur", "sigma, pixels", (0.6, 1.1, 1.9, 3.2, 5.5), px.gaussian_blur),
        ("defocus_blur", "radius, pixels", (1.0, 2.0, 3.5, 6.0, 10.0), px.defocus_blur),
        ("motion_blur", "length, pixels", (2.0, 5.0, 9.0, 16.0, 28.0), px.motion_blur),
        ("denoise", "sigma removed, grey levels", (4.0, 9.0, 16.0, 26.0, 40.0), px.denoise),
    ],
    "Noise": [
        ("white_noise", "sigma, grey levels", (4.0, 8.0, 14.0, 24.0, 40.0), px.white_noise),
        ("chroma_noise", "sigma, grey levels", (5.0, 10.0, 18.0, 30.0, 50.0), px.chroma_noise),
        ("correlated_noise", "sigma, grey levels", (3.0, 6.0, 11.0, 18.0, 30.0), px.correlated_noise),
        ("high_frequency_noise", "sigma, grey levels", (4.0, 8.0, 15.0, 26.0, 44.0), px.high_frequency_noise),
        ("masked_noise", "sigma, grey levels", (5.0, 9.0, 15.0, 24.0, 40.0), px.masked_noise),
        ("impulse_noise", "share of samples, %", (0.15, 0.6, 2.0, 6.0, 16.0), px.impulse_noise),
        ("multiplicative_noise", "sigma, share of brightness", (0.04, 0.08, 0.14, 0.23, 0.38), px.multiplicative_noise),
        ("comfort_noise", "JPEG quality beneath", (70, 40, 22, 12, 6), px.comfort_noise),
        ("pattern_noise", "share of area, %", (1.0, 4.0, 10.0, 20.0, 36.0), px.pattern_noise),
        ("local_blocks", "share of area, %", (0.6, 2.0, 6.0, 14.0, 30.0), px.local_blocks),
    ],
    "Compression": [
        ("jpeg", "quality", (60, 34, 18, 10, 4), px.jpeg),
        ("webp", "quality", (75, 42, 22, 9, 0), px.webp),
        ("jpeg2000", "ratio to one", (12, 30, 60, 110, 220), px.jpeg2000),
        ("noisy_jpeg", "quality", (75, 45, 25, 13, 6), px.noisy_jpeg),
        ("jpeg_transmission", "share of strips, %", (4.0, 10.0, 22.0, 42.0, 75.0), px.jpeg_transmission),
        ("jpeg2000_transmission", "share of area, %", (2.0, 7.0, 18.0, 38.0, 75.0), px.jpeg2000_transmission),
        ("banding", "bands", (40, 24, 14, 9, 5), px.banding),
        ("sparse_sampling", "share of pixels kept, %", (60.0, 38.0, 22.0, 11.0, 5.0), px.sparse_sampling),
    ],
    "Color distortions": [
        ("quantisation", "values per channel", (28, 16, 10, 6, 4), px.quantisation),
        ("color_quantisation", "colours", (128, 56, 26, 13, 6), px.color_quantisation),
        ("saturation_down", "factor", (0.8, 0.6, 0.4, 0.2, 0.0), px.scale_saturation),
        ("saturation_up", "factor", (1.3, 1.7, 2.3, 3.2, 5.0), px.scale_saturation),
        ("color_cast", "grey levels", (8.0, 18.0, 32.0, 52.0, 80.0), px.color_cast),
        ("chromatic_aberration", "displacement, pixels", (0.6, 1.4, 2.6, 4.6, 8.0), px.chromatic_aberration),
    ],
    "Brightness change": [
        ("darken", "stops", (-0.35, -0.75, -1.2, -1.75, -2.4), px.scale_brightness),
        ("brighten", "stops", (0.35, 0.75, 1.25, 1.9, 2.7), px.scale_brightness),
        ("mean_shift", "grey levels", (10.0, 22.0, 38.0, 58.0, 84.0), px.mean_shift),
    ],
    "Contrast": [
        ("contrast_down", "factor", (0.82, 0.64, 0.46, 0.3, 0.16), px.scale_contrast),
        ("contrast_up", "factor", (1.2, 1.5, 2.0, 2.9, 4.5), px.scale_contrast),
    ],
    "Sharpness": [
        ("over_sharpen", "amount", (0.6, 1.4, 2.6, 4.4, 7.5), px.over_sharpen),
        ("pixelate", "cell side, pixels", (1.5, 2.2, 3.4, 5.5, 9.0), px.pixelate),
        ("upscale", "factor", (1.5, 2.3, 3.6, 5.8, 9.5), px.upscale),
    ],
}
# fmt: on

KINDS: dict[str, DistortionKind] = {
    row[0]: DistortionKind(row[0], category, *row[1:]) for category, rows in _ROWS.items() for row in rows
}
