"""Running one tool on one image: crop, align, stay within the pixel budget and the time allowed."""

from __future__ import annotations

import contextvars
import math
import queue
import threading
from collections.abc import Callable, Iterator
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
from agenticiqa.tools.pixel_budget import measure_within
from agenticiqa.tools.tool import Pixels, Tool, ToolCard

# Room for rounding in a metric's last digits.
_RANGE_TOLERANCE = 1e-4
# The last bits depend on how OpenCV shares sums among threads; the same image must give the same number.
_SIGNIFICANT_DIGITS = 9
_STRIP = 128


_has_room: contextvars.ContextVar[bool] = contextvars.ContextVar("has_room", default=False)


class Room:
    """So many pixels may be measured at once; tools that look at more wait for each other."""

    def __init__(self, pixels: int) -> None:
        self._pixels = pixels
        self._taken = 0
        self._news = threading.Condition()

    @contextmanager
    def taken(self, pixels: int) -> Iterator[None]:
        """Holds room for the pixels, waited for; one that needs more than there is gets all of it."""
        if _has_room.get():
            # A tool that has another one measure something must not wait for itself.
            yield
            return
        wanted = min(pixels, self._pixels)
        with self._news:
            self._news.wait_for(lambda: self._taken + wanted <= self._pixels)
            self._taken += wanted
        token = _has_room.set(True)
        try:
            yield
        finally:
            _has_room.reset(token)
            with self._news:
                self._taken -= wanted
                self._news.notify_all()


# One for the process, as its memory is: a tool needs up to 50 bytes a pixel, and all of them together 200 MB.
_ROOM = Room(4_000_000)


@dataclass(frozen=True)
class ToolLimits:
    """How long a tool may take and how many pixels it may see at once; None leaves that to its card."""

    timeout: float = 60.0
    max_pixels: int | None = None


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


def measure(tool: Tool, prepared: Prepared, limits: ToolLimits) -> tuple[float, tuple[str, ...]]:
    """The raw value and the notes on how it came about; raises ToolError, ToolTimeoutError or ImageError."""
    with _ROOM.taken(min(prepared.test.shape[0] * prepared.test.shape[1], tool.card.max_pixels)):
        raw, notes = _within_time(
            tool, lambda: measure_within(tool, prepared.test, prepared.reference, limits.max_pixels), limits.timeout
        )
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


def _within_time(
    tool: Tool, run: Callable[[], tuple[float, tuple[str, ...]]], timeout: float
) -> tuple[float, tuple[str, ...]]:
    """What `run` returns; a run that takes too long is left behind in its thread, which ends with the process."""
    outcome: queue.SimpleQueue[tuple[float, tuple[str, ...]] | BaseException] = queue.SimpleQueue()
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
    if isinstance(result, Exception):
        raise ToolError(f"{tool.name} failed: {type(result).__name__}: {result}") from result
    if isinstance(result, BaseException):
        raise result
    return result
