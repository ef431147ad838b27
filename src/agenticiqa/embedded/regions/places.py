"""Where things are: boxes for place words, named objects, the sky and the part in focus.

What cannot be found is None; a faint find is marked as doubtful by its confidence. Place words have fixed boxes.
Foreground is the main subject, else the box around what is in focus, and background the largest part of the picture
beside it; where nothing stands out and all is about equally sharp, the lower half is near and the upper half is far.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import cv2
import numpy as np

from agenticiqa.embedded.objects.object_detector import Located, share_within
from agenticiqa.embedded.objects.scene import Scene, as_region, region_of
from agenticiqa.embedded.trunk import Floats, Pixels
from agenticiqa.question.object_words import NOT_CLASSES, names_several, object_called, place_named
from agenticiqa.state import LocatedRegion, Region

# Left, top, right, bottom as shares of width and height.
PLACES: dict[str, tuple[float, float, float, float]] = {
    "left": (0, 0, 1 / 2, 1),
    "right": (1 / 2, 0, 1, 1),
    "top": (0, 0, 1, 1 / 2),
    "bottom": (0, 1 / 2, 1, 1),
    "top left": (0, 0, 1 / 2, 1 / 2),
    "top right": (1 / 2, 0, 1, 1 / 2),
    "bottom left": (0, 1 / 2, 1 / 2, 1),
    "bottom right": (1 / 2, 1 / 2, 1, 1),
    "centre": (1 / 4, 1 / 4, 3 / 4, 3 / 4),
}
FOCUS_GRID = 16
# A box that holds most of the sharp detail is a subject only if it leaves a good part of the picture free.
FOCUS_SHARE, LARGEST_SUBJECT = 0.7, 0.6
BELOW = 0.4
# A subject that leaves less than this free has no background beside it.
LARGEST_FOREGROUND = 0.8
# How likely a second thing of a class must be there to be one, and how much of a box may lie in another's.
CLEARLY_THERE, SAME_THING = 0.46, 0.5
# How much of a face lies in the box of the person whose face it is.
INSIDE = 0.8
SKY_GRID, SKY_DETAIL, SMALLEST_SKY = 64, 4.0, 0.08


def place_called(name: str) -> str:
    """The place a name stands for ("左上角", "upper left corner" → "top left"), else the name itself."""
    lowered = name.strip().lower()
    return lowered if names_several(lowered) else place_named(lowered) or lowered


# One question asks for the same few names again and again.
@lru_cache(maxsize=8)
def locate(scene: Scene, called: str) -> Region | None:
    """The box of a place word or of what a name stands for; None for what is not found."""
    name, pixels = place_called(called), scene.pixels
    height, width = pixels.shape[:2]
    if name in PLACES:
        return region_of(PLACES[name], width, height)
    asked = object_called(name)
    if asked is None:
        return None
    if asked.kind in ("foreground", "background"):
        return _by_depth(scene, asked.kind)
    if asked.kind == "sky":
        return sky_box(pixels)
    found = scene.find(name)
    if asked.kind == "subject" and not found:
        return focus_box(pixels)
    if asked.kind == "person" and asked.several and not found:
        found = scene.find("faces")
    boxes = [as_region(each, width, height) for each in found]
    return together(boxes) if asked.several and len(boxes) > 1 else next(iter(boxes), None)


def alike(scene: Scene, name: str, width: int, height: int) -> list[LocatedRegion]:
    """The things a name for one of them may mean, the one taken for it first; one where a side or all are named."""
    asked = object_called(name)
    if asked is None or asked.several or asked.side or asked.kind in NOT_CLASSES[2:]:
        return []
    found = [as_region(each, width, height) for each in scene.find(name)]
    clear = [each for each in found if each.confidence >= CLEARLY_THERE]
    kept: list[LocatedRegion] = []
    for each in clear:
        # A box around two and a part of one are no other thing.
        if all(max(overlap(each, other), overlap(other, each)) < SAME_THING for other in kept):
            kept.append(each)
    return kept


def face_in(scene: Scene, person: Region, width: int, height: int) -> LocatedRegion | None:
    """The largest face that lies in a person's box; None where there is none."""
    faces = (as_region(each, width, height) for each in scene.find("face"))
    return next((face for face in faces if overlap(face, person) >= INSIDE), None)


def together(members: Sequence[LocatedRegion]) -> LocatedRegion:
    """The box around several things of a class, which keeps the box of each."""
    return LocatedRegion(
        left=min(each.left for each in members),
        top=min(each.top for each in members),
        right=max(each.right for each in members),
        bottom=max(each.bottom for each in members),
        kind=members[0].kind,
        confidence=min(each.confidence for each in members),
        members=tuple(members),
    )


def sky_box(pixels: Pixels) -> LocatedRegion | None:
    """The box from the top edge down to where the smooth, bright or blue part of the picture ends."""
    height, width = pixels.shape[:2]
    small = cv2.resize(pixels, (SKY_GRID, SKY_GRID), interpolation=cv2.INTER_AREA)
    hue, saturation, value = (plane.astype(np.int32) for plane in cv2.split(cv2.cvtColor(small, cv2.COLOR_RGB2HSV)))
    detail = cv2.resize(focus_map(pixels), (SKY_GRID, SKY_GRID), interpolation=cv2.INTER_LINEAR)
    blue = (hue >= 85) & (hue <= 130) & (saturation > 40) & (value > 60)
    pale = (saturation <= 60) & (value > 150)
    like_sky = (blue | pale) & (detail < SKY_DETAIL)
    # What hangs together with the top edge, column by column.
    connected = np.logical_and.accumulate(like_sky, axis=0)
    share = float(connected.mean())
    if share < SMALLEST_SKY or connected[0].mean() < 0.5:
        return None
    depth = float(np.percentile(connected.sum(axis=0), 75)) / SKY_GRID
    sure = float(connected[: max(1, round(depth * SKY_GRID))].mean())
    return as_region(Located("sky", sure, (0.0, 0.0, 1.0, depth)), width, height)


def focus_box(pixels: Pixels) -> Region | None:
    """The smallest box with most of the sharp detail, or None where detail is everywhere or nowhere."""
    detail = focus_map(pixels)
    total = float(detail.sum())
    if total < 1e-3:
        return None
    box = _shrink(detail / total)
    shares = (box[0] / FOCUS_GRID, box[1] / FOCUS_GRID, box[2] / FOCUS_GRID, box[3] / FOCUS_GRID)
    if (shares[2] - shares[0]) * (shares[3] - shares[1]) > LARGEST_SUBJECT:
        return None
    return region_of(shares, pixels.shape[1], pixels.shape[0])


def focus_map(pixels: Pixels) -> Floats:
    """How much of the finest detail lies in each of 16 × 16 cells."""
    grey = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY).astype(np.float32)
    factor = min(1.0, 512 / max(grey.shape))
    if factor < 1:
        grey = np.asarray(cv2.resize(grey, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA), np.float32)
    fine = np.abs(grey - cv2.GaussianBlur(grey, (0, 0), 1.0))
    return np.asarray(cv2.resize(fine, (FOCUS_GRID, FOCUS_GRID), interpolation=cv2.INTER_AREA), np.float32)


def area(region: Region) -> int:
    """Pixels inside a box."""
    return (region.right - region.left) * (region.bottom - region.top)


def overlap(first: Region, second: Region) -> float:
    """The share of the first box that lies in the second."""
    inner, outer = ((box.left, box.top, box.right, box.bottom) for box in (first, second))
    return share_within(inner, outer)


def _by_depth(scene: Scene, name: str) -> Region:
    """The subject, or the largest part beside it; halves of the picture where nothing stands out."""
    height, width = scene.pixels.shape[:2]
    found = scene.find("subject")
    subject: Region | None = as_region(found[0], width, height) if found else focus_box(scene.pixels)
    if subject is not None and area(subject) > LARGEST_FOREGROUND * width * height:
        subject = focus_box(scene.pixels)
    if subject is None:
        return region_of(PLACES["bottom" if name == "foreground" else "top"], width, height)
    if name == "foreground":
        return subject
    beside = [
        (0, 0, width, subject.top),
        (0, subject.bottom, width, height),
        (0, 0, subject.left, height),
        (subject.right, 0, width, height),
    ]
    # What lies below a subject is mostly the ground it stands on.
    shares = [(right - left) * (bottom - top) for left, top, right, bottom in beside]
    shares[1] = round(BELOW * shares[1])
    left, top, right, bottom = beside[shares.index(max(shares))]
    confidence = found[0].confidence if found else 0.5
    return LocatedRegion(
        left=left, top=top, right=right, bottom=bottom, kind="background", confidence=round(confidence, 3)
    )


def _shrink(shares: Floats) -> tuple[int, int, int, int]:
    """Cells off the sides, the poorest first, while the box still holds most of the detail."""
    left, top, right, bottom = 0, 0, FOCUS_GRID, FOCUS_GRID
    while right - left > 2 and bottom - top > 2:
        smaller = [
            (left + 1, top, right, bottom),
            (left, top + 1, right, bottom),
            (left, top, right - 1, bottom),
            (left, top, right, bottom - 1),
        ]
        held = [float(shares[box[1] : box[3], box[0] : box[2]].sum()) for box in smaller]
        best = int(np.argmax(held))
        if held[best] < FOCUS_SHARE:
            break
        left, top, right, bottom = smaller[best]
    return left, top, right, bottom
