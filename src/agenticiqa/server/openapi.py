"""What the OpenAPI document says about answers that are problems, about uploads and about fields left out."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from agenticiqa.server.problems import MEDIA_TYPE, Problem, ProblemDetails

_EXAMPLES = {
    400: ("bad_request", "the body is not a form"),
    401: ("token_required", "this service needs its token in the header Authorization: Bearer TOKEN"),
    403: ("path_not_allowed", "photo.jpg: lies outside the folders this service may read"),
    404: ("not_found", "there is no such run or job"),
    408: ("upload_too_slow", "the upload came too slowly and was cut off; try again"),
    409: ("not_ready", "the run is queued; there is a result once it has finished"),
    410: ("gone", "it is no longer here: it was kept for 7 days"),
    413: ("body_too_large", "the request is larger than 64 MB; send less at once"),
    415: ("image_format", "drawing.svg: is not an image this service reads; convert it to one of PNG, JPEG"),
    422: ("image_truncated", "photo.jpg: is empty (0 bytes); choose the file again"),
    429: ("queue_full", "32 runs are waiting already; try again in 4 seconds"),
    500: ("failed", "the assessment failed inside the service; its log says why"),
    502: ("backend", "the model backend could not be used"),
    503: ("stopping", "the service is stopping; try again in a few seconds"),
    504: ("time_limit", "the run took longer than 120 seconds and was ended"),
    507: ("storage_full", "the service has no room left; fetch and delete results, or try again later"),
}
Answers = dict[int | str, dict[str, Any]]


def problems(*statuses: int) -> Answers:
    schema = {"$ref": "#/components/schemas/ProblemDetails"}
    return {
        status: {
            "description": HTTPStatus(status).phrase,
            "content": {MEDIA_TYPE: {"schema": schema, "example": Problem(*_EXAMPLES[status]).as_details()}},
        }
        for status in statuses
    }


def file_answer(*media_types: str) -> Answers:
    """The description of an answer that is a file."""
    schema = {"type": "string", "format": "binary"}
    return {200: {"content": {media_type: {"schema": schema} for media_type in media_types}}}


def complete_schema(app: FastAPI) -> None:

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _completed(app)
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def _completed(app: FastAPI) -> dict[str, Any]:
    found = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
    schemas = found["components"]["schemas"]
    described = ProblemDetails.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas.update(described.pop("$defs"))
    schemas["ProblemDetails"] = described
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    for name, schema in schemas.items():
        is_form = name.startswith("Body_")
        if is_form:
            schema["additionalProperties"] = False
        for field in schema.get("properties", {}).values():
            _as_file(field)
            if is_form:
                _without_null(field)
    found["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    for operations in found["paths"].values():
        for operation in operations.values():
            if "422" in operation["responses"]:
                operation["responses"]["422"] = problems(422)[422]
            operation["security"] = [{}, {"token": []}]
            for parameter in operation.get("parameters", []):
                _without_null(parameter["schema"])
    return found


def _as_file(field: dict[str, Any]) -> None:
    """Describes an upload as client makers know it: a form has no null, and `format: binary` says it is a file."""
    kinds = [kind for kind in field.get("anyOf", [field]) if kind.get("type") != "null"]
    uploads = [kind.get("items", kind) for kind in kinds if "contentMediaType" in kind.get("items", kind)]
    for upload in uploads:
        upload["format"] = "binary"
    if uploads:
        _without_null(field)


def _without_null(field: dict[str, Any]) -> None:
    """Describes an optional field as what it is in a form, an address or a header: there or not there, never null."""
    kinds = [kind for kind in field.get("anyOf", []) if kind.get("type") != "null"]
    if len(kinds) == 1:
        del field["anyOf"]
        field.update(kinds[0])
        if field.get("default", "") is None:
            del field["default"]
