"""Copies of well-rated photographs that an earlier version had rules for, and how far each kind moves the score.

Nobody rated the copies, so nothing is asked of them: the table shows whether a score falls where people's would.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from PIL import Image

from agenticiqa.evaluation.statistics import mean
from benchmarks.field.figures import Measured, Rows
from benchmarks.field.sources import Data, Picture, read_source
from training.pictures import Pixels, read_pixels
from training.quality_heads.ladders import rewrite, spoil

PHOTOGRAPHS, LARGE = 16, 6
UNTOUCHED = "untouched"


def photographs(data: Data) -> list[Picture]:
    """The best rated of BIQ2021's test photographs without a twin in the training split."""
    return sorted(read_source("biq2021-test", data).pictures, key=lambda picture: -picture.opinion)[:PHOTOGRAPHS]


def copy_jobs(data: Data, folder: Path) -> Iterator[dict[str, Any]]:
    """Every photograph and its copies as jobs; the copies are written to the folder."""
    for number, picture in enumerate(photographs(data)):
        yield {"id": f"{picture.id}|{UNTOUCHED}", "path": str(picture.path)}
        for kind, make in COPIES.items():
            if kind == BLURRED_LARGE and number >= LARGE:
                continue
            path = folder / f"{picture.path.stem}-{kind.replace(' ', '-')}.png"
            Image.fromarray(make(read_pixels(picture.path), number)).save(path, compress_level=1)
            yield {"id": f"{picture.id}|{kind}", "path": str(path)}


def copy_figures(rows: Rows) -> Iterator[Measured]:
    """Per kind, the mean change of the score from the photograph's own; and the photographs' mean score."""
    told = {tuple(name.split("|")): float(row["score"]) for name, row in rows.items()}
    whole = {photograph: score for (photograph, kind), score in told.items() if kind == UNTOUCHED}
    for kind in (UNTOUCHED, *COPIES):
        names = tuple(name for name, other in told if other == kind)
        changes = np.array([told[name, kind] - (whole[name] if kind != UNTOUCHED else 0) for name in names])
        if names:
            title = "copies: mean score untouched" if kind == UNTOUCHED else f"copies: {kind}, change"
            yield Measured(title, "check", mean, names, changes, changes, names, "neither")


def _grey(pixels: Pixels, seed: int) -> Pixels:
    return np.repeat(np.asarray(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY), np.uint8)[..., None], 3, 2)


def _dark(pixels: Pixels, seed: int) -> Pixels:
    return np.asarray(np.rint(pixels * 0.2), np.uint8)


def _flat(pixels: Pixels, seed: int) -> Pixels:
    return np.asarray(np.rint(pixels.mean() + (pixels - pixels.mean()) * 0.25), np.uint8)


def _enlarged(pixels: Pixels, seed: int) -> Pixels:
    return np.asarray(cv2.resize(pixels, None, fx=4, fy=4, interpolation=cv2.INTER_CUBIC), np.uint8)


def _enlarged_in_place(pixels: Pixels, seed: int) -> Pixels:
    small = cv2.resize(pixels, None, fx=0.25, fy=0.25, interpolation=cv2.INTER_AREA)
    return np.asarray(cv2.resize(small, pixels.shape[1::-1], interpolation=cv2.INTER_CUBIC), np.uint8)


def _forty_eight_megapixels(pixels: Pixels, seed: int) -> Pixels:
    large = cv2.resize(pixels, (8000, 6000), interpolation=cv2.INTER_CUBIC)
    return np.asarray(cv2.GaussianBlur(large, (0, 0), 6), np.uint8)


def _night_in_motion(pixels: Pixels, seed: int) -> Pixels:
    return spoil(spoil(pixels, "motion", 4, seed), "dark", 3, seed)


def _one_channel_grain(pixels: Pixels, seed: int) -> Pixels:
    grain = np.random.default_rng(seed).normal(0, 16, pixels.shape[:2])
    noisy = pixels.astype(np.float32)
    noisy[..., seed % 3] += grain
    return np.clip(np.rint(noisy), 0, 255).astype(np.uint8)


def _cast(pixels: Pixels, seed: int) -> Pixels:
    return spoil(pixels, "cast", 4, seed)


def _light_file(pixels: Pixels, seed: int) -> Pixels:
    # Off the photograph's own grid of blocks, so that it is coded once more indeed.
    return rewrite(pixels[3:, 5:], 88)


BLURRED_LARGE = "blurred at 48 megapixels"
COPIES: dict[str, Callable[[Pixels, int], Pixels]] = {
    "black and white": _grey,
    "dark, values x 0.2": _dark,
    "flat, contrast x 0.25": _flat,
    "enlarged x 4": _enlarged,
    "shrunk to a quarter and enlarged": _enlarged_in_place,
    "strong colour cast": _cast,
    "light JPEG, quality 88": _light_file,
    "night smeared by motion": _night_in_motion,
    BLURRED_LARGE: _forty_eight_megapixels,
    "grain in one channel": _one_channel_grain,
}
