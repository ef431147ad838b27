"""The pictures of a report: small copies of the images, and where their quality is low."""

from __future__ import annotations

import base64
import io
import logging
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from PIL import Image

from agenticiqa.errors import AgenticIQAError
from agenticiqa.images import ImageSource, ImageStore, LoadedImage
from agenticiqa.state import Region
from agenticiqa.weights import weight_set

logger = logging.getLogger("agenticiqa.report")

SIDE = 360
# Pictures for people to glance at; no tool ever measures them.
JPEG_QUALITY = 82


@dataclass(frozen=True)
class Picture:
    """A small copy of an image, and one under its quality map, as data URLs; a missing one says why in `note`."""

    thumbnail: str | None
    quality_map: str | None
    note: str | None = None


def picture_of(
    source: ImageSource,
    terms: str = "research",
    with_map: bool = True,
    regions: Mapping[str, tuple[int, int, int, int]] | None = None,
    store: ImageStore | None = None,
) -> Picture:
    """The pictures of an image, the small copy with its regions framed; what cannot be drawn is left out, and why."""
    try:
        image = (store or ImageStore()).open(source)
    except AgenticIQAError as error:
        return Picture(None, None, str(error))
    small = _small(image)
    thumbnail = data_url(_framed(small, image, regions) if regions else small)
    if not with_map:
        return Picture(thumbnail, None)
    try:
        return Picture(thumbnail, data_url(_mapped(image, small, terms)))
    except AgenticIQAError as error:
        logger.warning("no quality map: %s", error)
        return Picture(thumbnail, None, f"no quality map: {error}")


def _small(image: LoadedImage) -> Image.Image:
    small = Image.fromarray(image.pixels)
    small.thumbnail((SIDE, SIDE))
    return small


def _framed(small: Image.Image, image: LoadedImage, boxes: Mapping[str, tuple[int, int, int, int]]) -> Image.Image:
    from agenticiqa.embedded.overlay import draw_overlay

    across, down = small.width / image.width, small.height / image.height
    regions = {
        name: shrunk(Region(left=left, top=top, right=right, bottom=bottom), across, down)
        for name, (left, top, right, bottom) in boxes.items()
    }
    return Image.open(io.BytesIO(draw_overlay(np.asarray(small), None, regions))).convert("RGB")


def quality_overlay(image: LoadedImage, terms: str) -> Image.Image:
    """The image under the map of its local quality, at its own size."""
    return _mapped(image, Image.fromarray(image.pixels), terms)


def _mapped(image: LoadedImage, small: Image.Image, terms: str) -> Image.Image:
    from agenticiqa.embedded.overlay import draw_overlay
    from agenticiqa.embedded.quality.quality_model import load_quality_model

    local = load_quality_model(weight_set(terms)).places(image)
    worst = shrunk(local.worst, small.width / image.width, small.height / image.height)
    grid = local.grid.astype(np.float32)
    # Without its name: nobody could read it at this size, so the page says what the box is.
    return Image.open(io.BytesIO(draw_overlay(np.asarray(small), grid, {"": worst})))


def shrunk(region: Region, across: float, down: float) -> Region:
    """The region on a smaller copy, at least one pixel wide and high."""
    left, top = int(region.left * across), int(region.top * down)
    right, bottom = round(region.right * across), round(region.bottom * down)
    return Region(left=left, top=top, right=max(right, left + 1), bottom=max(bottom, top + 1))


def data_url(picture: Image.Image) -> str:
    """The picture as a JPEG that a page can carry."""
    stream = io.BytesIO()
    picture.convert("RGB").save(stream, "JPEG", quality=JPEG_QUALITY)
    return "data:image/jpeg;base64," + base64.b64encode(stream.getvalue()).decode()
