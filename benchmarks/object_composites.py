"""Composites with known truth: two objects in one picture, one sharp and one blurred.

Half stand side by side as the photographs are; half are cut out by the map of salient things and pasted onto a free
photograph. Everything is drawn from one seed.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import cv2
import numpy as np
import numpy.typing as npt

from agenticiqa.embedded.objects.scene import saliency

Pixels = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float32]

SEED = 23
SIGMAS = (2.5, 7.0)
HEIGHTS = (320, 400, 480)


@dataclass(frozen=True)
class Source:
    """A photograph of one object, and what it shows."""

    kind: str
    pixels: Pixels

    @cached_property
    def salient(self) -> Floats:
        """How much each pixel stands out, from the map at the size it was trained for."""
        size = self.pixels.shape[1], self.pixels.shape[0]
        return np.asarray(cv2.resize(saliency(self.pixels, side=320), size), np.float32)


@dataclass(frozen=True)
class Composite:
    """Two objects of different classes in one picture, and which of them is blurred."""

    pixels: Pixels
    blurred: str
    sharp: str
    manner: str
    sigma: float


def make_composites(sources: Mapping[str, Source], grounds: Sequence[Pixels], count: int) -> Iterator[Composite]:
    """So many composites, sides and strength of the blur at random."""
    draw = random.Random(SEED)
    names, made = sorted(sources), 0
    while made < count:
        first, second = (sources[name] for name in draw.sample(names, 2))
        if first.kind == second.kind:
            continue
        sigma, first_is_blurred, height = draw.uniform(*SIGMAS), draw.random() < 0.5, draw.choice(HEIGHTS)
        sigmas = (sigma, 0.0) if first_is_blurred else (0.0, sigma)
        if made % 2:
            pixels, manner = _side_by_side((first.pixels, second.pixels), sigmas, height), "side by side"
        else:
            ground = draw.choice(grounds)
            sizes = draw.uniform(0.75, 1), draw.uniform(0.75, 1)
            pixels, manner = _pasted((first, second), sigmas, sizes, ground, height + 120), "pasted"
        blurred, sharp = (first, second) if first_is_blurred else (second, first)
        yield Composite(pixels, blurred.kind, sharp.kind, manner, sigma)
        made += 1


def _side_by_side(pictures: tuple[Pixels, Pixels], sigmas: tuple[float, float], height: int) -> Pixels:
    both = zip(pictures, sigmas, strict=True)
    parts = [_blur(_scaled(picture, height / picture.shape[0]), sigma) for picture, sigma in both]
    rows = min(part.shape[0] for part in parts)
    return np.ascontiguousarray(np.concatenate([part[:rows] for part in parts], axis=1))


def _pasted(
    sources: tuple[Source, Source],
    sigmas: tuple[float, float],
    sizes: tuple[float, float],
    ground: Pixels,
    height: int,
) -> Pixels:
    width = int(height * 1.6)
    scaled = _scaled(ground, max(height / ground.shape[0], width / ground.shape[1]))
    canvas = scaled[:height, :width].astype(np.float32)
    height, width = canvas.shape[:2]
    for middle, source, sigma, size in zip((0.25, 0.75), sources, sigmas, sizes, strict=True):
        thing, mask = _cut_out(source, (width / 2 - 30, height - 40), size)
        if sigma:
            thing, mask = _soft(thing, mask, sigma)
        top, left = max(0, height - thing.shape[0] - 10), max(0, int(width * middle) - thing.shape[1] // 2)
        thing, mask = thing[: height - top, : width - left], mask[: height - top, : width - left, None]
        place = canvas[top : top + thing.shape[0], left : left + thing.shape[1]]
        place[:] = place * (1 - mask) + thing * mask
    return np.clip(canvas, 0, 255).astype(np.uint8)


def _cut_out(source: Source, room: tuple[float, float], size: float) -> tuple[Floats, Floats]:
    salient = source.salient
    rows, columns = np.nonzero(salient > 0.5 * salient.max())
    box = slice(rows.min(), rows.max() + 1), slice(columns.min(), columns.max() + 1)
    thing, mask = source.pixels[box], salient[box]
    factor = min(room[0] / thing.shape[1], room[1] / thing.shape[0]) * size
    large = _scaled(thing, factor).astype(np.float32)
    shown = cv2.resize(mask, (large.shape[1], large.shape[0]), interpolation=cv2.INTER_LINEAR)
    return large, np.clip((shown - 0.3) / 0.4, 0, 1)


def _soft(thing: Floats, mask: Floats, sigma: float) -> tuple[Floats, Floats]:
    """A thing out of focus: its colours run into each other and its outline fades."""
    margin = int(3 * sigma) + 2
    around = (margin,) * 4
    wide = cv2.copyMakeBorder(thing, *around, cv2.BORDER_REPLICATE)
    shown = cv2.copyMakeBorder(mask, *around, cv2.BORDER_CONSTANT, value=0)
    faded = cv2.GaussianBlur(shown, (0, 0), sigma)
    colours = cv2.GaussianBlur(wide * shown[..., None], (0, 0), sigma) / np.maximum(faded, 1e-3)[..., None]
    return colours.astype(np.float32), faded.astype(np.float32)


def _blur(pixels: Pixels, sigma: float) -> Pixels:
    return np.asarray(cv2.GaussianBlur(pixels, (0, 0), sigma), np.uint8) if sigma else pixels


def _scaled(pixels: Pixels, factor: float) -> Pixels:
    method = cv2.INTER_AREA if factor < 1 else cv2.INTER_CUBIC
    return np.asarray(cv2.resize(pixels, None, fx=factor, fy=factor, interpolation=method), np.uint8)
