"""Whether the service lives, whether it can work, what it accepts, and what it has counted."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any, get_args

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse

from agenticiqa.images.containers import MEDIA_TYPES
from agenticiqa.images.load import ImageLimits, limits_by_format
from agenticiqa.question.text import Language
from agenticiqa.server.openapi import problems
from agenticiqa.server.response_models import HealthView, LimitsView, LiveView
from agenticiqa.server.routes.runs import Running
from agenticiqa.server.service import Service
from agenticiqa.server.service_options import MEGABYTE
from agenticiqa.server.uploads import FORM_PARTS

router = APIRouter(tags=["service"])


@router.get("/v1/health", summary="How the service is", response_model=HealthView)
async def read_health(service: Running) -> Response:
    """How the service is."""
    return JSONResponse(_health(service))


@router.get("/v1/health/live", summary="Is the process alive?", response_model=LiveView)
async def read_live() -> LiveView:
    """The process answers."""
    return LiveView()


@router.get(
    "/v1/health/ready", summary="Can it take work?", response_model=HealthView, responses={503: {"model": HealthView}}
)
async def read_ready(service: Running) -> Response:
    """200 when runs are taken and kept and at least one worker has its models loaded, 503 otherwise."""
    found = _health(service)
    return JSONResponse(found, 200 if found["status"] == "ready" else 503)


@router.get("/v1/limits", summary="What the service accepts", responses=problems(401))
async def read_limits(service: Running) -> LimitsView:
    """What the service accepts."""
    options, bounds = service.options, service.settings.pipeline.limits
    return LimitsView(
        max_request_bytes=options.max_request_megabytes * MEGABYTE,
        max_pixels=bounds.max_pixels,
        max_images=options.max_images,
        max_pixels_by_format=limits_by_format(bounds.max_pixels),
        max_aspect_ratio=ImageLimits().max_ratio,
        max_job_items=options.max_job_items,
        max_job_uploads=min(options.max_job_items, FORM_PARTS),
        max_job_paths=min(options.max_job_items, FORM_PARTS),
        max_jobs=options.max_jobs,
        requests_per_minute=options.requests_per_minute or None,
        max_query_characters=bounds.max_query_characters,
        queue=options.queue,
        time_limit_seconds=options.time_limit,
        token_required=options.token is not None,
        formats=list(MEDIA_TYPES),
        languages=list(get_args(Language)),
    )


@router.get(
    "/metrics",
    summary="Counters for Prometheus",
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}, **problems(401)},
    response_class=Response,
)
def read_metrics(service: Running) -> Response:
    """Counters for Prometheus."""
    return Response(service.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


def _health(service: Service) -> dict[str, Any]:
    # Nothing here may wait: an overloaded service still has to say how it is.
    ready_workers = service.pool.ready
    status = "ready" if ready_workers else "starting"
    if service.store.is_damaged:
        status = "damaged"
    if service.stopping.is_set():
        status = "stopping"
    return {
        "status": status,
        "version": version("agenticiqa"),
        "workers": service.options.workers,
        "workers_ready": ready_workers,
        "running": service.pool.busy,
        "moved_aside": None if service.store.moved_aside is None else service.store.moved_aside.name,
    }
