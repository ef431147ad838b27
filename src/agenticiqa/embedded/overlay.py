"""A picture of what was seen: the quality map over the image, and boxes with their names, as PNG."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence

import cv2
import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

from agenticiqa.state import Region

Pixels = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float32]
Font = ImageFont.FreeTypeFont | ImageFont.ImageFont
# From bad to good; red and blue stay apart for colour-blind readers.
BAD, MIDDLE, GOOD = (178, 24, 43), (247, 247, 247), (33, 102, 172)
OPACITY = 0.45
LINE = (255, 221, 0)
# The qualities that the reddest and the bluest colour stand for: always the whole scale, so that a picture without a
# visible flaw is nowhere red.
LOWEST, HIGHEST = 1.0, 5.0
# A picture narrower or lower than this has no room for a legend.
SMALLEST_WITH_LEGEND = 120


def draw_overlay(pixels: Pixels, quality: Floats | None = None, regions: Mapping[str, Region] | None = None) -> bytes:
    """The image as PNG under its quality map, from 1 (red) to 5 (blue), with a legend; named boxes on top."""
    picture = Image.fromarray(pixels if quality is None else _under_map(pixels, quality))
    pen = ImageDraw.Draw(picture)
    thickness = max(2, round(max(picture.size) / 300))
    font = ImageFont.load_default(size=max(10, round(max(picture.size) / 45)))
    for name, region in (regions or {}).items():
        _draw_box(pen, name, region, thickness, font)
    if quality is not None and min(picture.size) >= SMALLEST_WITH_LEGEND:
        _draw_legend(pen, picture.size, font)
    stream = io.BytesIO()
    picture.save(stream, "PNG")
    return stream.getvalue()


def _under_map(pixels: Pixels, quality: Floats) -> Pixels:
    height, width = pixels.shape[:2]
    smooth = cv2.resize(quality.astype(np.float32), (width, height), interpolation=cv2.INTER_LINEAR)
    return np.rint((1 - OPACITY) * pixels + OPACITY * colours_of(smooth)).astype(np.uint8)


def colours_of(quality: Floats) -> Floats:
    """The colour of each quality: red below the middle of the scale, blue above it."""
    return painted((quality - LOWEST) / (HIGHEST - LOWEST), (BAD, MIDDLE, GOOD))


def painted(shares: npt.NDArray[np.floating], colours: Sequence[tuple[int, int, int]]) -> Floats:
    """The colour of each share from 0 to 1, between colours that lie at equal steps."""
    steps = np.linspace(0, 1, len(colours))
    return np.stack([np.interp(shares, steps, ends) for ends in zip(*colours, strict=True)], axis=-1).astype(np.float32)


def _draw_legend(pen: ImageDraw.ImageDraw, size: tuple[int, int], font: Font) -> None:
    """A bar of the colours in the lower right corner, with the qualities its ends stand for."""
    low, high = f"{LOWEST:.1f}", f"{HIGHEST:.1f}"
    _, _, text_width, text_height = pen.textbbox((0, 0), high, font=font)
    bar, gap = size[0] // 6, 4
    right, bottom = size[0] - gap, size[1] - gap
    left, top = right - bar - 2 * text_width - 4 * gap, bottom - text_height - 2 * gap
    pen.rectangle((left, top, right, bottom), fill=(0, 0, 0))
    pen.text((left + gap, top + gap // 2), low, fill=(255, 255, 255), font=font)
    pen.text((right - text_width - gap, top + gap // 2), high, fill=(255, 255, 255), font=font)
    start = left + text_width + 2 * gap
    for number, colour in enumerate(colours_of(np.linspace(LOWEST, HIGHEST, bar, dtype=np.float32))):
        red, green, blue = (int(value) for value in colour)
        pen.line((start + number, top + gap, start + number, bottom - gap), fill=(red, green, blue))


def _draw_box(pen: ImageDraw.ImageDraw, name: str, region: Region, thickness: int, font: Font) -> None:
    corners = (region.left, region.top, region.right - 1, region.bottom - 1)
    pen.rectangle(corners, outline=LINE, width=thickness)
    if not name:
        return
    place = (region.left + 2 * thickness, region.top + 2 * thickness)
    left, top, right, bottom = pen.textbbox(place, name, font=font)
    pen.rectangle((left - 2, top - 2, right + 2, bottom + 2), fill=(0, 0, 0))
    pen.text(place, name, fill=LINE, font=font)
