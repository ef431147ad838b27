"""What is seen and measured in each part of a picture: sixteen parts in four rows, for findings that have a place."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from agenticiqa.embedded.distortions.cells import measure_cells
from agenticiqa.embedded.distortions.tile_features import PER_SIDE, Tiles
from agenticiqa.embedded.trunk import Features, TailFeatures
from agenticiqa.state import Region

Floats = npt.NDArray[np.float32]
PARTS_PER_SIDE = 4
HALF = 0.5


def part_features(features: Features, last: TailFeatures, tiles: Tiles) -> Floats:
    """One row per part, row by row: statistics of the trunk's maps, means of the last stages', then measurements."""
    deep = [_means(stage) for stage in last.maps]
    return np.concatenate([*map(_means_and_spreads, features.maps), *deep, part_readings(features, tiles)], axis=1)


def part_readings(features: Features, tiles: Tiles) -> Floats:
    """Softness, burnt lights, black shadows, grain, lightness, colours and their spread, blur radius and sigma."""
    working = features.working
    lab = cv2.cvtColor(np.ascontiguousarray(working[::2, ::2]).astype(np.float32) / 255, cv2.COLOR_RGB2LAB)
    colours = np.concatenate([np.moveaxis(lab, 2, 0), np.hypot(lab[..., 1], lab[..., 2])[None]])
    fine = np.log(0.1 + np.stack([tiles.radii, tiles.sigmas])).reshape(2, PER_SIDE, PER_SIDE)
    spread = [cv2.resize(plane, (PARTS_PER_SIDE, PARTS_PER_SIDE)).ravel() for plane in fine.astype(np.float32)]
    return np.concatenate(
        [_means(measure_cells(working)), _means_and_spreads(colours), np.stack(spread, axis=1)], axis=1
    )


def box_of(strengths: Floats, size: tuple[int, int]) -> Region | None:
    """The box around the parts that show a flaw, in a picture of this (height, width); None where it is everywhere."""
    there = box_parts(strengths).reshape(PARTS_PER_SIDE, PARTS_PER_SIDE)
    if there.all() or not there.any():
        return None
    rows, columns = np.flatnonzero(there.any(axis=1)), np.flatnonzero(there.any(axis=0))
    (top, _), (left, _) = _span(int(rows[0]), size[0]), _span(int(columns[0]), size[1])
    (_, bottom), (_, right) = _span(int(rows[-1]), size[0]), _span(int(columns[-1]), size[1])
    return Region(left=left, top=top, right=right, bottom=bottom)


def box_parts(strengths: Floats) -> npt.NDArray[np.bool_]:
    """The parts with at least half of the strength of the worst one, as far as they hang together with it."""
    flawed = (strengths >= HALF * strengths.max()) & (strengths > 0)
    _, pieces = cv2.connectedComponents(flawed.reshape(PARTS_PER_SIDE, -1).astype(np.uint8), connectivity=4)
    return np.asarray(flawed & (pieces.ravel() == pieces.ravel()[strengths.argmax()]))


def _means(planes: Floats) -> Floats:
    return np.array([part.mean(axis=(1, 2)) for part in _cut(planes)], np.float32)


def _means_and_spreads(planes: Floats) -> Floats:
    means, squares = _means(planes), _means(np.square(planes))
    return np.concatenate([means, np.sqrt(np.maximum(squares - np.square(means), 0))], axis=1)


def _cut(planes: Floats) -> list[Floats]:
    rows, columns = ([_span(n, length) for n in range(PARTS_PER_SIDE)] for length in planes.shape[1:])
    return [planes[:, top:bottom, left:right] for top, bottom in rows for left, right in columns]


def _span(part: int, length: int) -> tuple[int, int]:
    """The first cell of a part and the one behind its last; of a short side parts share cells."""
    start = min(length - 1, part * length // PARTS_PER_SIDE)
    return start, max(start + 1, (part + 1) * length // PARTS_PER_SIDE)
