"""What is asked of images: assess, compare, measure, audit, encode. A run is taken in and waited for."""

from __future__ import annotations

import shutil
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from anyio.to_thread import run_sync
from fastapi import APIRouter, Depends, File, Form, Header, Query, UploadFile
from fastapi.responses import JSONResponse, Response

from agenticiqa.encode import Format
from agenticiqa.server.openapi import Answers, problems
from agenticiqa.server.problems import Problem, invalid, problem_response
from agenticiqa.server.response_models import RunView, run_view
from agenticiqa.server.routes.catalogue import pictures_of
from agenticiqa.server.routes.runs import Running, known_run
from agenticiqa.server.service import Service
from agenticiqa.server.storage.database import Run, new_id
from agenticiqa.server.uploads import Given, parsed_choices, refuse_unknown_fields, require_question, take_in
from agenticiqa.server.workers.messages import Asked, Kind, RunFile, RunRequest

MOST_AUDITED = 500
DEFAULT_QUESTIONS = {"en": None, "zh": "请评价这张图片的感知质量。"}
ANSWERS: Answers = {
    202: {"model": RunView},
    **problems(400, 401, 403, 404, 408, 413, 415, 422, 429, 500, 502, 503, 504, 507),
}

router = APIRouter(prefix="/v1", tags=["runs"], responses=ANSWERS, dependencies=[Depends(refuse_unknown_fields)])


def waits_for_result(
    wait: Annotated[bool, Query(description="false answers at once with 202; follow `urls.events`")] = True,
    prefer: Annotated[str | None, Header(description="`respond-async` is the same as wait=false")] = None,
) -> bool:
    """Whether the answer is the result, or where it will be."""
    return wait and "respond-async" not in (prefer or "")


Waits = Annotated[bool, Depends(waits_for_result)]
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
Image = Annotated[UploadFile | None, File(description="the image")]
ImagePath = Annotated[str | None, Form(description="instead of `image`: a file under an allowed folder")]
Images = Annotated[list[UploadFile] | None, File(description="the images")]
ImagePaths = Annotated[list[str] | None, Form(description="files under an allowed folder")]
Reference = Annotated[UploadFile | None, File(description="the undistorted original")]
ReferencePath = Annotated[str | None, Form(description="instead of `reference`")]


def answers_like(kind: Kind, **result: Any) -> Answers:
    """The answer of a route: what a finished run of its kind looks like."""
    request = RunRequest(images=[RunFile(file="image-1", name="photo.jpg")])
    moment = datetime(2026, 1, 31, 12, tzinfo=UTC).timestamp()
    run = Run(1, "5f0c1f0e9d7b4a6c8e21a0b3", kind, "finished", None, None, request,
              moment, moment + 0.1, moment + 0.9, result, None)  # fmt: skip
    return {200: {"content": {"application/json": {"example": run_view(run)}}}}


@router.post("/assess", summary="Ask about an image, or rate it", response_model=RunView)
async def assess(
    service: Running,
    waits: Waits,
    image: Image = None,
    path: ImagePath = None,
    reference: Reference = None,
    reference_path: ReferencePath = None,
    query: Question = None,
    choices: Annotated[
        str | None, Form(description="a JSON object or list", examples=['{"A": "Yes", "B": "No"}'])
    ] = None,
    language: Language = None,
    max_replan_iterations: MaxReplan = None,
    align: Align = None,
    fresh: Fresh = False,
) -> Response:
    """Answers a question about an image, or rates its quality."""
    asked = Asked(
        query=_question(query, language),
        choices=parsed_choices(choices),
        max_replan_iterations=max_replan_iterations,
        align=align,
    )
    given = Given(*_single(image, path), reference, reference_path)
    return await _answer(service, "assess", given, asked, fresh, waits)


@router.post("/compare", summary="Rank several images", response_model=RunView)
async def compare(
    service: Running,
    waits: Waits,
    images: Images = None,
    paths: ImagePaths = None,
    reference: Reference = None,
    reference_path: ReferencePath = None,
    query: Question = None,
    language: Language = None,
    align: Align = None,
    fresh: Fresh = False,
) -> Response:
    """Ranks images from the best to the worst, with the probability for every pair."""
    given = Given(images or [], paths or [], reference, reference_path)
    count, most = len(given.uploads) + len(given.paths), service.options.max_images
    if not 2 <= count <= most:
        raise Problem("image_missing", f"comparing needs 2 to {most} images, not {count}")
    asked = Asked(query=_question(query, language), align=align)
    return await _answer(service, "compare", given, asked, fresh, waits)


PSNR = {
    "tool": "PSNR",
    "value": 31.4,
    "unit": "dB",
    "score": 3.4,
    "higher_is_better": True,
    "notes": [],
    "seconds": 0.1,
}
AUDITED = {"name": "photo.jpg", "issues": ["blurry"], "decision": "reject", "reasons": ["blurry"], "error": None}
ENCODED = {"format": "webp", "quality": 71, "score": 4.02, "bytes": 48_310}


@router.post(
    "/measure",
    summary="Measure an image, or what a copy lost",
    response_model=RunView,
    responses=answers_like("measure", measurements=[PSNR]),
)
async def measure(
    service: Running,
    waits: Waits,
    image: Image = None,
    path: ImagePath = None,
    reference: Reference = None,
    reference_path: ReferencePath = None,
    metrics: Annotated[
        list[str] | None,
        Form(description="names of `/v1/tools`; without them every quick one that fits", examples=[["SSIM", "PSNR"]]),
    ] = None,
    align: Align = None,
    fresh: Fresh = False,
) -> Response:
    """What metrics say of an image, or of a copy and its original: numbers, and no verdict."""
    asked = Asked(metrics=metrics or [], align=align)
    given = Given(*_single(image, path), reference, reference_path)
    return await _answer(service, "measure", given, asked, fresh, waits)


@router.post(
    "/audit",
    summary="Find the faults of several images",
    response_model=RunView,
    responses=answers_like("audit", audit={"images": [AUDITED], "counts": {"blurry": 1}, "duplicates": []}),
)
async def audit(
    service: Running,
    waits: Waits,
    images: Images = None,
    paths: ImagePaths = None,
    folder: Annotated[str | None, Form(description="an allowed folder, or one below it, with all below it")] = None,
    fresh: Fresh = False,
) -> Response:
    """Blurry, dark, burnt out, noisy, broken, odd, doubled: the faults of each image, and what to keep."""
    found, there_are_more = await run_sync(pictures_of, service, folder, MOST_AUDITED) if folder else ([], False)
    if there_are_more:
        raise invalid("folder", f"holds more than {MOST_AUDITED} images; name folders below it, or use the command")
    given = Given(images or [], (paths or []) + found)
    count = len(given.uploads) + len(given.paths)
    if not 1 <= count <= MOST_AUDITED:
        raise Problem("image_missing", f"an audit needs 1 to {MOST_AUDITED} images, not {count}")
    return await _answer(service, "audit", given, Asked(), fresh, waits)


@router.post(
    "/encode",
    summary="Find the smallest file that still looks the same",
    response_model=RunView,
    responses=answers_like("encode", encoding=ENCODED),
)
async def encode(
    service: Running,
    waits: Waits,
    image: Image = None,
    path: ImagePath = None,
    format: Annotated[Format, Form(description="what to encode to", examples=["avif"])] = "webp",
    min_score: Annotated[
        float | None,
        Form(ge=1, le=5, description="how like the original it must stay: 4.2 high quality, 4 medium", examples=[4.2]),
    ] = None,
    max_bytes: Annotated[
        int | None, Form(ge=1, le=2**40, description="the most the file may have; alone: the best that fits")
    ] = None,
    fresh: Fresh = False,
) -> Response:
    """The smallest file of a format at a score against the original; `min_score`, `max_bytes` or both are needed."""
    if min_score is None and max_bytes is None:
        raise invalid("min_score", "give the score to reach, or the number of bytes to fit into as `max_bytes`")
    asked = Asked(format=format, min_score=min_score, max_bytes=max_bytes)
    return await _answer(service, "encode", Given(*_single(image, path)), asked, fresh, waits)


def _single(image: UploadFile | None, path: str | None) -> tuple[list[UploadFile], list[str]]:
    if (image is None) == (not path):
        raise Problem("image_missing", "send one image, as the file `image` or as `path`")
    return ([image] if image else []), ([path] if path else [])


def _question(query: str | None, language: str | None) -> str | None:
    require_question(query)
    return query or DEFAULT_QUESTIONS[language or "en"]


def _taken_in(service: Service, kind: Kind, given: Given, asked: Asked, fresh: bool) -> Run:
    """The run of these files; nothing stays on disk of one that is refused."""
    run_id = new_id()
    folder = service.folder_of(run_id)
    with ExitStack() as undo:
        undo.callback(shutil.rmtree, folder, ignore_errors=True)
        # A broken file is a fault that an audit names.
        images, reference = take_in(service, folder, given, require_images=kind != "audit")
        run = service.submit(run_id, kind, RunRequest(**asked.model_dump(), images=images, reference=reference), fresh)
        undo.pop_all()
        return run


async def _answer(service: Service, kind: Kind, given: Given, asked: Asked, fresh: bool, waits: bool) -> Response:
    """The run as it is, or as it has become."""
    run = await run_sync(_taken_in, service, kind, given, asked, fresh)
    if not waits:
        position = await run_sync(service.store.position, run)
        return JSONResponse(run_view(run, position), 202, headers={"Location": f"/v1/runs/{run.id}"})
    run = await _ended(service, run)
    await run_sync(service.fetched, "runs", run.id)
    if run.problem is not None:
        return problem_response({**run.problem, "run_id": run.id})
    return JSONResponse(run_view(run))


async def _ended(service: Service, run: Run) -> Run:
    """The run after its end; a service that stops first says that it is kept."""
    with service.changes.listening(run.id) as news:
        while True:
            news.clear()
            run = await known_run(service, run.id)
            if run.has_ended:
                return run
            if service.stopping.is_set() and run.status == "queued":
                said = f"the service is stopping; the run is kept and goes on after its restart: /v1/runs/{run.id}"
                raise Problem("stopping", said, run_id=run.id, retry_after=5)
            await news.wait()
