"""What differs between two pictures the service has judged, from the previews it keeps."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from anyio.to_thread import run_sync
from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse, Response
from PIL import Image

from agenticiqa.server.openapi import problems
from agenticiqa.server.problems import Problem
from agenticiqa.server.response_models import DifferenceView
from agenticiqa.server.routes.runs import Place, RunId, Running, finished_run
from agenticiqa.server.workers.pictures import coarse, layer_view, preview_name

router = APIRouter(prefix="/v1/runs", tags=["runs"])

# The previews are shrunk once more: a map of 64 cells needs no more, and the service has to answer meanwhile.
SIDE = 640
SMALLEST = 16


@router.get(
    "/{run_id}/difference.json",
    summary="What differs between two images",
    response_model=DifferenceView,
    responses=problems(401, 404, 409, 410, 422),
)
async def read_difference(
    service: Running,
    run_id: RunId,
    n: Place = 1,
    other: Annotated[str | None, Query(max_length=64, description="another run; without it the same one")] = None,
    m: Annotated[int, Query(ge=1, le=64, description="which image of the other run")] = 1,
) -> Response:
    """Where image `m` of the other run differs from image `n` of this one; the other is scaled to its size."""
    first = await finished_run(service, run_id)
    second = first if other is None else await finished_run(service, other)
    files = (service.folder_of(first.id) / preview_name(n), service.folder_of(second.id) / preview_name(m))
    return JSONResponse(await run_sync(_difference, *files))


def _difference(first: Path, second: Path) -> dict[str, Any]:
    from agenticiqa.embedded.full_reference.difference_map import difference_map

    if not (first.is_file() and second.is_file()):
        raise Problem("no_map", "there is no picture to compare; it may have been removed")
    before, size = _pixels(first)
    after, other_size = _pixels(second, (before.shape[1], before.shape[0]))
    if min(before.shape[:2]) < SMALLEST:
        raise Problem("no_map", f"the pictures are too small to compare; {SMALLEST} pixels a side are needed")
    changed = difference_map(before, after)
    layer = layer_view("difference", coarse(changed.array), changed.legend)
    return {**layer, "mean": round(changed.mean, 4), "scaled": size != other_size}


def _pixels(file: Path, size: tuple[int, int] | None = None) -> tuple[npt.NDArray[np.uint8], tuple[int, int]]:
    """The picture at a size for comparing, and the size it was kept at."""
    with Image.open(file) as opened:
        picture = opened.convert("RGB")
    kept = picture.size
    if size is not None:
        picture = picture.resize(size)
    else:
        picture.thumbnail((SIDE, SIDE))
    return np.asarray(picture, np.uint8), kept
