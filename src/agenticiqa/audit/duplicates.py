"""Pictures that are there more than once: the same pixels, or nearly the same to look at."""

from __future__ import annotations

import base64
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import cv2
import numpy as np
import numpy.typing as npt

from agenticiqa.audit.issues import picture_scores
from agenticiqa.audit.picture_measurements import THUMBNAIL

Thumbnails = npt.NDArray[np.uint8]

# Cosine of the structure of two thumbnails. Of 3,000 photographs of BIQ2021 pairs above .82 show one scene, as far as
# they were looked at, and no turned or mirrored pair reaches .83; copies cut by 5 % at each side mostly reach .88.
LEAST_LIKENESS = 0.88
# Mean difference of colours in grey levels, once one brightness is laid over the other: skies are alike in structure.
FARTHEST_COLOURS = 14.0
_LOWEST_COSINES = 8
_ROWS_AT_ONCE = 256
# The issues in which copies of one picture differ.
FLAWS = ("blurry", "noisy", "dark", "light", "low_contrast", "colour_cast", "compressed")
# Flaws that differ by less are the same to look at; then the copy with the most data is the nearest to the original.
SAME_FLAWS = 0.15


@dataclass(frozen=True)
class Group:
    """Pictures that are one, and which of them to keep."""

    kind: Literal["exact", "near"]
    members: tuple[str, ...]
    keep: str


def exact_groups(found: Mapping[str, Mapping[str, Any]]) -> list[Group]:
    """Groups of pictures with the same pixels."""
    by_pixels: defaultdict[str, list[str]] = defaultdict(list)
    for name, each in found.items():
        if "corrupt" not in each:
            by_pixels[f"{each['pixels']} {each['width']}"].append(name)
    return [_group("exact", names, found) for names in by_pixels.values() if len(names) > 1]


def near_groups(found: Mapping[str, Mapping[str, Any]], exact: Sequence[Group] = ()) -> list[Group]:
    """Groups of pictures that look alike, joined by pairs; of copies with the same pixels the one to keep counts."""
    spare = {name for group in exact for name in group.members if name != group.keep}
    names = [
        name for name, each in found.items() if name not in spare and "corrupt" not in each and each["entropy"] > 1.0
    ]
    groups = _joined(_pairs([found[name] for name in names]))
    return [_group("near", [names[index] for index in members], found) for members in groups]


def _pairs(found: Sequence[Mapping[str, Any]]) -> Iterator[tuple[int, int]]:
    """Pairs that show the same, where one of them may be turned or mirrored."""
    if len(found) < 2:
        return
    thumbnails = np.stack([unpacked_thumbnail(each["thumbnail"]) for each in found])
    structure = _structure(thumbnails)
    for turned in _turned(thumbnails):
        other_structure = _structure(turned)
        for start in range(0, len(found), _ROWS_AT_ONCE):
            likeness = structure[start : start + _ROWS_AT_ONCE] @ other_structure.T
            for row, column in zip(*np.nonzero(likeness >= LEAST_LIKENESS), strict=True):
                one, other = start + int(row), int(column)
                if one < other and _colours_apart(thumbnails[one], turned[other]) <= FARTHEST_COLOURS:
                    yield one, other


def unpacked_thumbnail(text: str) -> Thumbnails:
    """A thumbnail as the measurements hold it, as an array of rows, columns and colours."""
    return np.frombuffer(base64.b85decode(text), np.uint8).reshape(THUMBNAIL, THUMBNAIL, 3)


def _turned(thumbnails: Thumbnails) -> Iterator[Thumbnails]:
    """The eight ways in which a picture can lie: upright, turned, and each of these mirrored."""
    for each in (thumbnails, thumbnails.swapaxes(1, 2)):
        yield from (each, each[:, ::-1], each[:, :, ::-1], each[:, ::-1, ::-1])


def _structure(thumbnails: Thumbnails) -> npt.NDArray[np.float32]:
    """Unit vectors of the lowest cosines without the mean, which another brightness, size or coding leave alone.

    Of each the root is taken, so that not the one strongest gradient decides.
    """
    grey = thumbnails.astype(np.float32) @ np.array([0.299, 0.587, 0.114], np.float32)
    basis = cv2.dct(np.eye(THUMBNAIL, dtype=np.float32), flags=cv2.DCT_ROWS).T[:_LOWEST_COSINES]
    low = (basis @ grey @ basis.T).reshape(len(grey), -1)[:, 1:]
    rooted = np.sign(low) * np.sqrt(np.abs(low))
    return np.asarray(rooted / np.maximum(np.linalg.norm(rooted, axis=1, keepdims=True), 1e-6), np.float32)


def _colours_apart(one: Thumbnails, other: Thumbnails) -> float:
    """How far colours lie apart where the brightness of each is fitted to the other by a gain and an offset."""
    first, second = (cv2.resize(each, (8, 8), interpolation=cv2.INTER_AREA).astype(np.float64) for each in (one, other))
    first, second = first - first.mean(), second - second.mean()
    shared = np.sum(first * second)
    gains = (shared / max(np.sum(each**2), 1e-6) for each in (first, second))
    left = (second - next(gains) * first, first - next(gains) * second)
    return max(float(np.abs(each).mean()) for each in left)


def _joined(pairs: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Groups that the pairs tie together, in the order of their first members."""
    group_of: dict[int, set[int]] = {}
    for one, other in pairs:
        group, joining = group_of.setdefault(one, {one}), group_of.setdefault(other, {other})
        if group is not joining:
            group |= joining
            group_of.update(dict.fromkeys(joining, group))
    return sorted({id(group): sorted(group) for group in group_of.values()}.values())


def _group(kind: Literal["exact", "near"], names: Sequence[str], found: Mapping[str, Mapping[str, Any]]) -> Group:
    """The group, with the picture to keep: most pixels, then fewest flaws, then most data, then the shortest name."""
    most = max(found[name]["width"] * found[name]["height"] for name in names)
    flaws = {name: _flaws(found[name]) for name in names if found[name]["width"] * found[name]["height"] == most}
    least = min(flaws.values())
    sound = [name for name, flaw in flaws.items() if flaw <= least + SAME_FLAWS]
    return Group(kind, tuple(names), min(sound, key=lambda name: (-(found[name]["bytes"] or 0), len(name), name)))


def _flaws(found: Mapping[str, Any]) -> float:
    """How flawed a picture is beside its copies: what the issues cost, and lost colour.

    Grain stands in for noise where that was not measured, and never counts as sharpness.
    """
    scores = picture_scores({"noise": found["grain"], **found})
    return sum(1 - (scores[issue] or 0.0) for issue in FLAWS) + float(found["grey"])
