"""The images of one run, each opened once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from agenticiqa.config import Settings
from agenticiqa.errors import ImageSizeMismatchError, UsageError
from agenticiqa.images import ImageLimits, LoadedImage, load_image
from agenticiqa.state import AgenticIQAState
from agenticiqa.tools.pixel_budget import resized
from agenticiqa.tools.running import Align, refuse_other_shape
from agenticiqa.vlm_client.client import LabelledImage


class Pictures:
    """Opens images by path and remembers them; `add` puts in one that has no file.

    With `align="resize"` a reference of another size is scaled to the test image's, and says so in its notes.
    """

    def __init__(self, settings: Settings, align: Align | None = None) -> None:
        if align not in (None, "resize"):
            raise UsageError(f'align is "resize" or left out, not {align!r}')
        self._align = align
        limits = settings.pipeline.limits
        self.limits = ImageLimits(
            max_pixels=limits.max_pixels, max_bytes=limits.max_file_megabytes * 2**20, min_side=limits.min_side
        )
        root = settings.pipeline.allowed_root
        self._root = Path(root).expanduser() if root else None
        self._opened: dict[str, LoadedImage] = {}
        self._names: dict[str, str] = {}

    def add(self, path: str, image: LoadedImage, name: str | None = None) -> None:
        """Makes the image known under a path, and under the name that messages call it by."""
        self._opened[path] = image
        if name is not None:
            self._names[path] = name

    def called(self, path: str) -> str:
        """What messages call the image at the path."""
        return self._names.get(path, path)

    def open(self, path: str) -> LoadedImage:
        """The image at the path; raises ImageError."""
        if path not in self._opened:
            self._opened[path] = load_image(path, limits=self.limits, allowed_root=self._root)
        return self._opened[path]

    def of(self, state: AgenticIQAState) -> tuple[LabelledImage, ...]:
        """The test image and, if there is one, the reference of the same size; raises ImageError."""
        test = LabelledImage("test image", self.open(state["image_path"]))
        path = state.get("reference_path")
        if not path:
            return (test,)
        if self._align and self.open(path).size != test.image.size:
            refuse_other_shape(test.image.size, self.open(path).size)
            self._opened[path] = scaled(self.open(path), test.image.size)
        reference = self.open(path)
        if reference.size != test.image.size:
            sizes = " and ".join(f"{image.width}×{image.height}" for image in (test.image, reference))
            raise ImageSizeMismatchError(
                f"{self.called(path)}: test and reference differ in size ({sizes}); use images of the same size"
            )
        return test, LabelledImage("reference image", reference)


def scaled(image: LoadedImage, size: tuple[int, int]) -> LoadedImage:
    """The image at another width and height; the change is in its notes, and its hash is that of the new pixels."""
    note = f"scaled from {image.width}×{image.height} to {size[0]}×{size[1]} to match the test image"
    return replace(load_image(resized(image.pixels, *size)), notes=(*image.notes, note), path=image.path)
