"""Features of a picture from the shared trunk.

Working size: a picture of more than 307,200 pixels (640 × 480) is shrunk by area averaging until it
fits that budget, keeping its shape; one with a side under 64 is enlarged. Nothing else is resized.
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

from agenticiqa.backbone.weight_files import open_session

Pixels = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float32]

PIXEL_BUDGET = 640 * 480
SMALLEST_SIDE = 64
STAGE_CHANNELS = (16, 24, 40, 80, 112)
STAGE_STRIDES = (2, 4, 8, 16, 16)
POOLED_LENGTH = 2 * sum(STAGE_CHANNELS)


@dataclass(frozen=True)
class Features:
    """What the trunk saw: five maps (channels first), pooled statistics at working size and at half of it.

    `pooled` and `pooled_half` hold, stage after stage, the mean of each channel and then its standard
    deviation: `POOLED_LENGTH` numbers. `working` is the picture the trunk saw; the half size is only
    looked at when it is asked for.
    """

    maps: tuple[Floats, ...]
    pooled: Floats
    scale: float
    working: Pixels
    _look: Callable[[Pixels], tuple[tuple[Floats, ...], Floats]]

    @cached_property
    def pooled_half(self) -> Floats:
        """The pooled statistics at half the working size."""
        return self._look(halve(self.working))[1]


class Backbone:
    """The trunk, loaded; safe to share between threads."""

    def __init__(self, session: Any) -> None:
        self._session = session

    def features(self, pixels: Pixels) -> Features:
        """Maps and pooled statistics of one RGB picture, at its working size."""
        working, scale = to_working_size(pixels)
        maps, pooled = self.run(working)
        return Features(maps, pooled, scale, working, self.run)

    def maps(self, pixels: Pixels) -> tuple[Floats, ...]:
        """The five stage maps alone, at the size given: for pairs that must be compared point by point."""
        return self.run(pixels)[0]

    def run(self, pixels: Pixels) -> tuple[tuple[Floats, ...], Floats]:
        """Maps and pooled statistics at exactly the size given."""
        planes = np.ascontiguousarray(pixels.transpose(2, 0, 1)[None], dtype=np.float32)
        *maps, pooled = self._session.run(None, {"pixels": planes})
        return tuple(stage_map[0] for stage_map in maps), pooled[0]


@lru_cache(maxsize=1)
def load_backbone() -> Backbone:
    """The trunk, loaded once per process."""
    return Backbone(open_session("trunk.onnx"))


def to_working_size(pixels: Pixels) -> tuple[Pixels, float]:
    """The picture within the pixel budget, and the factor its sides were multiplied by."""
    height, width = pixels.shape[:2]
    scale = min(1.0, math.sqrt(PIXEL_BUDGET / (height * width)))
    scale = max(scale, SMALLEST_SIDE / min(height, width))
    return resize(pixels, scale), scale


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
