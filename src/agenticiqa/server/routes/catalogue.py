"""What there is to use: the tools, and images to try."""

from __future__ import annotations

from typing import Annotated

from anyio.to_thread import run_sync
from fastapi import APIRouter, Path
from fastapi.responses import FileResponse

from agenticiqa.parts import tools_for
from agenticiqa.server.examples import CREDITS, EXHIBITS, Exhibit, reference_name
from agenticiqa.server.openapi import problems
from agenticiqa.server.problems import Problem
from agenticiqa.server.response_models import Example, ExamplesView, ToolsView
from agenticiqa.server.routes.runs import Running
from agenticiqa.server.service import Service
from agenticiqa.tools.catalogue import describe_tools

router = APIRouter(prefix="/v1", tags=["catalogue"])


@router.get("/tools", summary="List the measuring tools", responses=problems(401))
async def list_tools(service: Running) -> ToolsView:
    """The IQA tools with availability, direction, range, licence and strengths."""
    return await run_sync(_tools, service)


@router.get("/examples", summary="List images to try", responses=problems(401))
async def list_examples() -> ExamplesView:
    """Images to try at once."""
    return ExamplesView(examples=[_example(exhibit) for exhibit in EXHIBITS])


@router.get(
    "/examples/{name}",
    summary="An image to try",
    response_class=FileResponse,
    responses={
        200: {"content": {"image/png": {"schema": {"type": "string", "format": "binary"}}}},
        **problems(401, 404, 422),
    },
)
async def read_example(
    service: Running, name: Annotated[str, Path(pattern="^[a-z-]{1,40}\\.png$", examples=["blurred.png"])]
) -> FileResponse:
    """One of these images."""
    file = await run_sync(service.gallery.file, name)
    if file is None:
        raise Problem("not_found", "there is no such example")
    return FileResponse(file, media_type="image/png", headers={"Cache-Control": "private, max-age=86400"})


def _tools(service: Service) -> ToolsView:
    return ToolsView.model_validate({"tools": describe_tools(tools_for(service.settings))})


def _example(exhibit: Exhibit) -> Example:
    original = reference_name(exhibit)
    credit, licence = CREDITS[exhibit.photograph]
    return Example(
        id=exhibit.id,
        title=exhibit.title,
        question=exhibit.question,
        image_url=f"/v1/examples/{exhibit.id}.png",
        reference_url=f"/v1/examples/{original}" if original else None,
        file_name=f"{exhibit.id}.png",
        credit=credit,
        licence=licence,
    )
