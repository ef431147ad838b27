"""The quality setting a JPEG file was written with, read from its quantisation table."""

from __future__ import annotations

import io

import numpy as np
import numpy.typing as npt
from PIL.JpegImagePlugin import JpegImageFile

# The luminance table of the JPEG standard in rising order: encoders differ in the order they store it in.
_STANDARD = np.sort([
    16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55, 14, 13, 16, 24, 40, 57, 69, 56, 14, 17, 22, 29, 51,
    87, 80, 62, 18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92, 49, 64, 78, 87, 103, 121, 120, 101,
    72, 92, 95, 98, 112, 100, 103, 99,
])  # fmt: skip


def stored_quality(data: bytes) -> int | None:
    """The setting from 1 to 100, as libjpeg counts, whose table is nearest to the file's; None where it is no JPEG."""
    if not data.startswith(b"\xff\xd8"):
        return None
    try:
        tables = JpegImageFile(io.BytesIO(data)).quantization
    except (OSError, SyntaxError, ValueError):
        return None
    if not tables or len(tables[min(tables)]) != len(_STANDARD):
        return None
    luminance = np.sort(tables[min(tables)])
    return min(range(1, 101), key=lambda quality: float(np.abs(_table(quality) - luminance).sum()))


def _table(quality: int) -> npt.NDArray[np.int64]:
    scale = 5000 // quality if quality < 50 else 200 - 2 * quality
    return np.asarray(np.clip((_STANDARD * scale + 50) // 100, 1, 255), np.int64)
