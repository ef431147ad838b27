"""Runs: listing, following and cancelling them, and everything that was drawn from one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from pathlib import PurePath
from typing import Annotated, Any, TypeVar

from anyio.to_thread import run_sync
from fastapi import APIRouter, Depends, Header, Path, Query, Request
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse, Response, StreamingResponse

from agenticiqa.encode import SUFFIXES, Format
from agenticiqa.report.page import page_of
from agenticiqa.server.guards import REPORT_POLICY
from agenticiqa.server.openapi import file_answer, problems
from agenticiqa.server.problems import Problem
from agenticiqa.server.response_models import DifferenceView, MapView, RunsPage, RunView, run_summary, run_view
from agenticiqa.server.service import Service
from agenticiqa.server.storage.database import Job, Run, Status
from agenticiqa.server.workers.pictures import difference_view, map_name, preview_name, stored_picture
from agenticiqa.server.workers.worker import COPY

router = APIRouter(prefix="/v1/runs", tags=["runs"])

RunId = Annotated[str, Path(examples=["5f0c1f0e9d7b4a6c8e21a0b3"])]
OnePlace = Annotated[int | None, Query(ge=1, le=64, description="which image of a comparison; without it all")]
Place = Annotated[int, Query(ge=1, le=64, description="which image of a comparison, counted from 1")]
PageSize = Annotated[int, Query(ge=1, le=500, description="so many at most")]
Before = Annotated[int | None, Query(ge=1, le=2**53, description="where the page before ended; `next` has it")]
Remove = Annotated[bool, Query(description="remove it with its results, instead of only cancelling it")]
# Seconds after which a line without news keeps proxies from closing a stream of events.
HEARTBEAT = 10.0
COPY_TYPES: dict[Format, str] = {"webp": "image/webp", "avif": "image/avif", "jpeg": "image/jpeg"}
OF_A_RUN = problems(401, 404, 410, 422)
OF_A_RESULT = problems(401, 404, 409, 410, 422)
PAGE: dict[str, Any] = {"response_class": HTMLResponse, "responses": OF_A_RESULT}


def file_route(*media_types: str) -> dict[str, Any]:
    """What the document says of a route whose answer is a file of a run."""
    return {"response_class": FileResponse, "responses": file_answer(*media_types) | OF_A_RESULT}


def service_of(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


Running = Annotated[Service, Depends(service_of)]
_Found = TypeVar("_Found", Run, Job)


def require_there(service: Service, name: str, found: _Found | None) -> _Found:
    """The run or job; raises Problem `gone` with the reason for one that was removed, else `not_found`."""
    if found is not None:
        return found
    reason = service.store.why_gone(name)
    if reason is not None:
        raise Problem("gone", f"it is no longer here: {reason}")
    raise Problem("not_found", "there is no such run or job")


def require_listing(service: Service) -> None:
    """Raises Problem where strangers without a token would see each other's names."""
    if not service.options.may_list:
        raise Problem("list_not_allowed", "a service that is open to everybody shows no lists; use a token")


def next_page(path: str, found: Sequence[Run] | Sequence[Job], limit: int) -> str | None:
    """The address of the next page, if there may be one."""
    return f"{path}?limit={limit}&before={found[-1].place}" if len(found) == limit else None


async def known_run(service: Service, run_id: str) -> Run:
    """The run; raises Problem."""
    return require_there(service, run_id, await run_sync(service.run, run_id))


async def finished_run(service: Service, run_id: str) -> tuple[Run, dict[str, Any]]:
    """The run and its result; raises Problem."""
    run = await known_run(service, run_id)
    if run.result is None:
        raise Problem("not_ready", f"the run is {run.status}; there is a result once it has finished", run_id=run_id)
    return run, run.result


@router.get("", summary="List runs", response_model=RunsPage, responses=problems(401, 403, 422))
async def list_runs(
    service: Running,
    limit: PageSize = 50,
    before: Before = None,
    status: Annotated[Status | None, Query(description="only runs in this state")] = None,
) -> Response:
    """The runs that belong to no job, the newest first, without their results."""
    require_listing(service)
    runs = await run_sync(service.store.list_runs, before, limit, status)
    more = next_page("/v1/runs", runs, limit)
    if more and status:
        more += f"&status={status}"
    return JSONResponse({"runs": [run_summary(run) for run in runs], "next": more})


@router.delete("/{run_id}", summary="Cancel or remove a run", response_model=RunView, responses=OF_A_RUN)
async def cancel_run(service: Running, run_id: RunId, remove: Remove = False) -> Response:
    """Cancels a run that has not ended; one that has stays as it is. With `remove` it goes with all that came of it."""
    run = require_there(service, run_id, await run_sync(service.cancel_run, run_id))
    if remove:
        await run_sync(service.retention.remove, "run", run_id, "it was deleted on request")
    return JSONResponse(run_view(run))


@router.get("/{run_id}", summary="Look at a run and its result", response_model=RunView, responses=OF_A_RUN)
async def read_run(service: Running, run_id: RunId) -> Response:
    """A run: its state, and its result once it has finished."""
    run = await known_run(service, run_id)
    if run.has_ended:
        await run_sync(service.fetched, "runs", run.id)
    return JSONResponse(run_view(run, await run_sync(service.store.position, run)))


@router.get(
    "/{run_id}/events",
    summary="Follow a run while it works",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {}}}, **OF_A_RUN},
)
async def read_events(
    service: Running,
    run_id: RunId,
    after: Annotated[int, Query(ge=0, le=2**53, description="the last event already known")] = 0,
    last_event_id: Annotated[int | None, Header(ge=0, le=2**53)] = None,
) -> StreamingResponse:
    """What happens to a run while it happens: queued, started, node, subtask, image, requeued, finished, failed."""
    await known_run(service, run_id)
    stream = _event_stream(service, run_id, max(after, last_event_id or 0))
    return StreamingResponse(stream, media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})


async def _event_stream(service: Service, run_id: str, after: int) -> AsyncIterator[bytes]:
    """The events after that number in the form of `text/event-stream`; ends with the run or with the service."""
    yield b"retry: 1000\n\n"
    with service.changes.listening(run_id) as news:
        while True:
            news.clear()
            # The run first: whatever it had when it ended is then among the events.
            run = await run_sync(service.run, run_id)
            for event in await run_sync(service.store.events, run_id, after):
                after = event.number
                data = json.dumps(event.data, ensure_ascii=False)
                yield f"id: {event.number}\nevent: {event.type}\ndata: {data}\n\n".encode()
            if run is None or run.has_ended or service.stopping.is_set():
                return
            try:
                await asyncio.wait_for(news.wait(), HEARTBEAT)
            except TimeoutError:
                yield b": alive\n\n"


@router.get("/{run_id}/image.webp", summary="The image of a run", **file_route("image/webp"))
async def read_image(service: Running, run_id: RunId, n: Place = 1) -> FileResponse:
    """The image, upright, in a size and format any browser shows."""
    return await _drawn(service, run_id, preview_name(n), "image/webp")


@router.get("/{run_id}/reference.webp", summary="The reference of a run", **file_route("image/webp"))
async def read_reference(service: Running, run_id: RunId) -> FileResponse:
    """The reference, likewise."""
    return await _drawn(service, run_id, "reference.webp", "image/webp")


@router.get("/{run_id}/map.png", summary="The quality map as a picture", **file_route("image/png"))
async def read_map(service: Running, run_id: RunId, n: Place = 1) -> FileResponse:
    """The image under its quality map: red is bad, blue is good, the box is the worst region."""
    return await _drawn(service, run_id, map_name(n), "image/png")


async def _drawn(service: Service, run_id: str, name: str, media_type: str) -> FileResponse:
    run, _ = await finished_run(service, run_id)
    file = service.folder_of(run.id) / name
    if not await run_sync(file.is_file):
        raise Problem("no_map", "there is no such picture of this run")
    return FileResponse(file, media_type=media_type, headers={"Cache-Control": "private, max-age=86400"})


@router.get("/{run_id}/map.json", summary="The quality map as numbers", response_model=MapView, responses=OF_A_RESULT)
async def read_grid(service: Running, run_id: RunId, n: Place = 1) -> Response:
    """The quality map as numbers."""
    _, result = await finished_run(service, run_id)
    maps: list[dict[str, Any] | None] = result["maps"]
    found = maps[n - 1] if n <= len(maps) else None
    if found is None:
        raise Problem("no_map", "there is no quality map of this image")
    return JSONResponse(found)


@router.get("/{run_id}/copy", summary="Take the smallest file that was found", **file_route(*COPY_TYPES.values()))
async def read_copy(service: Running, run_id: RunId) -> FileResponse:
    """The file of a run of kind encode, under the name of its original."""
    run, result = await finished_run(service, run_id)
    file = service.folder_of(run.id) / COPY
    if not await run_sync(file.is_file):
        raise Problem("not_found", "this run made no copy, or it is no longer kept")
    kind: Format = result["encoding"]["format"]
    name = PurePath(run.request.names[0]).with_suffix(SUFFIXES[kind]).name
    return FileResponse(file, media_type=COPY_TYPES[kind], filename=name)


@router.get("/{run_id}/report.html", summary="A report to keep", **PAGE)
async def read_report(service: Running, run_id: RunId, n: OnePlace = None) -> HTMLResponse:
    """One self-contained page to keep or to send: about an image, or about a whole comparison without `n`."""
    run, result = await finished_run(service, run_id)
    if run.kind not in ("assess", "compare"):
        raise Problem("not_found", "there is a report of what was assessed or compared; this run was neither")
    records = {1: result["assessment"]} if run.kind == "assess" else _compared(run, result)
    wanted = list(records) if n is None else [n]
    if not set(wanted) <= set(records):
        raise Problem("not_found", "there is no such image in this run")

    def page() -> str:
        pictures = [stored_picture(service.folder_of(run.id), place) for place in wanted]
        return page_of([records[place] for place in wanted], dict(enumerate(pictures)), len(wanted))

    return report_response(await run_sync(page))


def report_response(page: str) -> HTMLResponse:
    """A report, which may run its own script and nothing else."""
    return HTMLResponse(page, headers={"Content-Security-Policy": REPORT_POLICY})


def _compared(run: Run, result: dict[str, Any]) -> dict[int, dict[str, Any]]:
    """The assessments of a comparison by place, the first of the ranking first, under the names of the images."""
    ordered = zip(result["order"], result["ranking"]["entries"], strict=True)
    return {place: {**entry["assessment"], "sample_id": run.request.names[place - 1]} for place, entry in ordered}


@router.get(
    "/{run_id}/difference.json",
    summary="What differs between two images",
    response_model=DifferenceView,
    responses=OF_A_RESULT,
)
async def read_difference(
    service: Running,
    run_id: RunId,
    n: Place = 1,
    other: Annotated[str | None, Query(max_length=64, description="another run; without it the same one")] = None,
    m: Annotated[int, Query(ge=1, le=64, description="which image of the other run")] = 1,
) -> Response:
    """Where image `m` of the other run differs from image `n` of this one; the other is scaled to its size."""
    first, _ = await finished_run(service, run_id)
    second, _ = await finished_run(service, other or run_id)
    files = (service.folder_of(first.id) / preview_name(n), service.folder_of(second.id) / preview_name(m))
    return JSONResponse(await run_sync(difference_view, *files))
