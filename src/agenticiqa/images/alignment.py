"""A reference of another size, brought to the test image's."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from agenticiqa.errors import ImageAspectMismatchError
from agenticiqa.images.colour import Pixels
from agenticiqa.images.load import LoadedImage, load_image

Align = Literal["resize"]


def scaled(image: LoadedImage, size: tuple[int, int]) -> LoadedImage:
    """The image at another width and height; the change is in its notes, and its hash is that of the new pixels."""
    note = f"scaled from {image.width}×{image.height} to {size[0]}×{size[1]} to match the test image"
    changed = load_image(resized(image.pixels, *size))
    return replace(
        changed, notes=(*image.notes, note), path=image.path, frames=image.frames, transparent=image.transparent
    )


def resized(pixels: Pixels, width: int, height: int) -> Pixels:
    """The pixels at another size: averaged over areas when shrunk, cubic when enlarged."""
    import cv2

    shrinks = width * height < pixels.shape[0] * pixels.shape[1]
    rule = cv2.INTER_AREA if shrinks else cv2.INTER_CUBIC
    return np.asarray(cv2.resize(pixels, (width, height), interpolation=rule), np.uint8)


def refuse_other_shape(test: tuple[int, int], reference: tuple[int, int], name: str | None = None) -> None:
    """Raises ImageAspectMismatchError when scaling the reference to the test image's size would stretch it.

    A copy's sides are rounded to whole pixels, so that a pixel, or one percent, is no other shape.
    """
    expected = reference[1] * test[0] / reference[0]
    if abs(test[1] - expected) > max(1.0, 0.01 * expected):
        blamed = f"{name}: " if name else ""
        raise ImageAspectMismatchError(
            f"{blamed}test and reference differ in size ({test[0]}×{test[1]} and {reference[0]}×{reference[1]}), and "
            "the reference has another aspect ratio; scaling would stretch it, so crop one of them first"
        )
