"""Labelled photographs at other sizes and shapes, so that the model knows a photograph by more than its size.

All photographs of one source may have one size. A model taught by them alone takes a thumbnail or a panorama for a
picture damaged by code and hardly hears what it knows of photographs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import cv2
import numpy as np
import numpy.typing as npt

from agenticiqa.embedded.trunk import WORKING_PIXELS
from training.camera import recode, unsuspicious_file
from training.looks import FLAWS
from training.pictures import Pixels

SHARES = {"whole": 0.5, "band": 0.25, "twice": 0.25}
# How far the sides are multiplied: whole ones from a thumbnail to an enlarged picture.
WHOLE, BAND, TWICE = (0.4, 1.6), (0.75, 1.0), (0.6, 1.0)
BANDS = (0.33, 0.55)
IN_A_FILE = 0.5
SMALLEST_SIDE = 64
# How many steps of severity a flaw of single pixels loses each time a picture is halved; others look the same.
LOSSES = {"blur": 1.0, "noise": 0.7, "compression": 0.7, "oversharp": 0.7}


def vary(pixels: Pixels, random: np.random.Generator) -> tuple[Pixels, float]:
    """The photograph in another size or shape, and how far what the model sees of it was shrunk (at most 1)."""
    shape = str(random.choice(list(SHARES), p=list(SHARES.values())))
    if shape == "whole":
        factor = math.exp(random.uniform(*np.log(WHOLE)))
    elif shape == "band":
        pixels, factor = _band(pixels, random), float(random.uniform(*BAND))
    else:
        axis = int(random.random() < 0.6)
        pixels, factor = np.concatenate([pixels, np.flip(pixels, axis)], axis), float(random.uniform(*TWICE))
    height, width = (max(SMALLEST_SIDE, int(side * factor)) for side in pixels.shape[:2])
    method = cv2.INTER_AREA if factor < 1 else cv2.INTER_CUBIC
    varied = np.asarray(cv2.resize(np.ascontiguousarray(pixels), (width, height), interpolation=method), np.uint8)
    if random.random() < IN_A_FILE:
        varied = recode(varied, **unsuspicious_file(random))
    return varied, min(1.0, factor * min(1.0, math.sqrt(WORKING_PIXELS / (height * width))))


def _band(pixels: Pixels, random: np.random.Generator) -> Pixels:
    """A strip across the photograph, or down it."""
    axis = int(random.random() < 0.4)
    side = pixels.shape[axis]
    width = int(side * random.uniform(*BANDS))
    start = int((side - width) * random.random())
    return pixels.take(range(start, start + width), axis)


def list_varied(photographs: Iterator[tuple[str, Pixels]], seed: int) -> Iterator[tuple[Pixels, dict[str, object]]]:
    """Each photograph in one other size or shape, with its name and how far it was shrunk."""
    for number, (name, pixels) in enumerate(photographs):
        varied, scale = vary(pixels, np.random.default_rng((seed, number)))
        yield varied, {"names": name, "scale": scale}


def at_scale(severities: npt.NDArray[np.float64], scale: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Severities by flaw, as they are to be seen of photographs shrunk so far."""
    losses = np.array([LOSSES.get(flaw, 0.0) for flaw in FLAWS])
    return np.asarray(np.maximum(severities - np.log2(1 / scale)[:, None] * losses, 0.0))
