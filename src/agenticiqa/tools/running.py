"""Running one tool on one image: crop, align, stay within the pixel budget and the time allowed.

A picture with more pixels than a tool may look at in one piece is shrunk, cut into tiles, or seen in parts.
"""

from __future__ import annotations

import contextvars
import math
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from agenticiqa.errors import (
    AgenticIQAError,
    ImageError,
    ImageSizeMismatchError,
    ImageTooSmallError,
    ToolError,
    ToolTimeoutError,
    ToolUnavailableError,
)
from agenticiqa.images import Align, LoadedImage
from agenticiqa.images.store import refuse_other_shape, resized
from agenticiqa.state import Region
from agenticiqa.tools.tool import Pixels, Tool, ToolCard

# Room for rounding in a metric's last digits.
_RANGE_TOLERANCE = 1e-4
# The last bits depend on how OpenCV shares sums among threads; the same image must give the same number.
_SIGNIFICANT_DIGITS = 9
_STRIP = 128


Tile = tuple[slice, slice]
Measured = tuple[float, tuple[str, ...]]
_has_room: contextvars.ContextVar[bool] = contextvars.ContextVar("has_room", default=False)


class Room:
    """So many pixels may be measured at once; tools that look at more wait for each other."""

    def __init__(self, pixels: int) -> None:
        self._pixels = pixels
        self._taken = 0
        self._freed = threading.Condition()

    @contextmanager
    def taken(self, pixels: int) -> Iterator[None]:
        """Holds room for the pixels, waited for; one that needs more than there is gets all of it."""
        if _has_room.get():
            # A tool that has another one measure something must not wait for itself.
            yield
            return
        wanted = min(pixels, self._pixels)
        with self._freed:
            self._freed.wait_for(lambda: self._taken + wanted <= self._pixels)
            self._taken += wanted
        token = _has_room.set(True)
        try:
            yield
        finally:
            _has_room.reset(token)
            with self._freed:
                self._taken -= wanted
                self._freed.notify_all()


# One for the process, as its memory is: a tool needs up to 50 bytes a pixel, and all of them together 200 MB.
_ROOM = Room(4_000_000)


@dataclass(frozen=True)
class Prepared:
    """The pixels a tool will see, and what was done to get them."""

    test: Pixels
    reference: Pixels | None
    notes: tuple[str, ...] = ()

    @property
    def identical(self) -> bool:
        """Whether there is a reference and it is the test image, pixel by pixel."""
        return self.reference is not None and same_pixels(self.test, self.reference)


def same_pixels(first: Pixels, second: Pixels) -> bool:
    """Whether two pictures are equal in every pixel; compared in strips, since most pairs differ in the first."""
    if first.shape != second.shape:
        return False
    return all(
        np.array_equal(first[top : top + _STRIP], second[top : top + _STRIP]) for top in range(0, len(first), _STRIP)
    )


def prepare(
    card: ToolCard,
    test: LoadedImage,
    reference: LoadedImage | None = None,
    region: Region | None = None,
    align: Align | None = None,
) -> Prepared:
    """The pixels for this tool, or a typed error that says why it cannot look at them."""
    notes: list[str] = []
    other = None
    if card.reference == "FR":
        if reference is None:
            raise ToolUnavailableError(
                f"{card.name} compares with a reference image and no original was given; "
                "give the original too, or choose a tool that needs none"
            )
        other = _aligned(card, test, reference, align, notes)
    pixels = _cropped(test.pixels, region, notes)
    other = None if other is None else _cropped(other, region, [])
    height, width = pixels.shape[:2]
    if min(height, width) < card.min_side:
        raise ImageTooSmallError(
            f"{card.name} needs at least {card.min_side} pixels on each side and got {width}×{height}; "
            "use a larger image or region, or another tool"
        )
    return Prepared(pixels, other, tuple(notes))


def measure(tool: Tool, prepared: Prepared, timeout: float = 60.0) -> Measured:
    """The raw value and the notes on how it came about; raises ToolError, ToolTimeoutError or ImageError."""
    with _ROOM.taken(min(prepared.test.shape[0] * prepared.test.shape[1], tool.card.max_pixels)):
        raw, notes = _within_time(tool, lambda: _measure_any_size(tool, prepared.test, prepared.reference), timeout)
    if not math.isfinite(raw):
        raise ToolError(f"{tool.name} gave {raw}, which is no score; try another tool")
    return float(f"{raw:.{_SIGNIFICANT_DIGITS}g}"), prepared.notes + notes


def out_of_range(card: ToolCard, raw: float) -> str | None:
    """A note when the raw value lies outside the tool's own range: then it must not vote."""
    low, high = card.raw_range
    if (low is not None and raw < low - _RANGE_TOLERANCE) or (high is not None and raw > high + _RANGE_TOLERANCE):
        return f"raw value {raw:g} lies outside the range of {card.name}; not calibrated"
    return None


def _aligned(
    card: ToolCard, test: LoadedImage, reference: LoadedImage, align: Align | None, notes: list[str]
) -> Pixels:
    if reference.size == test.size:
        return reference.pixels
    if align is None:
        sizes = f"the test image is {test.width}×{test.height} and the reference {reference.width}×{reference.height}"
        raise ImageSizeMismatchError(
            f"{card.name} cannot compare images of different size: {sizes}; use a reference of the same size"
        )
    refuse_other_shape(test.size, reference.size)
    notes.append(f"reference scaled from {reference.width}×{reference.height} to {test.width}×{test.height}")
    return resized(reference.pixels, test.width, test.height)


def _cropped(pixels: Pixels, region: Region | None, notes: list[str]) -> Pixels:
    if region is None:
        return pixels
    height, width = pixels.shape[:2]
    right, bottom = min(region.right, width), min(region.bottom, height)
    if right <= region.left or bottom <= region.top:
        raise ImageError(f"the region {region.model_dump()} lies outside the image of {width}×{height} pixels")
    if (right, bottom) != (region.right, region.bottom):
        notes.append(f"region cut at the image's border to {right - region.left}×{bottom - region.top} pixels")
    return np.ascontiguousarray(pixels[region.top : bottom, region.left : right])


def _within_time(tool: Tool, run: Callable[[], Measured], timeout: float) -> Measured:
    """What `run` returns; a run that takes too long is left behind in its thread, which ends with the process."""
    outcome: queue.SimpleQueue[Measured | BaseException] = queue.SimpleQueue()
    context = contextvars.copy_context()

    def work() -> None:
        try:
            outcome.put(context.run(run))
        except BaseException as error:
            outcome.put(error)

    threading.Thread(target=work, name=f"tool-{tool.name}", daemon=True).start()
    try:
        result = outcome.get(timeout=timeout)
    except queue.Empty:
        raise ToolTimeoutError(
            f"{tool.name} took longer than {timeout:g} s; raise pipeline.limits.tool_timeout or use a smaller image"
        ) from None
    if isinstance(result, AgenticIQAError):
        raise result
    if isinstance(result, MemoryError):
        raise ToolError(f"{tool.name} ran out of memory; use a smaller image or region") from result
    if isinstance(result, BaseException):
        raise ToolError(f"{tool.name} failed: {type(result).__name__}: {result}") from result
    return result


# The parts that stand for a large picture: whole blocks of coders and whole cells of natural-scene statistics.
PART_SIDE, MOST_PARTS = 576, 9
# Parts begin where a coder's blocks begin.
GRID = 16


def _measure_any_size(tool: Tool, test: Pixels, reference: Pixels | None) -> Measured:
    """The tool's raw value, and a note on how a picture of many pixels was brought within its budget."""
    card = tool.card
    height, width = test.shape[:2]
    if height * width <= card.max_pixels:
        return tool.measure(test, reference), ()
    if card.oversize == "shrink":
        return _shrunk(tool, test, reference)
    is_sampled = card.sampled_above is not None and height * width > card.sampled_above
    parts = spread_parts(height, width) if is_sampled else []
    if len(parts) > 1:
        note = f"{width}×{height} pixels: mean over {len(parts)} parts of {PART_SIDE}×{PART_SIDE}, evenly spread"
        return _mean_over(tool, test, reference, parts), (note,)
    return _tiled(tool, test, reference)


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


def _shrunk(tool: Tool, test: Pixels, reference: Pixels | None) -> Measured:
    budget, (height, width) = tool.card.max_pixels, test.shape[:2]
    factor = math.sqrt(budget / (height * width))
    size = max(1, int(width * factor)), max(1, int(height * factor))
    _require_side(tool, min(size))
    other = None if reference is None else resized(reference, *size)
    note = f"{width}×{height} pixels exceed the budget of {budget}: shrunk to {size[0]}×{size[1]} by area averaging"
    return tool.measure(resized(test, *size), other), (note,)


def _tiled(tool: Tool, test: Pixels, reference: Pixels | None) -> Measured:
    budget, (height, width) = tool.card.max_pixels, test.shape[:2]
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


def _tiles(height: int, width: int, rows: int, columns: int) -> list[Tile]:
    vertical = [round(height * step / rows) for step in range(rows + 1)]
    horizontal = [round(width * step / columns) for step in range(columns + 1)]
    return [
        (slice(vertical[row], vertical[row + 1]), slice(horizontal[column], horizontal[column + 1]))
        for row in range(rows)
        for column in range(columns)
    ]
