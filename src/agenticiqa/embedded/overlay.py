"""A picture of what was seen: the quality map over the image, and boxes with their names, as PNG."""

from __future__ import annotations

import io
from collections.abc import Mapping

import cv2
import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

from agenticiqa.state import Region

Pixels = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float32]
# From bad to good; red and blue stay apart for colour-blind readers.
BAD, MIDDLE, GOOD = (178, 24, 43), (247, 247, 247), (33, 102, 172)
OPACITY = 0.45
LINE = (255, 221, 0)


def draw_overlay(pixels: Pixels, quality: Floats | None = None, regions: Mapping[str, Region] | None = None) -> bytes:
    """The image as PNG under its quality map (1 to 5, red is bad, blue is good); boxes on top, named if they can be."""
    painted = pixels if quality is None else _under_map(pixels, quality)
    picture = Image.fromarray(painted)
    pen = ImageDraw.Draw(picture)
    thickness = max(2, round(max(picture.size) / 300))
    font = ImageFont.load_default(size=max(10, round(max(picture.size) / 45)))
    for name, region in (regions or {}).items():
        _draw_box(pen, name, region, thickness, font)
    stream = io.BytesIO()
    picture.save(stream, "PNG")
    return stream.getvalue()


def _under_map(pixels: Pixels, quality: Floats) -> Pixels:
    height, width = pixels.shape[:2]
    smooth = cv2.resize(quality.astype(np.float32), (width, height), interpolation=cv2.INTER_LINEAR)
    colours = np.stack([np.interp(smooth, (1, 3, 5), ends) for ends in zip(BAD, MIDDLE, GOOD, strict=True)], axis=2)
    return np.rint((1 - OPACITY) * pixels + OPACITY * colours).astype(np.uint8)


def _draw_box(
    pen: ImageDraw.ImageDraw,
    name: str,
    region: Region,
    thickness: int,
    font: ImageFont.FreeTypeFont | ImageFont.ImageFont,
) -> None:
    corners = (region.left, region.top, region.right - 1, region.bottom - 1)
    pen.rectangle(corners, outline=LINE, width=thickness)
    if not name:
        return
    place = (region.left + 2 * thickness, region.top + 2 * thickness)
    left, top, right, bottom = pen.textbbox(place, name, font=font)
    pen.rectangle((left - 2, top - 2, right + 2, bottom + 2), fill=(0, 0, 0))
    pen.text(place, name, fill=LINE, font=font)
