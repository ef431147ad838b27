"""Batches: submit, look, cancel, take the results."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import islice
from typing import Annotated, Literal

from anyio.to_thread import run_sync
from fastapi import APIRouter, Depends, File, Form, Header, Path, Query, UploadFile
from fastapi.responses import HTMLResponse, JSONResponse, Response, StreamingResponse

from agenticiqa.report.figures import extremes
from agenticiqa.report.page import SHOWN, page_of
from agenticiqa.report.records import rows_of
from agenticiqa.server.openapi import problems
from agenticiqa.server.problems import Problem
from agenticiqa.server.response_models import JobsPage, JobView, job_record, job_view
from agenticiqa.server.routes.asking import Question
from agenticiqa.server.routes.runs import (
    OF_A_RESULT,
    OF_A_RUN,
    PAGE,
    Before,
    PageSize,
    Remove,
    Running,
    next_page,
    report_response,
    require_listing,
    require_there,
)
from agenticiqa.server.service import Service
from agenticiqa.server.storage.database import Job, Run, new_id
from agenticiqa.server.uploads import digest_of, job_runs, refuse_unknown_fields, require_question
from agenticiqa.server.workers.messages import Asked
from agenticiqa.server.workers.pictures import stored_picture

router = APIRouter(prefix="/v1/jobs", tags=["jobs"])

JobId = Annotated[str, Path(examples=["9b1d2c3e4f5061728394a5b6"])]
LINES = "application/x-ndjson"


@router.post(
    "",
    summary="Hand in a batch",
    status_code=202,
    response_model=JobView,
    responses=problems(400, 401, 403, 408, 413, 415, 422, 429, 503, 507),
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
    pictures: Annotated[bool, Form(description="keep a preview and a map of every image; takes longer")] = False,
    idempotency_key: Annotated[
        str | None,
        Header(min_length=1, max_length=200, description="the same job again for the same key, sent twice or not"),
    ] = None,
) -> Response:
    """A batch: every image is assessed in turn, after those people wait for."""
    require_question(query)
    asked = Asked(query=query, align=align)

    def taken_in() -> tuple[Job, bool]:
        """The job of these files, and whether it is new; nothing stays on disk of one that is refused or known."""
        with ExitStack() as undo:
            items = job_runs(service, images or [], paths or [], manifest, asked, pictures, undo)
            job, is_new = service.submit_job(new_id(), items, idempotency_key, digest_of(items))
            if is_new:
                undo.pop_all()
            return job, is_new

    job, is_new = await run_sync(taken_in)
    headers = {"Location": f"/v1/jobs/{job.id}"} | ({} if is_new else {"Idempotent-Replayed": "true"})
    return JSONResponse(job_view(job), 202, headers=headers)


@router.get("", summary="List batches", response_model=JobsPage, responses=problems(401, 403, 422))
async def list_jobs(service: Running, limit: PageSize = 50, before: Before = None) -> Response:
    """The jobs, the newest first."""
    require_listing(service)
    jobs = await run_sync(service.store.list_jobs, before, limit)
    return JSONResponse({"jobs": [job_view(job) for job in jobs], "next": next_page("/v1/jobs", jobs, limit)})


@router.get("/{job_id}", summary="Look at a batch", response_model=JobView, responses=OF_A_RUN)
async def read_job(service: Running, job_id: JobId) -> Response:
    """How far a job is."""
    return JSONResponse(job_view(await _known(service, job_id)))


@router.delete("/{job_id}", summary="Cancel or remove a batch", response_model=JobView, responses=OF_A_RESULT)
async def cancel_job(service: Running, job_id: JobId, remove: Remove = False) -> Response:
    """Cancels what has not begun; what is at work is finished, all results stay, and an ended job stays as it is.

    With `remove` an ended job goes with all its results.
    """
    job = require_there(service, job_id, await run_sync(service.store.cancel_job, job_id))
    if remove:
        if not job.has_ended:
            raise Problem("not_ready", "the job has not ended; try again in a moment", retry_after=1)
        await run_sync(service.retention.remove, "job", job_id, "it was deleted on request")
    return JSONResponse(job_view(job))


@router.get(
    "/{job_id}/results",
    summary="The records of a batch",
    response_class=StreamingResponse,
    responses={200: {"content": {LINES: {"schema": {"type": "string"}}}}, **OF_A_RUN},
)
async def read_results(
    service: Running,
    job_id: JobId,
    skip: Annotated[int, Query(ge=0, le=1_000_000, description="so many images are left out at the beginning")] = 0,
    limit: Annotated[int | None, Query(ge=1, le=1_000_000, description="so many images at most")] = None,
) -> StreamingResponse:
    """The results so far as JSON Lines, one record per image, in the order they were asked for."""
    job = await _known(service, job_id)
    last = job.total if limit is None else min(job.total, skip + limit)
    headers = {}
    if last < job.total:
        headers["Link"] = f'</v1/jobs/{job_id}/results?skip={last}&limit={limit}>; rel="next"'
    return StreamingResponse(_lines(service, job, skip, last), media_type=LINES, headers=headers)


@router.get("/{job_id}/report.html", summary="A report on a batch", **PAGE)
async def read_job_report(service: Running, job_id: JobId) -> HTMLResponse:
    """One self-contained page about all images of an ended job, with those pictures that were kept."""
    job = await _known(service, job_id)
    if not job.has_ended:
        raise Problem("not_ready", "the job has not ended; there is a report once it has")
    return report_response(await run_sync(_report, service, job))


def _report(service: Service, job: Job) -> str:
    runs = list(_runs(service, job))
    records = [job_record(run) for run in runs]
    shown = {index for group in extremes(rows_of(records), SHOWN) for index in group}
    pictures = {index: stored_picture(service.folder_of(runs[index].id), 1) for index in shown}
    return page_of(records, pictures, SHOWN)


async def _known(service: Service, job_id: str) -> Job:
    return require_there(service, job_id, await run_sync(service.store.job, job_id))


def _runs(service: Service, job: Job) -> Iterator[Run]:
    """The runs of a job, read a hundred at a time."""
    after = 0
    while runs := service.store.job_runs(job.id, after):
        yield from runs
        after = runs[-1].place


def _lines(service: Service, job: Job, skip: int, last: int) -> Iterator[bytes]:
    """The records of the images from `skip` to `last`; a job that has ended and was read to its end is fetched."""
    for run in islice(_runs(service, job), skip, last):
        if run.has_ended:
            yield json.dumps(job_record(run), ensure_ascii=False).encode() + b"\n"
    if job.has_ended and last == job.total:
        service.fetched("jobs", job.id)
