"""Pictures of a run for people to look at: a preview any browser shows, and where the quality is low."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
from PIL import Image

from agenticiqa.config import Settings
from agenticiqa.errors import AgenticIQAError
from agenticiqa.images import LoadedImage
from agenticiqa.report.pictures import Picture, data_url, shrunk
from agenticiqa.server.problems import Problem
from agenticiqa.weights import weight_set

logger = logging.getLogger("agenticiqa.server.pictures")

Floats = npt.NDArray[np.float32]

# All in pixels: the longest side of a preview, of a picture in a report, of a layer's grid, and of previews that are
# compared, which are shrunk once more because the service has to answer meanwhile; and the smallest that can be.
SIDE = 1600
THUMBNAIL = 360
LAYER_SIDE = 64
COMPARED_SIDE = 640
SMALLEST_COMPARED = 16
# For people only; no tool ever measures these pictures.
QUALITY = 88


def preview_name(place: int) -> str:
    return f"image-{place}.webp"


def map_name(place: int) -> str:
    return f"map-{place}.png"


def draw_pictures(source: Path, place: int, settings: Settings, reference: Path | None = None) -> dict[str, Any] | None:
    """Writes preview and quality map beside the image and returns the maps' numbers; None where there is no map.

    With a reference of the same size the layers begin with what differs from it.
    """
    terms = settings.pipeline.terms
    image = settings.image_store().open(source)
    small = _preview(image)
    small.save(preview_name(place), "WEBP", quality=QUALITY)
    try:
        found = _draw_map(image, small, Path(map_name(place)), terms)
        against = None if reference is None else settings.image_store().open(reference)
        return {**found, "layers": _layers(image, against, terms)}
    except AgenticIQAError as error:
        logger.warning("no quality map: %s", error)
        return None


def draw_preview(source: Path, target: Path, settings: Settings) -> None:
    _preview(settings.image_store().open(source)).save(target, "WEBP", quality=QUALITY)


def stored_picture(folder: Path, place: int) -> Picture:
    """The pictures of a report from the files that were drawn."""
    preview, quality_map = folder / preview_name(place), folder / map_name(place)
    if not preview.is_file():
        return Picture(None, None, "the picture is no longer kept")
    return Picture(_thumbnail(preview), _thumbnail(quality_map) if quality_map.is_file() else None)


def _preview(image: LoadedImage) -> Image.Image:
    factor = min(1.0, SIDE / max(image.size))
    if factor == 1.0:
        return Image.fromarray(image.pixels)
    # Shrunk before Pillow has it, which would copy a large picture to four bytes a pixel.
    size = (max(1, round(image.width * factor)), max(1, round(image.height * factor)))
    return Image.fromarray(cv2.resize(image.pixels, size, interpolation=cv2.INTER_AREA))


def _draw_map(image: LoadedImage, small: Image.Image, target: Path, terms: str) -> dict[str, Any]:
    from agenticiqa.embedded.overlay import draw_overlay
    from agenticiqa.embedded.quality.quality_model import load_quality_model

    local = load_quality_model(weight_set(terms)).places(image)
    grid, worst = local.grid, local.worst
    target.write_bytes(draw_overlay(np.asarray(small), grid.astype(np.float32), {"worst": shrunk(worst, image, small)}))
    return {**_grid(grid, 3), "worst": worst.model_dump(), "width": image.width, "height": image.height}


def _layers(image: LoadedImage, reference: LoadedImage | None, terms: str) -> list[dict[str, Any]]:
    """A coarse map per flaw as it was found, each value from 0 (none) to 1 (extreme), and how to read it."""
    from agenticiqa.embedded.distortions.distortion_detector import map_flaws
    from agenticiqa.embedded.full_reference.difference_map import LEGEND, visible_loss

    legend = "how strong it is found to be in this part: 0 not at all, 1 extreme"
    flaws = map_flaws(image.pixels, weight_set(terms))
    found = [_layer(name, array, legend) for name, array in flaws.items()]
    if reference is not None and reference.pixels.shape == image.pixels.shape:
        found.insert(0, _layer("difference", _coarse(visible_loss(image.pixels, reference.pixels)), LEGEND))
    return found


def _layer(name: str, array: Floats, legend: str) -> dict[str, Any]:
    """A grid of shares as JSON values, with how to read it."""
    return {"name": name, "legend": legend, **_grid(array, 2)}


def _grid(array: npt.NDArray[np.floating], digits: int) -> dict[str, Any]:
    rows, columns = array.shape
    return {"rows": rows, "columns": columns, "grid": [[round(float(value), digits) for value in row] for row in array]}


def _coarse(plane: Floats) -> Floats:
    """The plane on a grid of so few cells that a page can carry it."""
    scale = min(1.0, LAYER_SIDE / max(plane.shape))
    size = (max(1, round(plane.shape[1] * scale)), max(1, round(plane.shape[0] * scale)))
    return np.asarray(cv2.resize(plane, size, interpolation=cv2.INTER_AREA), np.float32)


def _thumbnail(path: Path) -> str:
    with Image.open(path) as picture:
        small = picture.convert("RGB")
    small.thumbnail((THUMBNAIL, THUMBNAIL))
    return data_url(small)


def difference_view(first: Path, second: Path) -> dict[str, Any]:
    """What differs between two previews, the second scaled to the first; raises Problem `no_map`."""
    from agenticiqa.embedded.full_reference.difference_map import LEGEND, difference_map

    if not (first.is_file() and second.is_file()):
        raise Problem("no_map", "there is no picture to compare; it may have been removed")
    before, size = _pixels(first)
    after, other_size = _pixels(second, (before.shape[1], before.shape[0]))
    if min(before.shape[:2]) < SMALLEST_COMPARED:
        raise Problem("no_map", f"the pictures are too small to compare; {SMALLEST_COMPARED} pixels a side are needed")
    changed = difference_map(before, after)
    layer = _layer("difference", _coarse(changed), LEGEND)
    return {**layer, "mean": round(float(changed.mean()), 4), "scaled": size != other_size}


def _pixels(file: Path, size: tuple[int, int] | None = None) -> tuple[npt.NDArray[np.uint8], tuple[int, int]]:
    """The picture at a size for comparing, and the size it was kept at."""
    with Image.open(file) as opened:
        picture = opened.convert("RGB")
    kept = picture.size
    if size is not None:
        picture = picture.resize(size)
    else:
        picture.thumbnail((COMPARED_SIDE, COMPARED_SIDE))
    return np.asarray(picture, np.uint8), kept
