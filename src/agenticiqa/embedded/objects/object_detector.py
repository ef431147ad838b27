"""SSD MobileNetV3-Large, trained on COCO: candidates for 80 classes, from two or three views of the picture.

The second view is the picture shrunk in a plain frame. What fills the picture, or is blurred, is found better there,
and what only one view shows counts half, which is what keeps false alarms down. The third view, two overlapping parts
of the picture, is looked at when a class is named and not clear yet: the network sees a square, so a wide picture
shows its things narrow in the other two.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from agenticiqa.embedded.trunk import Floats, Pixels
from agenticiqa.weights import open_session

Box = tuple[float, float, float, float]
"""Left, top, right and bottom as shares of width and height."""

INPUT_SIDE = 320
# The network's 90 outputs; the ten with "-" were never labelled in COCO.
CLASSES = (
    "person", "bicycle", "car", "motorcycle", "airplane", "bus", "train", "truck", "boat", "traffic light",
    "fire hydrant", "-", "stop sign", "parking meter", "bench", "bird", "cat", "dog", "horse", "sheep", "cow",
    "elephant", "bear", "zebra", "giraffe", "-", "backpack", "umbrella", "-", "-", "handbag", "tie", "suitcase",
    "frisbee", "skis", "snowboard", "sports ball", "kite", "baseball bat", "baseball glove", "skateboard",
    "surfboard", "tennis racket", "bottle", "-", "wine glass", "cup", "fork", "knife", "spoon", "bowl", "banana",
    "apple", "sandwich", "orange", "broccoli", "carrot", "hot dog", "pizza", "donut", "cake", "chair", "couch",
    "potted plant", "bed", "-", "dining table", "-", "-", "toilet", "-", "tv", "laptop", "mouse", "remote",
    "keyboard", "cell phone", "microwave", "oven", "toaster", "sink", "refrigerator", "-", "book", "clock", "vase",
    "scissors", "teddy bear", "hair drier", "toothbrush",
)  # fmt: skip
_LABELLED = np.array([name != "-" for name in CLASSES])
CENTRE_STEP, SIZE_STEP = 10.0, 5.0
SHRUNK = 0.6
# The parts of the third view, as shares of the longer side.
PARTS = ((0.0, 0.6), (0.4, 1.0))
# The least a class must score in a view, and the least where it was named.
FAINTEST, FAINTEST_NAMED = 0.08, 0.03
# No view shows more than this many pixels a side, so larger pictures are shrunk once for all of them.
LARGEST_SIDE = 640
MOST_PER_CLASS, MOST_COMPARED = 5, 60
SAME_OBJECT = 0.5


@dataclass(frozen=True)
class Located:
    """One thing that may be there: its class, how likely, where, and how likely the same box is another thing.

    Below DOUBTFUL it is a guess.
    """

    kind: str
    confidence: float
    box: Box
    rival: float = 0.0

    @property
    def counted(self) -> float:
        """The confidence, less where the same box is likelier something else."""
        return self.confidence * math.sqrt(min(1.0, self.confidence / max(self.rival, 1e-6)))


@dataclass(frozen=True)
class View:
    """What the network makes of one view: the score of every class for every box that may hold something."""

    scores: Floats
    boxes: Floats

    def things(self, named: Sequence[str] = ()) -> Things:
        """The likeliest boxes of every class, each standing for those around it; of named classes also faint ones."""
        faintest = np.where(np.isin(CLASSES, named), FAINTEST_NAMED, FAINTEST)
        kinds, rows = [], []
        for kind in np.flatnonzero((self.scores.max(axis=0, initial=0) > faintest) & _LABELLED):
            chosen = likeliest(self.boxes, self.scores[:, kind], float(faintest[kind]), SAME_OBJECT)[:MOST_PER_CLASS]
            kinds += [kind] * len(chosen)
            rows += chosen.tolist()
        numbers = np.array(kinds, np.int64)
        return Things(numbers, self.scores[rows, numbers], self.boxes[rows])


@dataclass(frozen=True)
class Things:
    """The things of one view: number of the class, score and box of each."""

    kinds: npt.NDArray[np.int64]
    scores: Floats
    boxes: Floats


def view_of(pixels: Pixels, share: float = 1.0) -> View:
    """What the network sees of the picture, shrunk to this share of a plain frame."""
    if share == 1.0:
        return _seen(pixels)
    framed, frame = _in_a_frame(pixels, share)
    seen, (start, size) = _seen(framed), _start_and_size(frame)
    return View(seen.scores, np.asarray(np.clip((seen.boxes - start) / size, 0, 1), np.float32))


def view_of_parts(pixels: Pixels) -> View:
    """What the network sees of two overlapping parts of the picture, together."""
    height, width = pixels.shape[:2]
    scores, boxes = [], []
    for first, last in PARTS:
        part = (first, 0.0, last, 1.0) if width >= height else (0.0, first, 1.0, last)
        left, top = int(part[0] * width), int(part[1] * height)
        right, bottom = max(left + 1, round(part[2] * width)), max(top + 1, round(part[3] * height))
        seen, (start, size) = _seen(pixels[top:bottom, left:right]), _start_and_size(part)
        scores.append(seen.scores)
        boxes.append(np.asarray(seen.boxes * size + start, np.float32))
    return View(np.concatenate(scores), np.concatenate(boxes))


def _seen(pixels: Pixels) -> View:
    session = open_session("objects_detector.onnx")
    method = cv2.INTER_AREA if max(pixels.shape[:2]) > INPUT_SIDE else cv2.INTER_LINEAR
    small = cv2.resize(pixels, (INPUT_SIDE, INPUT_SIDE), interpolation=method)
    planes = np.ascontiguousarray((small.astype(np.float32) / 127.5 - 1).transpose(2, 0, 1)[None])
    offsets, scores, anchors = session.run(None, {session.get_inputs()[0].name: planes})
    # The first output is "nothing".
    likely = np.flatnonzero(scores[0][:, 1:].max(axis=1) > FAINTEST_NAMED)
    return View(scores[0][likely, 1:], _decoded(offsets[0][likely], anchors[likely]))


def shrunk_for_views(pixels: Pixels) -> Pixels:
    """The picture at the largest size a view can use."""
    factor = LARGEST_SIDE / max(pixels.shape[:2])
    if factor >= 1:
        return pixels
    size = max(1, round(pixels.shape[1] * factor)), max(1, round(pixels.shape[0] * factor))
    return np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA), np.uint8)


def merged(views: Sequence[Things]) -> tuple[Located, ...]:
    """Each thing once, the likeliest first: its confidence is the mean over the views, its box their weighted mean."""
    kinds = np.concatenate([view.kinds for view in views])
    scores = np.concatenate([view.scores for view in views])
    boxes = np.concatenate([view.boxes for view in views])
    shared = overlaps(boxes, boxes)
    same = (shared > SAME_OBJECT) & (kinds[:, None] == kinds[None, :])
    counterpart = same * scores[None, :]
    ends = np.cumsum([len(view.kinds) for view in views])[:-1]
    # What a view has of the same class at the same place, at most once.
    by_view = [part.max(axis=1, initial=0) for part in np.split(counterpart, ends, axis=1)]
    confidence = np.mean(by_view, axis=0)
    others = (shared > SAME_OBJECT) & (kinds[:, None] != kinds[None, :])
    rivals = (others * confidence[None, :]).max(axis=1, initial=0)
    found: list[Located] = []
    taken = np.zeros(len(kinds), bool)
    for each in np.lexsort((-scores, -confidence)):
        if taken[each] or not np.all(boxes[each, 2:] > boxes[each, :2]):
            continue
        taken |= same[each]
        box = np.average(boxes[same[each]], axis=0, weights=scores[same[each]])
        name = CLASSES[kinds[each]]
        left, top, right, bottom = map(float, box)
        found.append(Located(name, float(confidence[each]), (left, top, right, bottom), float(rivals[each])))
    return tuple(found)


def overlap_share(first: Box, second: Box) -> float:
    """Intersection over union of two boxes."""
    return float(overlaps(np.array([first], np.float32), np.array([second], np.float32))[0, 0])


def box_area(box: Box) -> float:
    """The share of the picture a box covers."""
    return max(0.0, box[2] - box[0]) * max(0.0, box[3] - box[1])


def share_within(inner: Box, outer: Box) -> float:
    """The share of one box that lies in another."""
    left, top = max(inner[0], outer[0]), max(inner[1], outer[1])
    return box_area((left, top, min(inner[2], outer[2]), min(inner[3], outer[3]))) / max(1e-9, box_area(inner))


def likeliest(boxes: Floats, scores: Floats, faintest: float, shared: float) -> npt.NDArray[np.intp]:
    """The rows of the likeliest boxes, without those of which more than a share is a likelier one's too."""
    corners_and_sizes = np.hstack([boxes[:, :2], boxes[:, 2:] - boxes[:, :2]])
    kept = cv2.dnn.NMSBoxes(corners_and_sizes.tolist(), scores.tolist(), faintest, shared, top_k=MOST_COMPARED)
    return np.asarray(kept, np.intp)


def overlaps(first: Floats, second: Floats) -> Floats:
    """Intersection over union of every box of one list with every box of another."""
    corner = np.minimum(first[:, None, 2:], second[None, :, 2:])
    sides = np.clip(corner - np.maximum(first[:, None, :2], second[None, :, :2]), 0, None)
    both = sides.prod(axis=2)
    areas = [np.clip(boxes[:, 2:] - boxes[:, :2], 0, None).prod(axis=1) for boxes in (first, second)]
    return np.asarray(both / np.maximum(areas[0][:, None] + areas[1][None, :] - both, 1e-9), np.float32)


def _decoded(offsets: Floats, anchors: Floats) -> Floats:
    """Left, top, right and bottom from offsets of centre and size relative to the anchors."""
    down, across = offsets[:, 0] / CENTRE_STEP * anchors[:, 2], offsets[:, 1] / CENTRE_STEP * anchors[:, 3]
    middle_y, middle_x = down + anchors[:, 0], across + anchors[:, 1]
    height, width = np.exp(offsets[:, 2:4].T / SIZE_STEP) * anchors[:, 2:4].T
    corners = (middle_x - width / 2, middle_y - height / 2, middle_x + width / 2, middle_y + height / 2)
    return np.asarray(np.clip(np.stack(corners, axis=1), 0, 1), np.float32)


def _in_a_frame(pixels: Pixels, share: float) -> tuple[Pixels, Box]:
    """The picture shrunk in the middle of its mean colour, and where it lies there."""
    height, width = pixels.shape[:2]
    size = max(1, int(width * share)), max(1, int(height * share))
    small = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
    top, left = (height - size[1]) // 2, (width - size[0]) // 2
    around = top, height - size[1] - top, left, width - size[0] - left
    mean = [int(value) for value in cv2.mean(pixels)[:3]]
    framed = np.asarray(cv2.copyMakeBorder(small, *around, cv2.BORDER_CONSTANT, value=mean), np.uint8)
    return framed, (left / width, top / height, (left + size[0]) / width, (top + size[1]) / height)


def _start_and_size(box: Box) -> tuple[Floats, Floats]:
    left, top, right, bottom = box
    return np.array([left, top] * 2, np.float32), np.array([right - left, bottom - top] * 2, np.float32)
