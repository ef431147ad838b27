"""Pairs as they occur in the field: today's encoders, enlargement by every common kernel, overlays.

Used for the training pairs and, on other photographs, by `benchmarks/accuracy_fr.py`.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

from training.sources import FREE_LIST

Pixels = npt.NDArray[np.uint8]
Damage = Callable[[Pixels], Pixels]
KERNELS = {
    "nearest": cv2.INTER_NEAREST,
    "linear": cv2.INTER_LINEAR,
    "cubic": cv2.INTER_CUBIC,
    "lanczos": cv2.INTER_LANCZOS4,
    "area": cv2.INTER_AREA,
}
# Of the training pairs: coders nobody rated at which qualities, enlargement by which factors and kernels.
QUALITIES = {"webp": (20, 50, 80, 90), "avif": (25, 45, 65, 80), "heic": (20, 40, 65)}
ENLARGEMENTS = ((2.0, "cubic"), (3.0, "linear"), (4.0, "lanczos"), (8.0, "cubic"))
# Each coder's own ladder, from poor to good.
LADDERS: dict[str, tuple[float, ...]] = {
    "jpeg": (10, 20, 30, 45, 60, 75, 85, 95),
    "jpeg444": (10, 20, 30, 45, 60, 75, 85, 95),
    "jpeg2000": (160, 100, 60, 40, 25, 16, 10, 6),
    "webp": (5, 20, 35, 50, 65, 80, 90, 97),
    "avif": (15, 25, 35, 45, 55, 65, 80, 90),
    "heic": (10, 20, 30, 40, 50, 65, 80, 92),
}


def training_photographs(folder: Path) -> list[Path]:
    """Every second free photograph of the list, as far as they lie in this folder, one subfolder per collection."""
    return [path for path in listed_photographs(folder, FREE_LIST)[::2] if path.is_file()]


def kept_photographs(folder: Path) -> list[Path]:
    """The others of the list, for benchmarks."""
    return [path for path in listed_photographs(folder, FREE_LIST)[1::2] if path.is_file()]


def listed_photographs(folder: Path, names: Path) -> list[Path]:
    """Where the photographs of a list of collection and file would lie."""
    with names.open(newline="", encoding="utf-8") as lines:
        return [folder / row["collection"] / row["file"] for row in csv.DictReader(lines)]


def encode(pixels: Pixels, coder: str, quality: float) -> Pixels:
    """The picture after one round through a coder."""
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, **_settings(coder, quality))
    stream.seek(0)
    with Image.open(stream) as decoded:
        return np.asarray(decoded.convert("RGB"))


def _settings(coder: str, quality: float) -> dict[str, Any]:
    if coder == "heic":
        import pillow_heif  # type: ignore[import-untyped, unused-ignore]

        pillow_heif.register_heif_opener()
        return {"format": "HEIF", "quality": int(quality)}
    table: dict[str, dict[str, Any]] = {
        "jpeg": {"format": "JPEG", "quality": int(quality), "subsampling": 2},
        "jpeg444": {"format": "JPEG", "quality": int(quality), "subsampling": 0},
        "jpeg2000": {"format": "JPEG2000", "quality_mode": "rates", "quality_layers": [quality]},
        "webp": {"format": "WEBP", "quality": int(quality), "method": 3},
        "avif": {"format": "AVIF", "quality": int(quality), "speed": 8},
    }
    return table[coder]


def enlarge(pixels: Pixels, factor: float, kernel: str = "cubic", shrink: str = "area") -> Pixels:
    """The picture shrunk by the factor and brought back to its size by the kernel."""
    height, width = pixels.shape[:2]
    small = (max(1, round(width / factor)), max(1, round(height / factor)))
    shrunk = cv2.resize(pixels, small, interpolation=KERNELS[shrink])
    return np.asarray(cv2.resize(shrunk, (width, height), interpolation=KERNELS[kernel]), np.uint8)


def overlay(pixels: Pixels, strength: float, random: np.random.Generator) -> Pixels:
    """The picture under a word, repeated over it or once in a corner, as watermarks are."""
    height, width = pixels.shape[:2]
    picture = Image.fromarray(pixels).convert("RGBA")
    sheet = Image.new("RGBA", picture.size, (0, 0, 0, 0))
    pen = ImageDraw.Draw(sheet)
    size = int(min(height, width) * float(random.choice([0.06, 0.1, 0.16])))
    font = ImageFont.load_default(size=max(12, size))
    ink = (255, 255, 255, int(255 * strength)) if random.random() < 0.7 else (20, 20, 20, int(255 * strength))
    places = [(width - 5 * size, height - 2 * size)]
    if random.random() < 0.5:
        places = [(x, y) for y in range(size, height, 4 * size) for x in range(size, width, 7 * size)]
    for place in places:
        pen.text(place, "SAMPLE", fill=ink, font=font)
    return np.asarray(Image.alpha_composite(picture, sheet).convert("RGB"))


def field_damage(random: np.random.Generator) -> list[tuple[str, str, int, Damage]]:
    """Kind, source, level and damage of the field pairs of one photograph: coders, enlargement, an overlay."""
    found: list[tuple[str, str, int, Damage]] = []
    for coder, quality in ((coder, quality) for coder, qualities in QUALITIES.items() for quality in qualities):
        found.append((coder, coder, quality, partial(encode, coder=coder, quality=quality)))
    for factor, kernel in ENLARGEMENTS:
        found.append(("upscale", "enlarged", int(factor), partial(enlarge, factor=factor, kernel=kernel)))
    found.append(("overlay", "overlay", 1, partial(overlay, strength=0.5, random=random)))
    return found
