"""Pictures that are there more than once: the same pixels, or nearly the same to look at."""

from __future__ import annotations

import base64
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from agenticiqa.audit.issues import picture_scores

# Bits of 64 in which hashes of one picture, re-encoded or resized, differ at most; 18 are met by chance among millions.
FARTHEST_HASH = 10
# Mean difference of 8 × 8 thumbnails in grey levels; a burst's pictures reach it, other pictures of a place do not.
FARTHEST_THUMBNAIL = 12.0
# Cosine of the trunk's pooled features.
LEAST_LIKENESS = 0.985
# Hashes this near, with thumbnails this alike, are one picture at another size, whatever its features say.
SURELY_HASH, SURELY_THUMBNAIL = 2, 2.0
_BLOCK = 512
# The issues in which copies of one picture differ, and the strength at which a flaw that was seen is extreme.
FLAWS = ("blurry", "noisy", "dark", "light", "low_contrast", "colour_cast")
STRONGEST = 4.0
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
    groups = _joined(len(names), _pairs([found[name] for name in names]))
    return [_group("near", [names[index] for index in members], found) for members in groups]


def _pairs(found: Sequence[Mapping[str, Any]]) -> Iterator[tuple[int, int]]:
    if len(found) < 2:
        return
    hashes = np.array([int(each["hash"], 16) for each in found], np.uint64)
    thumbnails = np.stack([_unpacked(each["thumbnail"], np.uint8) for each in found]).astype(np.int16)
    features = _feature_matrix(found)
    for start in range(0, len(found), _BLOCK):
        rows = hashes[start : start + _BLOCK, None]
        close = np.bitwise_count(rows ^ hashes[None, :]) <= FARTHEST_HASH
        for row, column in zip(*np.nonzero(close), strict=True):
            one, other = start + int(row), int(column)
            near = int(np.bitwise_count(hashes[one] ^ hashes[other])) <= SURELY_HASH
            if one < other and _alike(one, other, thumbnails, features, surely=near):
                yield one, other


def _alike(
    one: int,
    other: int,
    thumbnails: npt.NDArray[np.int16],
    features: npt.NDArray[np.float32] | None,
    *,
    surely: bool,
) -> bool:
    apart = float(np.abs(thumbnails[one] - thumbnails[other]).mean())
    if apart > FARTHEST_THUMBNAIL:
        return False
    if surely and apart <= SURELY_THUMBNAIL:
        return True
    return features is None or float(features[one] @ features[other]) >= LEAST_LIKENESS


def _feature_matrix(found: Sequence[Mapping[str, Any]]) -> npt.NDArray[np.float32] | None:
    if not all("features" in each for each in found):
        return None
    values = np.stack([_unpacked(each["features"], np.int8) for each in found]).astype(np.float32)
    return np.asarray(values / np.maximum(np.linalg.norm(values, axis=1, keepdims=True), 1e-6), np.float32)


def _unpacked(text: str, kind: type[np.uint8] | type[np.int8]) -> npt.NDArray[Any]:
    return np.frombuffer(base64.b85decode(text), kind)


def _joined(count: int, pairs: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Groups of two and more that the pairs tie together."""
    leader = list(range(count))

    def root(index: int) -> int:
        while leader[index] != index:
            leader[index] = leader[leader[index]]
            index = leader[index]
        return index

    for one, other in pairs:
        leader[root(other)] = root(one)
    groups: defaultdict[int, list[int]] = defaultdict(list)
    for index in range(count):
        groups[root(index)].append(index)
    return [members for members in groups.values() if len(members) > 1]


def _group(kind: Literal["exact", "near"], names: Sequence[str], found: Mapping[str, Mapping[str, Any]]) -> Group:
    """The group, with the picture to keep: most pixels, then fewest flaws, then most data, then the shortest name."""
    most = max(found[name]["width"] * found[name]["height"] for name in names)
    flaws = {name: _flaws(found[name]) for name in names if found[name]["width"] * found[name]["height"] == most}
    least = min(flaws.values())
    sound = [name for name, flaw in flaws.items() if flaw <= least + SAME_FLAWS]
    return Group(kind, tuple(names), min(sound, key=lambda name: (-(found[name]["bytes"] or 0), len(name), name)))


def _flaws(found: Mapping[str, Any]) -> float:
    """How flawed a picture is beside its copies: what the issues cost, lost colour, and compression where it was seen.

    Grain stands in for noise where that was not measured, and never counts as sharpness.
    """
    scores = picture_scores({"noise": found["grain"], **found})
    compressed = found.get("seen", {}).get("compressed", 0.0) / STRONGEST
    return sum(1 - (scores[issue] or 0.0) for issue in FLAWS) + float(found["grey"]) + float(compressed)
