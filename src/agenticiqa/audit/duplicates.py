"""Pictures that are there more than once: the same pixels, or nearly the same to look at."""

from __future__ import annotations

import base64
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

# Bits of 64 in which hashes of one picture, re-encoded or resized, differ at most; 18 are met by chance among millions.
FARTHEST_HASH = 10
# Mean difference of 8 × 8 thumbnails in grey levels; a burst's pictures reach it, other pictures of a place do not.
FARTHEST_THUMBNAIL = 12.0
# Cosine of the trunk's pooled features.
LEAST_LIKENESS = 0.985
# Hashes this near, with thumbnails this alike, are one picture at another size, whatever its features say.
SURELY_HASH, SURELY_THUMBNAIL = 2, 2.0
_BLOCK = 512


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


def near_groups(found: Mapping[str, Mapping[str, Any]]) -> list[Group]:
    """Groups of pictures that look alike, joined by pairs; copies with the same pixels count once."""
    first: dict[str, str] = {}
    for name, each in found.items():
        if "corrupt" not in each and each["entropy"] > 1.0:
            first.setdefault(f"{each['pixels']} {each['width']}", name)
    names = list(first.values())
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
    """The group, with the picture to keep: most pixels, then sharpest, then most data, then the shortest name."""

    def merit(name: str) -> tuple[float, float, float, int, str]:
        each = found[name]
        blur = each["blur_radius"] if each["blur_radius"] is not None else 99.0
        return -each["width"] * each["height"], round(blur, 1), -(each["bytes"] or 0), len(name), name

    return Group(kind, tuple(names), min(names, key=merit))
