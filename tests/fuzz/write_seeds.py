"""Writes the seeds again: `python -m tests.fuzz.write_seeds`."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

SEEDS = Path(__file__).parent / "seeds"


def loader_seeds() -> Iterator[bytes]:
    """The smallest sensible file of each kind and variant the loader treats differently."""
    rng = np.random.default_rng(0)
    smooth = np.linspace(0, 255, 12 * 12 * 3).reshape(12, 12, 3) + rng.normal(0, 3, (12, 12, 3))
    image = Image.fromarray(smooth.clip(0, 255).astype(np.uint8))
    exif = Image.Exif()
    exif[274] = 6
    frames: dict[str, Any] = {"save_all": True, "append_images": [image.rotate(90)]}
    for kind in ("JPEG", "PNG", "WEBP", "BMP", "TIFF", "GIF", "AVIF"):
        yield _encoded(image, kind)
    for kind in ("JPEG", "PNG", "WEBP", "TIFF"):
        yield _encoded(image, kind, exif=exif)
    for kind in ("GIF", "WEBP", "PNG", "TIFF"):
        yield _encoded(image, kind, **frames)
    yield _encoded(image.convert("CMYK"), "JPEG", progressive=True)
    yield _encoded(image.convert("P"), "PNG", transparency=1)
    yield _encoded(image.convert("I;16"), "PNG")
    yield _encoded(image.convert("F"), "TIFF")
    yield _encoded(image.convert("1"), "TIFF", compression="group4")
    yield _encoded(image, "TIFF", compression="tiff_lzw")


def metric_seeds() -> Iterator[bytes]:
    """Every metric on every kind of picture, small and not square."""
    for tool in range(32):
        yield bytes([tool, 1, 3, tool % 4]) + np.random.default_rng(tool).bytes(24)


def _encoded(image: Image.Image, kind: str, **options: Any) -> bytes:
    target = io.BytesIO()
    image.save(target, kind, **options)
    return target.getvalue()


def main() -> None:
    for name, seeds in (("loader", loader_seeds()), ("metrics", metric_seeds())):
        folder = SEEDS / name
        folder.mkdir(parents=True, exist_ok=True)
        for data in seeds:
            (folder / hashlib.sha256(data).hexdigest()[:12]).write_bytes(data)


if __name__ == "__main__":
    main()
