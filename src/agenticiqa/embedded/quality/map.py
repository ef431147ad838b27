"""Quality place by place: the network's head applied to windows of the stage maps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agenticiqa.embedded.quality.quality_head import QualityHead, within_scale
from agenticiqa.state import Region

Floats = npt.NDArray[np.float32]
Values = npt.NDArray[np.float64]

CELL = 64
WINDOW_CELLS = 2


@dataclass(frozen=True)
class LocalQuality:
    """A coarse grid of qualities from 1 to 5, and the box of the lowest in the picture's own pixels."""

    grid: Values
    worst: Region


def map_quality(
    head: QualityHead, maps: list[Floats], working: tuple[int, int], size: tuple[int, int], gate: float
) -> LocalQuality:
    """Quality of overlapping windows of 128 pixels at working size; `size` is the picture's own (height, width)."""
    rows, columns = (max(1, side // CELL) for side in working)
    means, squares = zip(*(_cells(m, rows, columns) for m in maps), strict=True)
    statistics = [_windows(mean, square) for mean, square in zip(means, squares, strict=True)]
    flat = np.concatenate(statistics, 0)
    outputs = head.network(flat.reshape(len(flat), -1).T)
    local = (1 - gate) * head.on_scale(outputs[:, 0]) + gate * outputs[:, 1]
    grid = within_scale(local).reshape(flat.shape[1:])
    return LocalQuality(grid, _box(grid, (rows, columns), size))


def _cells(feature_map: Floats, rows: int, columns: int) -> tuple[Values, Values]:
    height, width = feature_map.shape[1:]
    top = np.linspace(0, height, rows + 1).astype(int)[:-1]
    left = np.linspace(0, width, columns + 1).astype(int)[:-1]
    counts = np.outer(np.diff([*top, height]), np.diff([*left, width]))
    sums = (np.add.reduceat(np.add.reduceat(v, top, 1), left, 2) for v in (feature_map, feature_map**2))
    mean, square = (np.asarray(s / counts, np.float64) for s in sums)
    return mean, square


def _windows(mean: Values, square: Values) -> Values:
    mean, square = _average(mean), _average(square)
    return np.concatenate([mean, np.sqrt(np.maximum(square - mean**2, 0) + 1e-6)], 0)


def _average(cells: Values) -> Values:
    for axis in (1, 2):
        if cells.shape[axis] >= WINDOW_CELLS:
            first, last = (np.delete(cells, end, axis) for end in (-1, 0))
            cells = (first + last) / 2
    return cells


def _box(grid: Values, cells: tuple[int, int], size: tuple[int, int]) -> Region:
    row, column = np.unravel_index(int(grid.argmin()), grid.shape)
    edges = []
    for place, count, length, windows in zip((row, column), cells, size, grid.shape, strict=True):
        span = count - windows + 1
        edges.append((int(place) * length // count, (int(place) + span) * length // count))
    (top, bottom), (left, right) = edges
    return Region(left=left, top=top, right=max(right, left + 1), bottom=max(bottom, top + 1))
