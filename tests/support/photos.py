"""Real photographs for tests, from scikit-image's bundled data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

NAMES = ("astronaut", "chelsea", "coffee", "rocket", "motorcycle_left", "hubble_deep_field", "retina")


def photo(name: str) -> NDArray[np.uint8]:
    """One of NAMES as H×W×3 sRGB bytes."""
    import skimage

    folder = Path(skimage.__file__).parent / "data"
    with Image.open(next(folder.glob(f"{name}.*"))) as image:
        return np.asarray(image.convert("RGB"))


def save(path: Path, pixels: NDArray[Any], **options: Any) -> Path:
    """The path, now holding the pixels in the format its suffix names; options go to Pillow's encoder."""
    Image.fromarray(pixels).save(path, **options)
    return path
