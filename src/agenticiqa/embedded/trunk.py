"""Features of a picture from the shared trunk.

Working size: a picture of more than 262,144 pixels (512 × 512) is shrunk by area averaging until it
fits that budget, keeping its shape; one with a side under 64 is enlarged. A strip (more than 64 times as long as
wide, such as a region cut from a narrow picture) is brought to 4,096 pixels in length and widened to 64 by repeating
its border, so that nothing is ever enlarged beyond the budget. Nothing else is resized.
`Features.scale` is the factor that was applied.

Features of one picture cost about 0.1 s; callers that need them twice keep them by the image's hash.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from agenticiqa.weights import WeightSet, keep_freed_memory, open_session

Pixels = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float32]

# What a pair is brought to that is compared point by point, and what a picture alone is looked at in.
PIXEL_BUDGET = 640 * 480
WORKING_PIXELS = 512 * 512
SMALLEST_SIDE = 64
LONGEST_SIDE = WORKING_PIXELS // SMALLEST_SIDE


@dataclass(frozen=True)
class Features:
    """What the trunk saw: five maps (channels first), pooled statistics at working size and at half of it.

    `pooled` and `pooled_half` hold, stage after stage, the mean of each channel and then its standard
    deviation: two numbers per channel. `working` is the picture the trunk saw; the half size is only
    looked at when it is asked for.
    """

    maps: tuple[Floats, ...]
    pooled: Floats
    scale: float
    working: Pixels
    look: Callable[[Pixels], tuple[tuple[Floats, ...], Floats]]

    @cached_property
    def pooled_half(self) -> Floats:
        """The pooled statistics at half the working size."""
        return self.look(halve(self.working))[1]


class Backbone:
    """The trunk, loaded; safe to share between threads."""

    def __init__(self, session: Any) -> None:
        self._session = session

    def features(self, pixels: Pixels) -> Features:
        """Maps and pooled statistics of one RGB picture, at its working size."""
        working, scale = to_working_size(pixels)
        maps, pooled = self.run(working)
        return Features(maps, pooled, scale, working, self.run)

    def run(self, pixels: Pixels) -> tuple[tuple[Floats, ...], Floats]:
        """Maps and pooled statistics at exactly the size given; the trunk was trained on (value − 127) / 128."""
        planes = np.ascontiguousarray(pixels.transpose(2, 0, 1)[None], np.float32) / 128 - np.float32(127 / 128)
        *maps, pooled = self._session.run(None, {"pixels": planes})
        return tuple(stage_map[0] for stage_map in maps), pooled[0]


@lru_cache(maxsize=1)
def load_backbone() -> Backbone:
    """The trunk, loaded once per process."""
    keep_freed_memory()
    return Backbone(open_session("trunk.onnx"))


def to_working_size(pixels: Pixels) -> tuple[Pixels, float]:
    """The picture within the pixel budget, and the factor its sides were multiplied by."""
    height, width = pixels.shape[:2]
    scale = min(1.0, math.sqrt(WORKING_PIXELS / (height * width)))
    scale = min(max(scale, SMALLEST_SIDE / min(height, width)), LONGEST_SIDE / max(height, width))
    return _widened(resize(pixels, scale)), scale


def _widened(pixels: Pixels) -> Pixels:
    """The picture with its border repeated until no side is under the smallest."""
    rows, columns = (max(0, SMALLEST_SIDE - side) for side in pixels.shape[:2])
    if not rows and not columns:
        return pixels
    return np.pad(pixels, ((rows // 2, rows - rows // 2), (columns // 2, columns - columns // 2), (0, 0)), "edge")


def resize(pixels: Pixels, scale: float) -> Pixels:
    """The picture with its sides multiplied: averaged by area when it shrinks, cubic when it grows."""
    if scale == 1.0:
        return pixels
    import cv2

    height, width = (max(1, int(side * scale + 1e-6)) for side in pixels.shape[:2])
    method = cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC
    return np.asarray(cv2.resize(pixels, (width, height), interpolation=method), np.uint8)


def halve(pixels: Pixels) -> Pixels:
    """The picture at half its width and height, never under 32 pixels a side."""
    import cv2

    height, width = pixels.shape[:2]
    size = (max(32, width // 2), max(32, height // 2))
    return np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA), np.uint8)


@dataclass(frozen=True)
class TailFeatures:
    """Maps after stages six and seven (192 and 320 channels, stride 32) and their pooled statistics."""

    maps: tuple[Floats, Floats]
    pooled: Floats


class Tail:
    """The last stages, loaded; safe to share between threads."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self._last: tuple[Floats, TailFeatures] | None = None

    def features(self, stage5: Floats) -> TailFeatures:
        """What the last stages make of the trunk's last map; it is remembered, since two models ask for it."""
        last = self._last
        if last is None or last[0] is not stage5:
            stage6, stage7, pooled = self._session.run(None, {"stage5": stage5[None]})
            last = self._last = (stage5, TailFeatures((stage6[0], stage7[0]), pooled[0]))
        return last[1]


@lru_cache(maxsize=2)
def load_tail(terms: WeightSet) -> Tail:
    """The last stages tuned under these terms, loaded once per process."""
    return Tail(open_session(f"tail_{terms}.onnx"))
