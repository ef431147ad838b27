"""Folders on the service's machine: which may be read, and the pictures in one of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated

from anyio.to_thread import run_sync
from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse, Response

from agenticiqa.batch.manifest import IMAGE_SUFFIXES
from agenticiqa.server.display_names import display_name
from agenticiqa.server.openapi import problems
from agenticiqa.server.problems import Problem
from agenticiqa.server.response_models import FolderFiles, FoldersView
from agenticiqa.server.routes.runs import Running, require_listing
from agenticiqa.server.service import Service

router = APIRouter(prefix="/v1/folders", tags=["folders"])

MOST_FILES = 1000


@router.get("", summary="List the folders that may be read", responses=problems(401, 403), response_model=FoldersView)
async def list_folders(service: Running) -> Response:
    """The folders whose files may be named by path; empty unless the service was started with --allow-folder."""
    require_listing(service)
    return JSONResponse({"folders": [str(folder) for folder in service.options.allow_folders]})


@router.get(
    "/files",
    summary="List the pictures of a folder",
    responses=problems(401, 403, 404, 422),
    response_model=FolderFiles,
)
async def list_files(
    service: Running,
    path: Annotated[str, Query(max_length=4096, description="an allowed folder, or one below it", examples=["."])],
) -> Response:
    """The pictures of a folder and of those below it, by name, as paths that `path` and `paths` take."""
    require_listing(service)
    return JSONResponse(await run_sync(_files, service, path))


def _files(service: Service, path: str) -> dict[str, object]:
    files, there_are_more = pictures_of(service, path, MOST_FILES)
    return {"files": files, "more": there_are_more}


def pictures_of(service: Service, path: str, most: int) -> tuple[list[str], bool]:
    """The first pictures of an allowed folder, as whole paths, and whether there are more; raises Problem."""
    folder, root = service.require_allowed(path)
    # A name too long for any folder is none, and no failure.
    if not os.path.isdir(folder):
        raise Problem("path_not_found", f"{display_name(path)}: no such folder")
    found = list(islice(_pictures_below(folder, root.resolve()), most + 1))
    return found[:most], len(found) > most


def _pictures_below(folder: Path, root: Path) -> Iterator[str]:
    """Every picture by its whole path, folder by folder in the order of names; links that lead out are left out."""
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            file = Path(parent) / name
            shown = file.suffix.lower() in IMAGE_SUFFIXES and not name.startswith(".")
            if shown and file.resolve().is_relative_to(root):
                yield str(file)
