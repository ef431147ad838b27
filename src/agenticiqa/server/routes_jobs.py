"""Batches: submit, look, cancel, take the results."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from typing import Annotated, Literal

from anyio.to_thread import run_sync
from fastapi import APIRouter, Depends, File, Form, Path, UploadFile
from fastapi.responses import JSONResponse, Response, StreamingResponse

from agenticiqa.server.answers import problems
from agenticiqa.server.fields import refuse_unknown_fields
from agenticiqa.server.intake import require_question
from agenticiqa.server.jobs import Item, JobIntake, require_count, require_distinct
from agenticiqa.server.problems import Problem
from agenticiqa.server.routes_runs import Question, Running
from agenticiqa.server.service import Service
from agenticiqa.server.store import Job, new_id
from agenticiqa.server.views import JobView, job_record, job_view

router = APIRouter(prefix="/v1/jobs", tags=["jobs"])

JobId = Annotated[str, Path(examples=["9b1d2c3e4f5061728394a5b6"])]
LINES = "application/x-ndjson"


@router.post(
    "",
    status_code=202,
    response_model=JobView,
    responses=problems(400, 401, 403, 408, 413, 415, 422, 429, 503),
    dependencies=[Depends(refuse_unknown_fields)],
)
async def submit_job(
    service: Running,
    images: Annotated[list[UploadFile] | None, File(description="the images themselves")] = None,
    paths: Annotated[list[str] | None, Form(description="files under an allowed folder")] = None,
    manifest: Annotated[
        UploadFile | None, File(description="JSON Lines or CSV with image_path, query, reference_path, choices …")
    ] = None,
    query: Question = None,
    align: Annotated[Literal["resize"] | None, Form(description="scale references of another size")] = None,
) -> Response:
    """A batch: every image is assessed in turn, after those people wait for."""
    require_question(query)
    job = await run_sync(_taken_in, service, images or [], paths or [], manifest, query, align)
    return JSONResponse(job_view(job), 202, headers={"Location": f"/v1/jobs/{job.id}"})


@router.get("/{job_id}", response_model=JobView, responses=problems(401, 404, 422))
async def read_job(service: Running, job_id: JobId) -> Response:
    """How far a job is."""
    return JSONResponse(job_view(_known(await run_sync(service.store.job, job_id))))


@router.delete("/{job_id}", response_model=JobView, responses=problems(401, 404, 422))
async def cancel_job(service: Running, job_id: JobId) -> Response:
    """Cancels what has not begun; what is at work is finished, and all results stay."""
    return JSONResponse(job_view(_known(await run_sync(service.store.cancel_job, job_id))))


@router.get(
    "/{job_id}/results",
    response_class=StreamingResponse,
    responses={200: {"content": {LINES: {"schema": {"type": "string"}}}}, **problems(401, 404, 422)},
)
async def read_results(service: Running, job_id: JobId) -> StreamingResponse:
    """The results so far as JSON Lines, one record per image, in the order they were asked for."""
    _known(await run_sync(service.store.job, job_id))
    return StreamingResponse(_lines(service, job_id), media_type=LINES)


def _taken_in(
    service: Service,
    images: list[UploadFile],
    paths: list[str],
    manifest: UploadFile | None,
    query: str | None,
    align: str | None,
) -> Job:
    """The job of these files; nothing stays on disk of one that is refused."""
    require_count([*images, *paths, *([manifest] if manifest else [])], service.options.max_job_items)
    intake, items, job = JobIntake(service, query, align), list[Item](), None
    try:
        for place, upload in enumerate(images, 1):
            items.append(intake.from_upload(upload, place))
        items += intake.from_paths(paths) + (intake.from_manifest(manifest) if manifest else [])
        require_count(items, service.options.max_job_items)
        require_distinct(items)
        job = service.submit_job(new_id(), items)
        return job
    finally:
        if job is None:
            for run_id, _ in items:
                shutil.rmtree(service.folder_of(run_id), ignore_errors=True)


def _known(job: Job | None) -> Job:
    if job is None:
        raise Problem("not_found", "there is no such job, or it is no longer kept")
    return job


def _lines(service: Service, job_id: str) -> Iterator[bytes]:
    after = 0
    while runs := service.store.job_runs(job_id, after):
        for run in runs:
            after = run.place
            if run.has_ended:
                yield json.dumps(job_record(run), ensure_ascii=False).encode() + b"\n"
