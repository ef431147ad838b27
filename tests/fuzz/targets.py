"""What is fuzzed: each target takes bytes and raises only if a promise is broken."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agenticiqa.config import load_settings
from agenticiqa.errors import ImageError, MissingExtraError, ToolError
from agenticiqa.images import ImageLimits, load_image
from agenticiqa.tools.catalogue import BuiltinTool, default_registry
from agenticiqa.tools.running import measure, out_of_range, prepare

# Small, so that a mutated header cannot make one case take seconds.
LIMITS = ImageLimits(max_pixels=1_000_000, max_bytes=2**20)
ROOM = 24
"""Pixels by which a side may pass a tool's least."""


def loader(data: bytes) -> None:
    """Any bytes are an image of the stated size or a typed error."""
    try:
        image = load_image(data, limits=LIMITS)
    except (ImageError, MissingExtraError):
        return
    assert image.pixels.shape == (image.height, image.width, 3)
    assert image.pixels.dtype == np.uint8
    assert image.width * image.height <= LIMITS.max_pixels


def metrics(data: bytes) -> None:
    """Any pixels give a finite value in the tool's range or a typed error, and no warning."""
    if len(data) < 4:
        return
    tools = built_in_tools()
    tool = tools[data[0] % len(tools)]
    least = max(tool.card.min_side, LIMITS.min_side)
    shape = (least + data[1] % ROOM, least + data[2] % ROOM)
    pair = [load_image(picture(data[3:], shape, turn)) for turn in (0, 1)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        prepared = prepare(tool.card, pair[0], pair[1] if tool.card.reference == "FR" else None)
        try:
            raw, _ = measure(tool, prepared)
        except ToolError:
            return
    assert np.isfinite(raw), tool.name
    assert out_of_range(tool.card, raw) is None, (tool.name, raw)


def picture(data: bytes, shape: tuple[int, int], turn: int) -> NDArray[np.uint8]:
    """A picture made of the bytes: plain, stripes, or one byte per channel, as its first byte says."""
    kind, body = data[0] % 4, np.frombuffer(data[1:] or b"\0", np.uint8)
    count = shape[0] * shape[1] * 3
    if kind == 0:
        return np.full((*shape, 3), body[turn % body.size], np.uint8)
    if kind == 1:
        row = np.resize(np.roll(body, turn), shape[1])
        return np.broadcast_to(row[None, :, None], (*shape, 3)).copy()
    if kind == 2:
        return np.where(np.resize(np.roll(body, turn), count) > 127, 255, 0).astype(np.uint8).reshape(*shape, 3)
    return np.resize(np.roll(body, turn), count).reshape(*shape, 3).astype(np.uint8)


@cache
def built_in_tools() -> list[BuiltinTool]:
    """The built-in metrics, in a fixed order."""
    settings = load_settings(
        environ={}, directory=Path("/nonexistent"), overrides={"pipeline": {"cache": {"enabled": False}}}
    )
    registry = default_registry(settings)
    found = [registry.get(name) for name in sorted(registry.names())]
    return [tool for tool in found if isinstance(tool, BuiltinTool)]


TARGETS: dict[str, Callable[[bytes], None]] = {"loader": loader, "metrics": metrics}
