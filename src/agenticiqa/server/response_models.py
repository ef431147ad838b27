"""What the service answers with: runs, jobs, tools, examples, limits, health."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import BaseModel, Field

from agenticiqa.assessor import Assessment, Ranking
from agenticiqa.assessor.tool_measurements import Measured
from agenticiqa.batch.samples import FIELDS
from agenticiqa.encode import Encoding
from agenticiqa.server.problems import ProblemDetails
from agenticiqa.server.storage.database import Job, Run, Status
from agenticiqa.server.workers.messages import AuditResult, Kind
from agenticiqa.state import Region

HealthStatus = Literal["ready", "starting", "stopping", "damaged"]


class RunUrls(BaseModel):
    """Where everything about a run is found."""

    self: str
    events: str
    report: str | None = Field(description="of kinds assess and compare, as are the pictures")
    images: list[str]
    maps: list[str]
    grids: list[str]
    reference: str | None
    copy_file: str | None = Field(description="the file of kind encode")


class RunState(BaseModel):
    """A run and how far it is."""

    run_id: str = Field(examples=["5f0c1f0e9d7b4a6c8e21a0b3"])
    kind: Kind
    status: Status
    created: datetime
    finished: datetime | None
    names: list[str] = Field(examples=[["photo.jpg"]])


class RunSummary(RunState):
    """A run in a list, without its result."""

    url: str


class RunView(RunState):
    """A run: its state, and its result once it has finished."""

    started: datetime | None
    shared: bool = Field(description="an identical request was there before, and its work was used")
    position: int | None = Field(description="place in the queue, 1 is next")
    reference_name: str | None
    query: str | None
    choices: dict[str, str] | None
    urls: RunUrls
    assessment: Assessment | None = Field(description="the result of kind assess")
    ranking: Ranking | None = Field(description="the result of kind compare")
    advice: list[list[str | None]] | None = Field(
        description="for every image, and every distortion of its assessment, what to do about it"
    )
    order: list[int] | None = Field(description="which uploaded image, counted from 1, each entry of the ranking is")
    measurements: list[Measured] | None = Field(description="the result of kind measure")
    audit: AuditResult | None = Field(description="the result of kind audit")
    encoding: Encoding | None = Field(description="the result of kind encode; the file is at `urls.copy_file`")
    problem: ProblemDetails | None = Field(description="why there is no result")


class RunsPage(BaseModel):
    """Runs, the newest first, and where the list goes on."""

    runs: list[RunSummary]
    next: str | None


class LayerView(BaseModel):
    """One flaw, or the difference from the reference, on a coarse grid from 0 (none) to 1 (as strong as it gets)."""

    name: str = Field(examples=["softness"])
    legend: str
    rows: int
    columns: int
    grid: list[list[float]]


class MapView(BaseModel):
    """Local quality from 1 to 5 on a coarse grid, and the worst region in pixels of the upright image."""

    rows: int
    columns: int
    grid: list[list[float]]
    worst: Region
    width: int
    height: int
    layers: list[LayerView] = []


class DifferenceView(LayerView):
    """What differs between two pictures, as a layer, with its mean from 0 to 1."""

    mean: float
    scaled: bool = Field(description="the pictures have different sizes; the second was scaled to the first")


class FoldersView(BaseModel):
    """The folders whose files may be named by path."""

    folders: list[str]


class FolderFiles(BaseModel):
    """The pictures of a folder, as paths to name them by."""

    files: list[str]
    more: bool = Field(description="there are more than are listed")


class JobView(BaseModel):
    """A batch and how far it is."""

    job_id: str
    status: Status
    created: datetime
    total: int
    counts: dict[str, int] = Field(examples=[{"queued": 7, "running": 2, "finished": 11}])
    results_url: str
    report_url: str


class JobsPage(BaseModel):
    """Jobs, the newest first, and where the list goes on."""

    jobs: list[JobView]
    next: str | None


class ToolsView(BaseModel):
    """The IQA tools, as `agenticiqa tools --json` lists them."""

    tools: list[dict[str, Any]]


class Example(BaseModel):
    """An image to try at once."""

    id: str
    title: str
    question: str
    image_url: str
    reference_url: str | None
    file_name: str
    credit: str
    licence: str


class ExamplesView(BaseModel):
    """Images to try at once."""

    examples: list[Example]


class LimitsView(BaseModel):
    """What the service accepts."""

    max_request_bytes: int
    max_pixels: int
    max_images: int
    max_pixels_by_format: dict[str, int] = Field(examples=[{"PNG": 50_000_000, "WebP": 48_000_000}])
    max_aspect_ratio: int = Field(description="so many times as long as wide an image may be")
    max_job_items: int = Field(description="images of one job that are named in a manifest")
    max_job_uploads: int = Field(description="images of one job that are uploaded with it")
    max_job_paths: int = Field(description="images of one job that are named in the field `paths`")
    max_jobs: int = Field(description="jobs that may be open at once")
    requests_per_minute: int | None = Field(description="of one client; null where there is no such limit")
    max_query_characters: int
    queue: int
    time_limit_seconds: float
    token_required: bool
    formats: list[str]
    languages: list[str] = Field(description="those a question may be in", examples=[["en", "zh"]])


class HealthView(BaseModel):
    """Whether the service can work, and how busy it is."""

    status: HealthStatus = Field(description="damaged: what the service keeps its runs in cannot be read; restart it")
    version: str
    workers: int
    workers_ready: int
    running: int
    moved_aside: str | None = Field(
        default=None, description="the file of earlier runs that was found damaged at the start and put aside"
    )


class LiveView(BaseModel):
    """The process answers."""

    status: Literal["live"] = "live"


def run_summary(run: Run) -> dict[str, Any]:
    return {**_state_of(run), "url": f"/v1/runs/{run.id}"}


def run_view(run: Run, position: int | None = None) -> dict[str, Any]:
    """The run as JSON values; results were validated when they were made."""
    result, reference = run.result or {}, run.request.reference
    parts = ("assessment", "ranking", "order", "measurements", "audit", "encoding")
    return {
        **_state_of(run),
        "started": _moment(run.started),
        "shared": run.shares is not None,
        "position": position,
        "reference_name": reference.name if reference else None,
        "query": run.request.query,
        "choices": run.request.choices,
        "urls": _urls(run),
        **{part: result.get(part) for part in parts},
        "advice": _advice(result),
        "problem": run.problem,
    }


def _state_of(run: Run) -> dict[str, Any]:
    return {
        "run_id": run.id,
        "kind": run.kind,
        "status": run.status,
        "created": _moment(run.created),
        "finished": _moment(run.finished),
        "names": run.request.names,
    }


def job_view(job: Job) -> dict[str, Any]:
    return {
        "job_id": job.id,
        "status": job.status,
        "created": _moment(job.created),
        "total": job.total,
        "counts": job.counts,
        "results_url": f"/v1/jobs/{job.id}/results",
        "report_url": f"/v1/jobs/{job.id}/report.html",
    }


def job_record(run: Run) -> dict[str, Any]:
    """One line of a job's results, in the form of every batch record."""
    assessment, sample = (run.result or {}).get("assessment"), run.request.sample or {}
    error = assessment["error"] if assessment else None
    if run.problem is not None:
        error = run.problem["detail"]
    elif run.status == "cancelled":
        error = "cancelled"
    seconds = (run.finished or 0.0) - (run.started or run.finished or 0.0)
    return {
        **{name: sample.get(name) for name in FIELDS},
        "run_id": run.id,
        "assessment": assessment,
        "error": error,
        "seconds": round(max(seconds, 0.0), 4),
    }


def _urls(run: Run) -> dict[str, Any]:
    base = f"/v1/runs/{run.id}"
    is_judged = run.kind in ("assess", "compare")
    places = range(1, len(run.request.images) + 1 if is_judged else 1)
    return {
        "self": base,
        "events": f"{base}/events",
        "report": f"{base}/report.html" if is_judged else None,
        "images": [f"{base}/image.webp?n={place}" for place in places],
        "maps": [f"{base}/map.png?n={place}" for place in places],
        "grids": [f"{base}/map.json?n={place}" for place in places],
        "reference": f"{base}/reference.webp" if is_judged and run.request.reference else None,
        "copy_file": f"{base}/copy" if run.kind == "encode" else None,
    }


def _advice(result: dict[str, Any]) -> list[list[str | None]] | None:
    """What to do about each distortion, for the images in the order they were given."""
    if "assessment" in result:
        found = [result["assessment"]]
    elif "ranking" in result:
        by_place = dict(zip(result["order"], result["ranking"]["entries"], strict=True))
        found = [by_place[place]["assessment"] for place in sorted(by_place)]
    else:
        return None
    return [[finding.get("advice") for finding in one["distortions"]] for one in found]


def _moment(seconds: float | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat()
