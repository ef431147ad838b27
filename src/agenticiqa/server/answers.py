"""What the OpenAPI document says about answers that are problems."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from agenticiqa.server.problems import MEDIA_TYPE, details

_EXAMPLES = {
    400: ("bad_request", "the body is not a form"),
    401: ("token_required", "this service needs its token in the header Authorization: Bearer TOKEN"),
    403: ("path_not_allowed", "photo.jpg: lies outside the folders this service may read"),
    404: ("not_found", "there is no such run, or it is no longer kept"),
    408: ("upload_too_slow", "the upload came too slowly and was cut off; try again"),
    409: ("not_ready", "the run is queued; there is a result once it has finished"),
    413: ("body_too_large", "the request is larger than 64 MB; send less at once"),
    415: ("image_format", "drawing.svg: is not an image this service reads; convert it to one of PNG, JPEG"),
    422: ("image_truncated", "photo.jpg: is empty (0 bytes); choose the file again"),
    429: ("queue_full", "32 runs are waiting already; try again in 4 seconds"),
    500: ("failed", "the assessment failed inside the service; its log says why"),
    502: ("backend", "the model backend could not be used"),
    503: ("stopping", "the service is stopping; try again in a few seconds"),
    504: ("time_limit", "the run took longer than 120 seconds and was ended"),
}


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The descriptions of these answers."""
    return {status: _described(status) for status in statuses}


def _described(status: int) -> dict[str, Any]:
    example = details(*_EXAMPLES[status])
    schema = {"$ref": "#/components/schemas/ProblemDetails"}
    return {
        "description": HTTPStatus(status).phrase,
        "content": {MEDIA_TYPE: {"schema": schema, "example": example}},
    }


RUN_PROBLEMS = problems(400, 401, 403, 404, 408, 413, 415, 422, 429, 500, 502, 503, 504)
