"""What there is: tools, images to try, folders that may be read, limits, and how the service is."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Iterator
from importlib.metadata import version
from itertools import islice
from typing import Annotated, get_args

from anyio.to_thread import run_sync
from fastapi import APIRouter, Path, Query
from fastapi.responses import FileResponse, Response

from agenticiqa.batch.manifest import IMAGE_SUFFIXES
from agenticiqa.images.containers import MEDIA_TYPES
from agenticiqa.images.load import ImageLimits, limits_by_format
from agenticiqa.parts import tools_for
from agenticiqa.server.display_names import display_name
from agenticiqa.server.examples import CREDITS, EXHIBITS
from agenticiqa.server.openapi import file_answer, problems
from agenticiqa.server.problems import Problem
from agenticiqa.server.response_models import (
    Example,
    ExamplesView,
    FolderFiles,
    FoldersView,
    HealthStatus,
    HealthView,
    LimitsView,
    LiveView,
    ToolsView,
)
from agenticiqa.server.routes.runs import Running, require_listing
from agenticiqa.server.service import Service
from agenticiqa.server.service_options import MEGABYTE
from agenticiqa.server.uploads import FORM_PARTS
from agenticiqa.tools.catalogue import describe_tools
from agenticiqa.values import Language

router = APIRouter(tags=["service"])

MOST_FILES = 1000


@router.get("/v1/tools", summary="List the measuring tools", responses=problems(401))
async def list_tools(service: Running) -> ToolsView:
    """The IQA tools with availability, direction, range, licence and strengths."""
    return ToolsView(tools=await run_sync(lambda: describe_tools(tools_for(service.settings))))


@router.get("/v1/examples", summary="List images to try", responses=problems(401))
async def list_examples() -> ExamplesView:
    """Images to try at once."""
    found = []
    for exhibit in EXHIBITS:
        credit, licence = CREDITS[exhibit.photograph]
        file = f"{exhibit.id}.png"
        found.append(
            Example(
                id=exhibit.id,
                title=exhibit.title,
                question=exhibit.question,
                image_url=f"/v1/examples/{file}",
                reference_url=f"/v1/examples/{exhibit.original}" if exhibit.original else None,
                file_name=file,
                credit=credit,
                licence=licence,
            )
        )
    return ExamplesView(examples=found)


@router.get(
    "/v1/examples/{name}",
    summary="An image to try",
    response_class=FileResponse,
    responses=file_answer("image/png") | problems(401, 404, 422),
)
async def read_example(
    service: Running, name: Annotated[str, Path(pattern="^[a-z-]{1,40}\\.png$", examples=["blurred.png"])]
) -> FileResponse:
    """One of these images."""
    file = await run_sync(service.gallery.file, name)
    if file is None:
        raise Problem("not_found", "there is no such example")
    return FileResponse(file, media_type="image/png", headers={"Cache-Control": "private, max-age=86400"})


@router.get("/v1/folders", summary="List the folders that may be read", responses=problems(401, 403))
async def list_folders(service: Running) -> FoldersView:
    """The folders whose files may be named by path; empty unless the service was started with --allow-folder."""
    require_listing(service)
    return FoldersView(folders=[str(folder) for folder in service.options.allow_folders])


@router.get("/v1/folders/files", summary="List the pictures of a folder", responses=problems(401, 403, 404, 422))
async def list_files(
    service: Running,
    path: Annotated[str, Query(max_length=4096, description="an allowed folder, or one below it", examples=["."])],
) -> FolderFiles:
    """The pictures of a folder and of those below it, by name, as paths that `path` and `paths` take."""
    require_listing(service)
    found, there_are_more = await run_sync(pictures_of, service, path, MOST_FILES)
    return FolderFiles(files=found, more=there_are_more)


def pictures_of(service: Service, path: str, most: int) -> tuple[list[str], bool]:
    """The first pictures of an allowed folder, as whole paths, and whether there are more; raises Problem."""
    folder, root = service.require_allowed(path)
    # A name too long for any folder is none, and no failure.
    if not os.path.isdir(folder):
        raise Problem("path_not_found", f"{display_name(path)}: no such folder")
    found = list(islice(_pictures_below(folder, root.resolve()), most + 1))
    return found[:most], len(found) > most


def _pictures_below(folder: pathlib.Path, root: pathlib.Path) -> Iterator[str]:
    """Every picture by its whole path, folder by folder in the order of names; links that lead out are left out."""
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            file = pathlib.Path(parent) / name
            shown = file.suffix.lower() in IMAGE_SUFFIXES and not name.startswith(".")
            if shown and file.resolve().is_relative_to(root):
                yield str(file)


@router.get("/v1/limits", summary="What the service accepts", responses=problems(401))
async def read_limits(service: Running) -> LimitsView:
    """What the service accepts."""
    options, bounds = service.options, service.settings.pipeline.limits
    return LimitsView(
        max_request_bytes=options.max_request_megabytes * MEGABYTE,
        max_pixels=bounds.max_pixels,
        max_images=options.max_images,
        max_pixels_by_format=limits_by_format(bounds.max_pixels),
        max_aspect_ratio=ImageLimits().max_ratio,
        max_job_items=options.max_job_items,
        max_job_uploads=min(options.max_job_items, FORM_PARTS),
        max_job_paths=min(options.max_job_items, FORM_PARTS),
        max_jobs=options.max_jobs,
        requests_per_minute=options.requests_per_minute or None,
        max_query_characters=bounds.max_query_characters,
        queue=options.queue,
        time_limit_seconds=options.time_limit,
        token_required=options.token is not None,
        formats=list(MEDIA_TYPES),
        languages=list(get_args(Language)),
    )


@router.get(
    "/metrics",
    summary="Counters for Prometheus",
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}, **problems(401)},
    response_class=Response,
)
def read_metrics(service: Running) -> Response:
    """Counters for Prometheus."""
    return Response(service.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


@router.get("/v1/health/live", summary="Is the process alive?")
async def read_live() -> LiveView:
    """The process answers."""
    return LiveView()


@router.get("/v1/health", summary="How the service is")
async def read_health(service: Running) -> HealthView:
    """How the service is."""
    # Nothing here may wait: an overloaded service still has to say how it is.
    ready_workers, moved_aside = service.pool.ready, service.store.moved_aside
    status: HealthStatus = "ready" if ready_workers else "starting"
    if service.store.is_damaged:
        status = "damaged"
    if service.stopping.is_set():
        status = "stopping"
    return HealthView(
        status=status,
        version=version("agenticiqa"),
        workers=service.options.workers,
        workers_ready=ready_workers,
        running=service.pool.busy,
        moved_aside=None if moved_aside is None else moved_aside.name,
    )


@router.get("/v1/health/ready", summary="Can it take work?", responses={503: {"model": HealthView}})
async def read_ready(service: Running, response: Response) -> HealthView:
    """200 when runs are taken and kept and at least one worker has its models loaded, 503 otherwise."""
    found = await read_health(service)
    response.status_code = 200 if found.status == "ready" else 503
    return found
