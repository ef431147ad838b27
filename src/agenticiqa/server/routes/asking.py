"""What is asked of images: assess, compare, measure, audit, encode. A run is taken in and waited for."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from anyio.to_thread import run_sync
from fastapi import APIRouter, Depends, File, Form, Header, Query, UploadFile
from fastapi.responses import JSONResponse, Response

from agenticiqa.encode import Format
from agenticiqa.server.openapi import RUN_PROBLEMS
from agenticiqa.server.problems import Problem, problem_response
from agenticiqa.server.response_models import RunView, run_view
from agenticiqa.server.routes.catalogue import pictures_of
from agenticiqa.server.routes.runs import Running, known_run
from agenticiqa.server.service import Service
from agenticiqa.server.storage.database import Kind, Run, new_id
from agenticiqa.server.uploads import Intake, invalid, parsed_choices, refuse_unknown_fields, require_question
from agenticiqa.server.workers.messages import Asked

router = APIRouter(prefix="/v1", tags=["runs"])

DEFAULT_QUESTIONS = {"en": None, "zh": "请评价这张图片的感知质量。"}
MOST_AUDITED = 500

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
ANSWERS: dict[int | str, dict[str, Any]] = {202: {"model": RunView}, **RUN_PROBLEMS}


def answers_like(kind: Kind, **result: Any) -> dict[int | str, dict[str, Any]]:
    """The answers of a route, with what a finished run of its kind looks like."""
    moment = datetime(2026, 1, 31, 12, tzinfo=UTC)
    run = Run(1, "5f0c1f0e9d7b4a6c8e21a0b3", kind, "finished", None, None, {"images": [{"name": "photo.jpg"}]},
              moment.timestamp(), moment.timestamp() + 0.1, moment.timestamp() + 0.9, result, None)  # fmt: skip
    return {200: {"content": {"application/json": {"example": run_view(run)}}}, **ANSWERS}


Image = Annotated[UploadFile | None, File(description="the image")]
ImagePath = Annotated[str | None, Form(description="instead of `image`: a file under an allowed folder")]
Images = Annotated[list[UploadFile] | None, File(description="the images")]
ImagePaths = Annotated[list[str] | None, Form(description="files under an allowed folder")]
Reference = Annotated[UploadFile | None, File(description="the undistorted original")]
ReferencePath = Annotated[str | None, Form(description="instead of `reference`")]


@router.post(
    "/assess",
    summary="Ask about an image, or rate it",
    response_model=RunView,
    responses=ANSWERS,
    dependencies=[Depends(refuse_unknown_fields)],
)
async def assess(
    service: Running,
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
    wait: Wait = True,
    prefer: Prefer = None,
) -> Response:
    """Answers a question about an image, or rates its quality."""
    asked = Asked(
        query=_question(query, language),
        choices=parsed_choices(choices),
        max_replan_iterations=max_replan_iterations,
        align=align,
    )
    given = Given(*_single(image, path), reference, reference_path)
    return await _answer(service, "assess", given, asked, fresh, wait and not _is_async(prefer))


@router.post(
    "/compare",
    summary="Rank several images",
    response_model=RunView,
    responses=ANSWERS,
    dependencies=[Depends(refuse_unknown_fields)],
)
async def compare(
    service: Running,
    images: Images = None,
    paths: ImagePaths = None,
    reference: Reference = None,
    reference_path: ReferencePath = None,
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
    asked = Asked(query=_question(query, language), align=align)
    given = Given(images or [], paths or [], reference, reference_path)
    return await _answer(service, "compare", given, asked, fresh, wait and not _is_async(prefer))


@router.post(
    "/measure",
    summary="Measure an image, or what a copy lost",
    response_model=RunView,
    responses=answers_like(
        "measure",
        measurements=[
            {
                "tool": "PSNR",
                "value": 31.4,
                "unit": "dB",
                "score": 3.4,
                "higher_is_better": True,
                "notes": [],
                "seconds": 0.01,
            }
        ],
    ),
    dependencies=[Depends(refuse_unknown_fields)],
)
async def measure(
    service: Running,
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
    wait: Wait = True,
    prefer: Prefer = None,
) -> Response:
    """What metrics say of an image, or of a copy and its original: numbers, and no verdict."""
    asked = Asked(metrics=metrics or [], align=align)
    given = Given(*_single(image, path), reference, reference_path)
    return await _answer(service, "measure", given, asked, fresh, wait and not _is_async(prefer))


@router.post(
    "/audit",
    summary="Find the faults of several images",
    response_model=RunView,
    responses=answers_like(
        "audit",
        audit={
            "images": [
                {
                    "name": "photo.jpg",
                    "issues": ["blurry"],
                    "decision": "reject",
                    "reasons": ["blurry"],
                    "error": None,
                }
            ],
            "counts": {"blurry": 1},
            "duplicates": [],
        },
    ),
    dependencies=[Depends(refuse_unknown_fields)],
)
async def audit(
    service: Running,
    images: Images = None,
    paths: ImagePaths = None,
    folder: Annotated[str | None, Form(description="an allowed folder, or one below it, with all below it")] = None,
    fresh: Fresh = False,
    wait: Wait = True,
    prefer: Prefer = None,
) -> Response:
    """Blurry, dark, burnt out, noisy, broken, odd, doubled: the faults of each image, and what to keep."""
    named = (paths or []) + (await run_sync(_all_of, service, folder) if folder else [])
    count = len(images or []) + len(named)
    if not 1 <= count <= MOST_AUDITED:
        raise Problem("image_missing", f"an audit needs 1 to {MOST_AUDITED} images, not {count}")
    given = Given(images or [], named)
    return await _answer(service, "audit", given, Asked(), fresh, wait and not _is_async(prefer))


@router.post(
    "/encode",
    summary="Find the smallest file that still looks the same",
    response_model=RunView,
    responses=answers_like("encode", encoding={"format": "webp", "quality": 71, "score": 4.02, "bytes": 48_310}),
    dependencies=[Depends(refuse_unknown_fields)],
)
async def encode(
    service: Running,
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
    wait: Wait = True,
    prefer: Prefer = None,
) -> Response:
    """The smallest file of a format at a score against the original; `min_score`, `max_bytes` or both are needed."""
    if min_score is None and max_bytes is None:
        raise invalid("min_score", "give the score to reach, or the number of bytes to fit into as `max_bytes`")
    asked = Asked(format=format, min_score=min_score, max_bytes=max_bytes)
    given = Given(*_single(image, path))
    return await _answer(service, "encode", given, asked, fresh, wait and not _is_async(prefer))


@dataclass(frozen=True)
class Given:
    """The files of a request: uploaded, or named below an allowed folder."""

    uploads: list[UploadFile]
    paths: list[str]
    reference: UploadFile | None = None
    reference_path: str | None = None


def _single(image: UploadFile | None, path: str | None) -> tuple[list[UploadFile], list[str]]:
    if (image is None) == (not path):
        raise Problem("image_missing", "send one image, as the file `image` or as `path`")
    return ([image] if image else []), ([path] if path else [])


def _all_of(service: Service, folder: str) -> list[str]:
    files, there_are_more = pictures_of(service, folder, MOST_AUDITED)
    if there_are_more:
        raise invalid("folder", f"holds more than {MOST_AUDITED} images; name folders below it, or use the command")
    return files


def _taken_in(service: Service, kind: Kind, given: Given, asked: Asked, fresh: bool) -> Run:
    """The run of these files; nothing stays on disk of one that is refused."""
    service.require_room()
    run_id = new_id()
    folder, kept = service.folder_of(run_id), False
    try:
        # A broken file is a fault that an audit names.
        intake = Intake(service, folder, require_images=kind != "audit")
        images = intake.images(given.uploads, given.paths)
        reference = intake.reference(given.reference, given.reference_path)
        request = {**asked.model_dump(), "images": images, "reference": reference}
        run, _ = service.submit(run_id, kind, request, fresh)
        kept = True
        return run
    finally:
        if not kept:
            shutil.rmtree(folder, ignore_errors=True)


async def _answer(service: Service, kind: Kind, given: Given, asked: Asked, fresh: bool, waits: bool) -> Response:
    """The run as it is, or as it has become."""
    run = await run_sync(_taken_in, service, kind, given, asked, fresh)
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
            run = await known_run(service, run.id)
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


def _question(query: str | None, language: str | None) -> str | None:
    require_question(query)
    return query or DEFAULT_QUESTIONS[language or "en"]


def _is_async(prefer: str | None) -> bool:
    return prefer is not None and "respond-async" in prefer
