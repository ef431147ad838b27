"""The main subject: what stands out, by U²-Net-p's map of salient things."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from agenticiqa.embedded.objects.object_detector import Box
from agenticiqa.weights import open_session

Pixels = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float32]

# At 112 pixels a side the map costs a thirtieth of what it does at the size it was trained on.
INPUT_SIDE = 112
MEAN, SPREAD = np.array([0.485, 0.456, 0.406], np.float32), np.array([0.229, 0.224, 0.225], np.float32)
SALIENT = 0.5
# The highest value of the raw map below which nothing stands out.
FAINTEST = 0.3
SMALLEST, LARGEST = 0.01, 0.95
# A second patch belongs to the subject if it is at least this large beside the first.
COMPANION = 0.25


def subject_box(pixels: Pixels) -> tuple[Box, float] | None:
    """The box of what stands out and how clearly it does, 0 to 1; None where nothing or everything does."""
    salient = saliency(pixels)
    strength = float(salient.max())
    mask = (salient >= SALIENT * strength).astype(np.uint8)
    if strength < FAINTEST or not SMALLEST <= float(mask.mean()) <= LARGEST:
        return None
    _, _, stats, _ = cv2.connectedComponentsWithStats(mask)
    patches = stats[1:]
    large = patches[patches[:, cv2.CC_STAT_AREA] >= COMPANION * patches[:, cv2.CC_STAT_AREA].max()]
    height, width = mask.shape
    left, top = large[:, cv2.CC_STAT_LEFT].min(), large[:, cv2.CC_STAT_TOP].min()
    right = (large[:, cv2.CC_STAT_LEFT] + large[:, cv2.CC_STAT_WIDTH]).max()
    bottom = (large[:, cv2.CC_STAT_TOP] + large[:, cv2.CC_STAT_HEIGHT]).max()
    inside = float(salient[mask > 0].mean())
    return (left / width, top / height, right / width, bottom / height), inside


def saliency(pixels: Pixels, side: int = INPUT_SIDE) -> Floats:
    """How much each part stands out, 0 to 1, on a square grid."""
    small = cv2.resize(pixels, (side, side), interpolation=cv2.INTER_AREA).astype(np.float32)
    planes = (small / max(1.0, float(small.max())) - MEAN) / SPREAD
    session = _load_session()
    entry = session.get_inputs()[0].name
    found: Floats = session.run(None, {entry: np.ascontiguousarray(planes.transpose(2, 0, 1)[None])})[0][0, 0]
    return found


@lru_cache(maxsize=1)
def _load_session() -> Any:
    return open_session("objects_subject.onnx")
