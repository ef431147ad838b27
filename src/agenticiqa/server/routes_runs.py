"""Assessing and comparing: taking a run in, waiting for it, following it, and everything drawn from it."""

from __future__ import annotations

import shutil
from typing import Annotated, Any, Literal

from anyio.to_thread import run_sync
from fastapi import APIRouter, Depends, File, Form, Header, Path, Query, Request, UploadFile
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse, Response, StreamingResponse

from agenticiqa.report.writing import single_page
from agenticiqa.server.answers import RUN_PROBLEMS, problems
from agenticiqa.server.fields import refuse_unknown_fields
from agenticiqa.server.guards import REPORT_POLICY
from agenticiqa.server.intake import Intake, parsed_choices, require_question
from agenticiqa.server.pictures import map_name, preview_name, stored_picture
from agenticiqa.server.problems import Problem, problem_response
from agenticiqa.server.service import Service
from agenticiqa.server.sse import event_stream
from agenticiqa.server.store import Run, new_id
from agenticiqa.server.views import MapView, RunView, run_view

router = APIRouter(prefix="/v1", tags=["runs"])

DEFAULT_QUESTIONS = {"en": None, "zh": "请评价这张图片的感知质量。"}

RunId = Annotated[str, Path(examples=["5f0c1f0e9d7b4a6c8e21a0b3"])]
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
MaxReplan = Annotated[int | None, Form(ge=0, le=20, description="0 and 1 never replan, 2 (the default) replans once")]


def service_of(request: Request) -> Service:
    """The running service."""
    service: Service = request.app.state.service
    return service


Running = Annotated[Service, Depends(service_of)]


@router.post(
    "/assess",
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
    run, shared = await run_sync(_taken_in, service, "assess", uploads, paths, reference, reference_path, asked, fresh)
    return await _answer(service, run, shared, wait and not _is_async(prefer))


@router.post(
    "/compare",
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
    run, shared = await run_sync(
        _taken_in, service, "compare", images or [], paths or [], reference, reference_path, asked, fresh
    )
    return await _answer(service, run, shared, wait and not _is_async(prefer))


@router.get("/runs/{run_id}", response_model=RunView, responses=problems(401, 404, 422))
async def read_run(service: Running, run_id: RunId) -> Response:
    """A run: its state, and its result once it has finished."""
    run = await _known(service, run_id)
    return JSONResponse(run_view(run, await run_sync(service.store.position, run)))


@router.get(
    "/runs/{run_id}/events",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}, **problems(401, 404, 422)},
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
    return {200: {"content": content}, **problems(401, 404, 409, 422)}


@router.get("/runs/{run_id}/image.webp", response_class=FileResponse, responses=_picture("image/webp"))
async def read_image(service: Running, run_id: RunId, n: Place = 1) -> FileResponse:
    """The image, upright, in a size and format any browser shows."""
    return await _drawn(service, run_id, preview_name(n), "image/webp")


@router.get("/runs/{run_id}/reference.webp", response_class=FileResponse, responses=_picture("image/webp"))
async def read_reference(service: Running, run_id: RunId) -> FileResponse:
    """The reference, likewise."""
    return await _drawn(service, run_id, "reference.webp", "image/webp")


@router.get("/runs/{run_id}/map.png", response_class=FileResponse, responses=_picture("image/png"))
async def read_map(service: Running, run_id: RunId, n: Place = 1) -> FileResponse:
    """The image under its quality map: red is bad, blue is good, the box is the worst region."""
    return await _drawn(service, run_id, map_name(n), "image/png")


@router.get("/runs/{run_id}/map.json", response_model=MapView, responses=problems(401, 404, 409, 422))
async def read_grid(service: Running, run_id: RunId, n: Place = 1) -> Response:
    """The quality map as numbers."""
    run = await _finished(service, run_id)
    maps: list[dict[str, Any] | None] = (run.result or {})["maps"]
    found = maps[n - 1] if n <= len(maps) else None
    if found is None:
        raise Problem("no_map", "there is no quality map of this image")
    return JSONResponse(found)


@router.get("/runs/{run_id}/report.html", response_class=HTMLResponse, responses=problems(401, 404, 409, 422))
async def read_report(service: Running, run_id: RunId, n: Place = 1) -> HTMLResponse:
    """One self-contained page about an assessment, to keep or to send."""
    run = await _finished(service, run_id)
    page = await run_sync(_report, service, run, n)
    return HTMLResponse(page, headers={"Content-Security-Policy": REPORT_POLICY})


def _report(service: Service, run: Run, place: int) -> str:
    result, folder = run.result or {}, service.folder_of(run.id)
    if "assessment" in result:
        record = result["assessment"] if place == 1 else None
    else:
        entries = dict(zip(result["order"], result["ranking"]["entries"], strict=True))
        record = entries[place]["assessment"] if place in entries else None
    if record is None:
        raise Problem("not_found", "there is no such image in this run")
    picture = stored_picture(folder / preview_name(place), folder / map_name(place))
    return single_page(record, b"", lambda *_: picture)


def _taken_in(
    service: Service,
    kind: str,
    uploads: list[UploadFile],
    paths: list[str],
    reference: UploadFile | None,
    reference_path: str | None,
    asked: dict[str, Any],
    fresh: bool,
) -> tuple[Run, bool]:
    """The run for these files; nothing stays on disk of one that is shared or refused."""
    run_id = new_id()
    folder, kept = service.folder_of(run_id), False
    try:
        intake = Intake(service, folder)
        images = intake.images(uploads, paths)
        request = {**asked, "images": images, "reference": intake.reference(reference, reference_path)}
        run, shared = service.submit(run_id, kind, request, fresh)
        kept = not shared
        return run, shared
    finally:
        if not kept:
            shutil.rmtree(folder, ignore_errors=True)


async def _answer(service: Service, run: Run, shared: bool, waits: bool) -> Response:
    """The run as it is, or as it has become."""
    if waits:
        run = await _ended(service, run)
        if run.problem is not None:
            return problem_response({**run.problem, "run_id": run.id})
        return JSONResponse(run_view(run, None, shared))
    position = await run_sync(service.store.position, run)
    return JSONResponse(run_view(run, position, shared), 202, headers={"Location": f"/v1/runs/{run.id}"})


async def _ended(service: Service, run: Run) -> Run:
    """The run after its end; a service that stops first says that it is kept."""
    with service.bell.listening(run.id) as news:
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
    run = await run_sync(service.store.run, run_id)
    if run is None:
        raise Problem("not_found", "there is no such run, or it is no longer kept")
    return run


async def _finished(service: Service, run_id: str) -> Run:
    run = await _known(service, run_id)
    if run.status != "finished":
        raise Problem("not_ready", f"the run is {run.status}; there is a result once it has finished", run_id=run_id)
    return run


async def _drawn(service: Service, run_id: str, name: str, media_type: str) -> FileResponse:
    run = await _finished(service, run_id)
    file = service.folder_of(run.id) / name
    if not await run_sync(file.is_file):
        raise Problem("no_map", "there is no such picture of this run")
    return FileResponse(file, media_type=media_type, headers={"Cache-Control": "private, max-age=86400"})


def _question(query: str | None, language: str | None) -> str | None:
    require_question(query)
    return query or DEFAULT_QUESTIONS[language or "en"]


def _is_async(prefer: str | None) -> bool:
    return prefer is not None and "respond-async" in prefer
