"""Pictures with more pixels than a tool may look at in one piece: shrunk, cut into tiles, or seen in parts."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from agenticiqa.errors import ImageTooSmallError
from agenticiqa.images.store import resized
from agenticiqa.tools.tool import Pixels, Tool

Tile = tuple[slice, slice]
Measured = tuple[float, tuple[str, ...]]
# The parts that stand for a large picture: whole blocks of coders and whole cells of natural-scene statistics.
PART_SIDE, MOST_PARTS = 576, 9
# Parts begin where a coder's blocks begin.
GRID = 16


def measure_within(tool: Tool, test: Pixels, reference: Pixels | None, budget: int | None = None) -> Measured:
    """The tool's raw value of a picture of any size, and a note on how it was brought within the budget."""
    card = tool.card
    allowed = min(card.max_pixels, budget or card.max_pixels)
    height, width = test.shape[:2]
    if height * width <= allowed:
        return tool.measure(test, reference), ()
    if card.oversize == "shrink":
        return _shrunk(tool, test, reference, allowed)
    if card.sampled_above is not None and height * width > card.sampled_above and allowed >= PART_SIDE**2:
        parts = spread_parts(height, width)
        if len(parts) > 1:
            note = f"{width}×{height} pixels: mean over {len(parts)} parts of {PART_SIDE}×{PART_SIDE}, evenly spread"
            return _mean_over(tool, test, reference, parts), (note,)
    return _tiled(tool, test, reference, allowed)


def spread_parts(height: int, width: int) -> list[Tile]:
    """At most nine square parts in even rows and columns, as many of each as the picture's shape suggests."""
    rows = max(1, min(MOST_PARTS, round(math.sqrt(MOST_PARTS * height / width)), height // PART_SIDE))
    columns = min(MOST_PARTS // rows, width // PART_SIDE)
    if height < PART_SIDE or columns < 1:
        return []
    tops, lefts = _starts(height, rows), _starts(width, columns)
    return [(slice(top, top + PART_SIDE), slice(left, left + PART_SIDE)) for top in tops for left in lefts]


def _starts(length: int, count: int) -> list[int]:
    room = length - PART_SIDE
    if count == 1:
        return [room // 2 // GRID * GRID]
    return [room * number // (count - 1) // GRID * GRID for number in range(count)]


def _shrunk(tool: Tool, test: Pixels, reference: Pixels | None, budget: int) -> Measured:
    height, width = test.shape[:2]
    factor = math.sqrt(budget / (height * width))
    size = max(1, int(width * factor)), max(1, int(height * factor))
    _require_side(tool, min(size))
    other = None if reference is None else resized(reference, *size)
    note = f"{width}×{height} pixels exceed the budget of {budget}: shrunk to {size[0]}×{size[1]} by area averaging"
    return tool.measure(resized(test, *size), other), (note,)


def _tiled(tool: Tool, test: Pixels, reference: Pixels | None, budget: int) -> Measured:
    height, width = test.shape[:2]
    rows, columns = _grid(height, width, budget)
    _require_side(tool, min(height // rows, width // columns))
    note = (
        f"{width}×{height} pixels exceed the budget of {budget}: "
        f"mean over {columns}×{rows} tiles, weighted by their area"
    )
    return _mean_over(tool, test, reference, _tiles(height, width, rows, columns)), (note,)


def _mean_over(tool: Tool, test: Pixels, reference: Pixels | None, tiles: Sequence[Tile]) -> float:
    """The mean of the tool's values of the tiles, each counting by its area."""
    total, area = 0.0, 0
    for tile in tiles:
        other = None if reference is None else np.ascontiguousarray(reference[tile])
        pixels = np.ascontiguousarray(test[tile])
        size = pixels.shape[0] * pixels.shape[1]
        total += tool.measure(pixels, other) * size
        area += size
    return total / area


def _require_side(tool: Tool, side: int) -> None:
    if side < tool.card.min_side:
        raise ImageTooSmallError(
            f"{tool.name} cannot cut this image to its pixel budget: a side would have {side} pixels "
            f"and it needs {tool.card.min_side}; crop the image"
        )


def _grid(height: int, width: int, budget: int) -> tuple[int, int]:
    """The fewest rows and columns whose tiles fit the budget; the longer side of a tile is cut first."""
    rows = columns = 1
    while math.ceil(height / rows) * math.ceil(width / columns) > budget:
        if height / rows >= width / columns:
            rows += 1
        else:
            columns += 1
    return rows, columns


def _tiles(height: int, width: int, rows: int, columns: int) -> list[tuple[slice, slice]]:
    vertical = [round(height * step / rows) for step in range(rows + 1)]
    horizontal = [round(width * step / columns) for step in range(columns + 1)]
    return [
        (slice(vertical[row], vertical[row + 1]), slice(horizontal[column], horizontal[column + 1]))
        for row in range(rows)
        for column in range(columns)
    ]
