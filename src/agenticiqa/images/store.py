"""The one door to images: limits, the allowed folder, alignment, and what each image is in a question."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from agenticiqa.errors import ImageAspectMismatchError, ImageSizeMismatchError, UsageError
from agenticiqa.images.colour import Pixels
from agenticiqa.images.files import path_below
from agenticiqa.images.load import ImageLimits, ImageSource, LoadedImage, NamedBytes, load_image

Align = Literal["resize"]
Role = Literal["image", "reference", "closeup"]
_LABELS: dict[Role, str] = {
    "image": "test image",
    "reference": "reference image",
    "closeup": "close-up of the test image",
}


@dataclass(frozen=True)
class LabelledImage:
    """An image and its role in a question: the one asked about, its reference, or a close-up of it.

    Where several images are compared, each has a number.
    """

    role: Role
    image: LoadedImage
    number: int | None = None

    @property
    def label(self) -> str:
        """The words that name it in a prompt and in records."""
        return _LABELS[self.role] if self.number is None else f"image {self.number}"


def in_role(images: Iterable[LabelledImage], role: Role) -> LoadedImage | None:
    return next((item.image for item in images if item.role == role), None)


class ImageStore:
    """Opens images by path, bytes or pixels within the limits and, where it is set, below the allowed folder.

    With `align="resize"` a reference of another size is scaled to the test image's, and says so in its notes.
    `images` remembers what it opened, so that a run opens each file once; `open` remembers nothing.
    """

    def __init__(
        self, limits: ImageLimits | None = None, allowed_root: Path | None = None, align: Align | None = None
    ) -> None:
        if align not in (None, "resize"):
            raise UsageError(f'align is "resize" or left out, not {align!r}')
        self.limits = limits or ImageLimits()
        self.allowed_root = allowed_root
        self._align = align
        self._opened: dict[str, LoadedImage] = {}
        self._names: dict[str, str] = {}

    def open(self, source: ImageSource) -> LoadedImage:
        """The image behind a path, bytes, open file, Pillow image or array; raises ImageError."""
        return load_image(source, limits=self.limits, allowed_root=self.allowed_root)

    def require_allowed(self, path: Path) -> None:
        """Raises ImageOutsideRootError when images below this path may not be read."""
        if self.allowed_root is not None:
            path_below(path, self.allowed_root)

    def place(self, source: ImageSource, role: Role = "image") -> str:
        """The path by which `images` finds the source; what has no file is opened now, and gets a made-up path."""
        if isinstance(source, str | Path):
            return str(source)
        image = self.open(source)
        path = f"memory:{role}:{image.sha256[:16]}"
        self._opened[path] = image
        what = "test" if role == "image" else role
        self._names[path] = source.name if isinstance(source, NamedBytes) else f"the given {what} image"
        return path

    def images(self, image: str, reference: str | None = None) -> tuple[LabelledImage, ...]:
        """The image at a path and its reference, at the image's size; raises ImageError."""
        test = self._known(image)
        if not reference:
            return (LabelledImage("image", test),)
        other = self._known(reference)
        if other.size != test.size:
            other = self._opened[reference] = self._aligned(test, other, self._names.get(reference, reference))
        return LabelledImage("image", test), LabelledImage("reference", other)

    def _known(self, path: str) -> LoadedImage:
        if path not in self._opened:
            self._opened[path] = self.open(path)
        return self._opened[path]

    def _aligned(self, test: LoadedImage, reference: LoadedImage, name: str) -> LoadedImage:
        refuse_other_shape(test.size, reference.size, name)
        if self._align is None:
            sizes = f"{test.width}×{test.height} and {reference.width}×{reference.height}"
            raise ImageSizeMismatchError(
                f"{name}: test and reference differ in size ({sizes}); use images of the same size"
            )
        return scaled(reference, test.size)


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
