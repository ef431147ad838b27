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

SIDE = 1600
THUMBNAIL = 360
LAYER_SIDE = 64
# The previews are shrunk once more: a map of 64 cells needs no more, and the service has to answer meanwhile.
COMPARED_SIDE = 640
SMALLEST_COMPARED = 16
# For eyes only; no tool ever measures these pictures.
QUALITY = 88


def preview_name(place: int) -> str:
    """The file of the preview of that image."""
    return f"image-{place}.webp"


def map_name(place: int) -> str:
    """The file of the quality map of that image."""
    return f"map-{place}.png"


def draw_pictures(source: Path, place: int, settings: Settings, reference: Path | None = None) -> dict[str, Any] | None:
    """Writes preview and quality map beside the image and returns the maps' numbers; None where there is no map.

    With a reference of the same size the layers begin with what differs from it.
    """
    image = _load(source, settings)
    small = _preview(image)
    small.save(preview_name(place), "WEBP", quality=QUALITY)
    try:
        found = _draw_map(image, small, Path(map_name(place)), settings.pipeline.terms)
        against = None if reference is None else _load(reference, settings)
        return {**found, "layers": _layers(image, against, settings.pipeline.terms)}
    except AgenticIQAError as error:
        logger.warning("no quality map: %s", error)
        return None


def draw_preview(source: Path, target: Path, settings: Settings) -> None:
    """Writes a copy that any browser can show."""
    _preview(_load(source, settings)).save(target, "WEBP", quality=QUALITY)


def stored_picture(preview: Path, quality_map: Path) -> Picture:
    """The pictures of a report from the files that were drawn."""
    if not preview.is_file():
        return Picture(None, None, "the picture is no longer kept")
    return Picture(_thumbnail(preview), _thumbnail(quality_map) if quality_map.is_file() else None)


def _load(source: Path, settings: Settings) -> LoadedImage:
    return settings.image_store().open(source)


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
    across, down = small.width / image.width, small.height / image.height
    target.write_bytes(draw_overlay(np.asarray(small), grid.astype(np.float32), {"worst": shrunk(worst, across, down)}))
    return {
        "rows": grid.shape[0],
        "columns": grid.shape[1],
        "grid": [[round(float(value), 3) for value in row] for row in grid],
        "worst": worst.model_dump(),
        "width": image.width,
        "height": image.height,
    }


def _layers(image: LoadedImage, reference: LoadedImage | None, terms: str) -> list[dict[str, Any]]:
    """A coarse map per flaw as it was found, each value from 0 (none) to 1 (extreme), and how to read it."""
    from agenticiqa.embedded.distortions.distortion_detector import map_flaws
    from agenticiqa.embedded.full_reference.difference_map import LEGEND, visible_loss

    found: list[tuple[str, npt.NDArray[np.float32], str]] = [
        (name, array, "how strong it is found to be in this part: 0 not at all, 1 extreme")
        for name, array in map_flaws(image.pixels, weight_set(terms)).items()
    ]
    if reference is not None and reference.pixels.shape == image.pixels.shape:
        found.insert(0, ("difference", coarse(visible_loss(image.pixels, reference.pixels)), LEGEND))
    return [layer_view(name, array, legend) for name, array, legend in found]


def layer_view(name: str, array: npt.NDArray[np.float32], legend: str) -> dict[str, Any]:
    """A grid of shares as JSON values, with how to read it."""
    return {
        "name": name,
        "legend": legend,
        "rows": array.shape[0],
        "columns": array.shape[1],
        "grid": [[round(float(value), 2) for value in row] for row in array],
    }


def coarse(plane: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
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
    layer = layer_view("difference", coarse(changed), LEGEND)
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
