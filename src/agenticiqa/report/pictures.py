"""The pictures of a report: small copies of the images, and where their quality is low."""

from __future__ import annotations

import base64
import io
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from agenticiqa.errors import AgenticIQAError
from agenticiqa.images import ImageSource, ImageStore, LoadedImage
from agenticiqa.state import Region
from agenticiqa.weights import weight_set

logger = logging.getLogger("agenticiqa.report")

# Pixels of the longest side.
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
    regions: Mapping[str, Region] | None = None,
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


def _framed(small: Image.Image, image: LoadedImage, regions: Mapping[str, Region]) -> Image.Image:
    return _overlaid(small, None, {name: shrunk(region, image, small) for name, region in regions.items()})


def quality_overlay(image: LoadedImage, terms: str) -> Image.Image:
    """The image under the map of its local quality, at its own size."""
    return _mapped(image, Image.fromarray(image.pixels), terms)


def _mapped(image: LoadedImage, small: Image.Image, terms: str) -> Image.Image:
    from agenticiqa.embedded.quality.quality_model import load_quality_model

    local = load_quality_model(weight_set(terms)).places(image)
    # Without its name: nobody could read it at this size, so the page says what the box is.
    return _overlaid(small, local.grid, {"": shrunk(local.worst, image, small)})


def _overlaid(small: Image.Image, quality: npt.NDArray[Any] | None, regions: Mapping[str, Region]) -> Image.Image:
    from agenticiqa.embedded.overlay import draw_overlay

    grid = None if quality is None else quality.astype(np.float32)
    return Image.open(io.BytesIO(draw_overlay(np.asarray(small), grid, regions))).convert("RGB")


def shrunk(region: Region, image: LoadedImage, small: Image.Image) -> Region:
    """The region of an image on a smaller copy, at least one pixel wide and high."""
    across, down = small.width / image.width, small.height / image.height
    left, top = int(region.left * across), int(region.top * down)
    right, bottom = round(region.right * across), round(region.bottom * down)
    return Region(left=left, top=top, right=max(right, left + 1), bottom=max(bottom, top + 1))


def data_url(picture: Image.Image) -> str:
    stream = io.BytesIO()
    picture.convert("RGB").save(stream, "JPEG", quality=JPEG_QUALITY)
    return "data:image/jpeg;base64," + base64.b64encode(stream.getvalue()).decode()
