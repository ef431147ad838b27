"""JPEG files that have to be decoded in very many passes."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image


def progressive(side: int, scans: int) -> bytes:
    """A real progressive JPEG whose last scan is there so many times more; each is decoded as a pass of its own."""
    stream = io.BytesIO()
    Image.fromarray(np.full((side, side), 128, np.uint8)).save(stream, "JPEG", progressive=True, quality=90)
    data = stream.getvalue()
    last = data.rindex(b"\xff\xda")
    return data[:-2] + data[last:-2] * scans + data[-2:]
