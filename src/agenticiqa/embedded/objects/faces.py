"""Faces and their eyes, found by BlazeFace (the model for pictures taken from some distance)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np

from agenticiqa.embedded.objects.object_detector import Box, likeliest
from agenticiqa.embedded.trunk import Floats, Pixels
from agenticiqa.weights import open_session

INPUT_SIDE = 256
# Cells a side, and how many anchors each cell has.
GRIDS = ((16, 2), (8, 6))
FAINTEST = 0.5
SAME_FACE = 0.3
# The network's box ends at the eyebrows; people draw a face from the hairline to the chin.
WIDER, HIGHER = 0.08, 0.18
# The eyes' box beside their distance from each other.
EYE_MARGIN = 0.45


@dataclass(frozen=True)
class Face:
    """A face, how likely it is one, and the box around its two eyes."""

    confidence: float
    box: Box
    eyes: Box


def find_faces(pixels: Pixels) -> tuple[Face, ...]:
    """The faces of a picture, the likeliest first."""
    height, width = pixels.shape[:2]
    side = max(height, width)
    top, left = (side - height) // 2, (side - width) // 2
    around = top, side - height - top, left, side - width - left
    square = cv2.copyMakeBorder(pixels, *around, cv2.BORDER_CONSTANT)
    method = cv2.INTER_AREA if side > INPUT_SIDE else cv2.INTER_LINEAR
    small = cv2.resize(square, (INPUT_SIDE, INPUT_SIDE), interpolation=method).astype(np.float32) / 127.5 - 1
    numbers, logits = open_session("objects_faces.onnx").run(None, {"input": small[None]})
    scores = 1 / (1 + np.exp(-np.clip(logits[0, :, 0], -50, 50)))
    likely = np.flatnonzero(scores > FAINTEST)
    points = numbers[0][likely, :8] / INPUT_SIDE
    points[:, [0, 1, 4, 5, 6, 7]] += np.tile(_anchors()[likely], 3)
    shown = (left / side, top / side, width / side, height / side)
    faces = [_face(float(score), values, shown) for score, values in zip(scores[likely], points, strict=True)]
    boxes = np.array([face.box for face in faces], np.float32).reshape(-1, 4)
    return tuple(faces[row] for row in likeliest(boxes, scores[likely], FAINTEST, SAME_FACE))


@lru_cache(maxsize=1)
def _anchors() -> Floats:
    """The middle of every anchor's cell."""
    grids = [
        (np.indices((side, side))[::-1].reshape(2, -1).T.repeat(each, axis=0) + 0.5) / side for side, each in GRIDS
    ]
    return np.concatenate(grids).astype(np.float32)


def _face(score: float, values: Floats, shown: Box) -> Face:
    x, y, wide, high, *eyes = (float(value) for value in values)
    wide, taller = wide * (1 + 2 * WIDER), high * (1 + HIGHER)
    box = (x - wide / 2, y + high / 2 - taller, x + wide / 2, y + high / 2)
    apart = max(abs(eyes[0] - eyes[2]), high / 4)
    middle = (eyes[1] + eyes[3]) / 2
    around = (
        min(eyes[0], eyes[2]) - EYE_MARGIN * apart,
        middle - EYE_MARGIN * apart,
        max(eyes[0], eyes[2]) + EYE_MARGIN * apart,
        middle + EYE_MARGIN * apart,
    )
    return Face(score, _of_picture(box, shown), _of_picture(around, shown))


def _of_picture(box: Box, shown: Box) -> Box:
    """A box of the square as shares of the picture inside it."""
    left, top, wide, high = shown
    shares = ((box[0] - left) / wide, (box[1] - top) / high, (box[2] - left) / wide, (box[3] - top) / high)
    first, second, third, fourth = (min(1.0, max(0.0, share)) for share in shares)
    return first, second, third, fourth
