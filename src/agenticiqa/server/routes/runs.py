"""Assessing and comparing: taking a run in, waiting for it, following it, and everything drawn from it."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from typing import Annotated, Any, Literal, TypeVar

from anyio.to_thread import run_sync
from fastapi import APIRouter, Depends, File, Form, Header, Path, Query, Request, UploadFile
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse, Response, StreamingResponse

from agenticiqa.report.writing import page_of
from agenticiqa.server.guards import REPORT_POLICY
from agenticiqa.server.live_events import event_stream
from agenticiqa.server.openapi import RUN_PROBLEMS, problems
from agenticiqa.server.problems import Problem, problem_response
from agenticiqa.server.response_models import MapView, RunsPage, RunView, run_summary, run_view
from agenticiqa.server.service import Service
from agenticiqa.server.storage.database import Job, Run, Status, new_id
from agenticiqa.server.uploads import Intake, parsed_choices, refuse_unknown_fields, require_question
from agenticiqa.server.workers.pictures import map_name, preview_name, stored_picture

router = APIRouter(prefix="/v1", tags=["runs"])

DEFAULT_QUESTIONS = {"en": None, "zh": "请评价这张图片的感知质量。"}

RunId = Annotated[str, Path(examples=["5f0c1f0e9d7b4a6c8e21a0b3"])]
OnePlace = Annotated[int | None, Query(ge=1, le=64, description="which image of a comparison; without it all")]
Place = Annotated[int, Query(ge=1, le=64, description="which image of a comparison, counted from 1")]
Wait = Annotated[bool, Query(description="false answers at once with 202; follow `urls.events`")]
Prefer = Annotated[str | None, Header(description="`respond-async` is the same as wait=false")]
Question = Annotated[
    str | None, Form(description="the question; without it the quality is rated", examples=["Is it blurry?"])
]
Language = Annotated[
    Literal["en", "zh"] | None,
    Form(description="of the question that is asked when there is none; a question is answered in its own language"),
]
Fresh = Annotated[bool, Form(description="assess again although an identical request has been answered")]
Align = Annotated[Literal["resize"] | None, Form(description="scale a reference of another size")]
PageSize = Annotated[int, Query(ge=1, le=500, description="so many at most")]
Before = Annotated[int | None, Query(ge=1, le=2**53, description="where the page before ended; `next` has it")]
Remove = Annotated[bool, Query(description="remove it with its results, instead of only cancelling it")]
MaxReplan = Annotated[int | None, Form(ge=0, le=20, description="0 and 1 never replan, 2 (the default) replans once")]


def service_of(request: Request) -> Service:
    """The running service."""
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
    """Nothing, unless strangers without a token would see each other's names; raises Problem."""
    if not service.options.may_list:
        raise Problem("list_not_allowed", "a service that is open to everybody shows no lists; use a token")


def next_page(path: str, found: Sequence[Run] | Sequence[Job], limit: int) -> str | None:
    """The address of the next page, if there may be one."""
    return f"{path}?limit={limit}&before={found[-1].place}" if len(found) == limit else None


@router.post(
    "/assess",
    summary="Ask about an image, or rate it",
    response_model=RunView,
    responses={202: {"model": RunView}, **RUN_PROBLEMS},
    dependencies=[Depends(refuse_unknown_fields)],
)
async def assess(
    service: Running,
    image: Annotated[UploadFile | None, File(description="the image")] = None,
    path: Annotated[str | None, Form(description="instead of `image`: a file under an allowed folder")] = None,
    reference: Annotated[UploadFile | None, File(description="the undistorted original")] = None,
    reference_path: Annotated[str | None, Form(description="instead of `reference`")] = None,
    query: Question = None,
    choices: Annotated[
        str | None, Form(description="a JSON object or list", examples=['{"A": "Yes", "B": "No"}'])
    ] = None,
    language: Language = None,
    max_replan_iterations: MaxReplan = None,
    align: Align = None,
    fresh: Fresh = False,
    wait: Wait = True,
    prefer: Prefer = None,
) -> Response:
    """Answers a question about an image, or rates its quality."""
    if (image is None) == (not path):
        raise Problem("image_missing", "send one image, as the file `image` or as `path`")
    asked = {
        "query": _question(query, language),
        "choices": parsed_choices(choices),
        "max_replan_iterations": max_replan_iterations,
        "align": align,
    }
    uploads, paths = ([image] if image else []), ([path] if path else [])
    run = await run_sync(_taken_in, service, "assess", uploads, paths, reference, reference_path, asked, fresh)
    return await _answer(service, run, wait and not _is_async(prefer))


@router.post(
    "/compare",
    summary="Rank several images",
    response_model=RunView,
    responses={202: {"model": RunView}, **RUN_PROBLEMS},
    dependencies=[Depends(refuse_unknown_fields)],
)
async def compare(
    service: Running,
    images: Annotated[list[UploadFile] | None, File(description="two or more images")] = None,
    paths: Annotated[list[str] | None, Form(description="files under an allowed folder")] = None,
    reference: Annotated[UploadFile | None, File(description="the original of all of them")] = None,
    reference_path: Annotated[str | None, Form(description="instead of `reference`")] = None,
    query: Question = None,
    language: Language = None,
    align: Align = None,
    fresh: Fresh = False,
    wait: Wait = True,
    prefer: Prefer = None,
) -> Response:
    """Ranks images from the best to the worst, with the probability for every pair."""
    count, most = len(images or []) + len(paths or []), service.options.max_images
    if not 2 <= count <= most:
        raise Problem("image_missing", f"comparing needs 2 to {most} images, not {count}")
    asked = {"query": _question(query, language), "choices": None, "max_replan_iterations": None, "align": align}
    run = await run_sync(
        _taken_in, service, "compare", images or [], paths or [], reference, reference_path, asked, fresh
    )
    return await _answer(service, run, wait and not _is_async(prefer))


@router.get("/runs", summary="List runs", response_model=RunsPage, responses=problems(401, 403, 422))
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


@router.delete(
    "/runs/{run_id}", summary="Cancel or remove a run", response_model=RunView, responses=problems(401, 404, 410, 422)
)
async def cancel_run(service: Running, run_id: RunId, remove: Remove = False) -> Response:
    """Cancels a run that has not ended; one that has stays as it is. With `remove` it goes with all that came of it."""
    run = require_there(service, run_id, await run_sync(service.cancel_run, run_id))
    if remove:
        await run_sync(service.remove, "run", run_id)
    return JSONResponse(run_view(run))


@router.get(
    "/runs/{run_id}",
    summary="Look at a run and its result",
    response_model=RunView,
    responses=problems(401, 404, 410, 422),
)
async def read_run(service: Running, run_id: RunId) -> Response:
    """A run: its state, and its result once it has finished."""
    run = await _known(service, run_id)
    if run.has_ended:
        await run_sync(service.fetched, "runs", run.id)
    return JSONResponse(run_view(run, await run_sync(service.store.position, run)))


@router.get(
    "/runs/{run_id}/events",
    summary="Follow a run while it works",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {}}}, **problems(401, 404, 410, 422)},
)
async def read_events(
    service: Running,
    run_id: RunId,
    after: Annotated[int, Query(ge=0, le=2**53, description="the last event already known")] = 0,
    last_event_id: Annotated[int | None, Header(ge=0, le=2**53)] = None,
) -> StreamingResponse:
    """What happens to a run while it happens: queued, started, node, subtask, image, requeued, finished, failed."""
    await _known(service, run_id)
    stream = event_stream(service, run_id, max(after, last_event_id or 0))
    return StreamingResponse(stream, media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})


def _picture(media_type: str) -> dict[int | str, dict[str, Any]]:
    content = {media_type: {"schema": {"type": "string", "format": "binary"}}}
    return {200: {"content": content}, **problems(401, 404, 409, 410, 422)}


@router.get(
    "/runs/{run_id}/image.webp",
    summary="The image of a run",
    response_class=FileResponse,
    responses=_picture("image/webp"),
)
async def read_image(service: Running, run_id: RunId, n: Place = 1) -> FileResponse:
    """The image, upright, in a size and format any browser shows."""
    return await _drawn(service, run_id, preview_name(n), "image/webp")


@router.get(
    "/runs/{run_id}/reference.webp",
    summary="The reference of a run",
    response_class=FileResponse,
    responses=_picture("image/webp"),
)
async def read_reference(service: Running, run_id: RunId) -> FileResponse:
    """The reference, likewise."""
    return await _drawn(service, run_id, "reference.webp", "image/webp")


@router.get(
    "/runs/{run_id}/map.png",
    summary="The quality map as a picture",
    response_class=FileResponse,
    responses=_picture("image/png"),
)
async def read_map(service: Running, run_id: RunId, n: Place = 1) -> FileResponse:
    """The image under its quality map: red is bad, blue is good, the box is the worst region."""
    return await _drawn(service, run_id, map_name(n), "image/png")


@router.get(
    "/runs/{run_id}/map.json",
    summary="The quality map as numbers",
    response_model=MapView,
    responses=problems(401, 404, 409, 410, 422),
)
async def read_grid(service: Running, run_id: RunId, n: Place = 1) -> Response:
    """The quality map as numbers."""
    run = await finished_run(service, run_id)
    maps: list[dict[str, Any] | None] = (run.result or {})["maps"]
    found = maps[n - 1] if n <= len(maps) else None
    if found is None:
        raise Problem("no_map", "there is no quality map of this image")
    return JSONResponse(found)


@router.get(
    "/runs/{run_id}/report.html",
    summary="A report to keep",
    response_class=HTMLResponse,
    responses=problems(401, 404, 409, 410, 422),
)
async def read_report(service: Running, run_id: RunId, n: OnePlace = None) -> HTMLResponse:
    """One self-contained page to keep or to send: about an image, or about a whole comparison without `n`."""
    run = await finished_run(service, run_id)
    page = await run_sync(_report, service, run, n)
    return HTMLResponse(page, headers={"Content-Security-Policy": REPORT_POLICY})


def _report(service: Service, run: Run, place: int | None) -> str:
    result, folder = run.result or {}, service.folder_of(run.id)
    records = {1: result["assessment"]} if "assessment" in result else _compared(run, result)
    wanted = list(records) if place is None else [place]
    if not set(wanted) <= set(records):
        raise Problem("not_found", "there is no such image in this run")
    pictures = [stored_picture(folder / preview_name(one), folder / map_name(one)) for one in wanted]
    return page_of([records[one] for one in wanted], dict(enumerate(pictures)), len(wanted))


def _compared(run: Run, result: dict[str, Any]) -> dict[int, dict[str, Any]]:
    """The assessments of a comparison by place, the first of the ranking first, under the names of the images."""
    names = [image["name"] for image in run.request["images"]]
    ordered = zip(result["order"], result["ranking"]["entries"], strict=True)
    return {place: {**entry["assessment"], "sample_id": names[place - 1]} for place, entry in ordered}


def _taken_in(
    service: Service,
    kind: str,
    uploads: list[UploadFile],
    paths: list[str],
    reference: UploadFile | None,
    reference_path: str | None,
    asked: dict[str, Any],
    fresh: bool,
) -> Run:
    """The run of these files; nothing stays on disk of one that is refused."""
    service.require_room()
    run_id = new_id()
    folder, kept = service.folder_of(run_id), False
    try:
        intake = Intake(service, folder)
        images = intake.images(uploads, paths)
        request = {**asked, "images": images, "reference": intake.reference(reference, reference_path)}
        run, _ = service.submit(run_id, kind, request, fresh)
        kept = True
        return run
    finally:
        if not kept:
            shutil.rmtree(folder, ignore_errors=True)


async def _answer(service: Service, run: Run, waits: bool) -> Response:
    """The run as it is, or as it has become."""
    if waits:
        run = await _ended(service, run)
        await run_sync(service.fetched, "runs", run.id)
        if run.problem is not None:
            return problem_response({**run.problem, "run_id": run.id})
        return JSONResponse(run_view(run))
    position = await run_sync(service.store.position, run)
    return JSONResponse(run_view(run, position), 202, headers={"Location": f"/v1/runs/{run.id}"})


async def _ended(service: Service, run: Run) -> Run:
    """The run after its end; a service that stops first says that it is kept."""
    with service.changes.listening(run.id) as news:
        while True:
            news.clear()
            run = await _known(service, run.id)
            if run.has_ended:
                return run
            if service.stopping.is_set() and run.status == "queued":
                raise Problem(
                    "stopping",
                    f"the service is stopping; the run is kept and goes on after its restart: /v1/runs/{run.id}",
                    run_id=run.id,
                    headers={"Retry-After": "5"},
                )
            await news.wait()


async def _known(service: Service, run_id: str) -> Run:
    return require_there(service, run_id, await run_sync(service.run, run_id))


async def finished_run(service: Service, run_id: str) -> Run:
    """The run, once it has finished; raises Problem."""
    run = await _known(service, run_id)
    if run.status != "finished":
        raise Problem("not_ready", f"the run is {run.status}; there is a result once it has finished", run_id=run_id)
    return run


async def _drawn(service: Service, run_id: str, name: str, media_type: str) -> FileResponse:
    run = await finished_run(service, run_id)
    file = service.folder_of(run.id) / name
    if not await run_sync(file.is_file):
        raise Problem("no_map", "there is no such picture of this run")
    return FileResponse(file, media_type=media_type, headers={"Cache-Control": "private, max-age=86400"})


def _question(query: str | None, language: str | None) -> str | None:
    require_question(query)
    return query or DEFAULT_QUESTIONS[language or "en"]


def _is_async(prefer: str | None) -> bool:
    return prefer is not None and "respond-async" in prefer
