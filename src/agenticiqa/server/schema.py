"""The OpenAPI document, completed: problems are described once, and validation errors are problems too."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from agenticiqa.server.answers import problems
from agenticiqa.server.problems import ProblemDetails

REFERENCE = "#/components/schemas/{model}"


def complete_schema(app: FastAPI) -> None:
    """Has the application hand out the completed document."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _completed(app)
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def _completed(app: FastAPI) -> dict[str, Any]:
    found = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
    schemas = found["components"]["schemas"]
    described = ProblemDetails.model_json_schema(ref_template=REFERENCE)
    schemas.update(described.pop("$defs"))
    schemas["ProblemDetails"] = described
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    for name, schema in schemas.items():
        if name.startswith("Body_"):
            schema["additionalProperties"] = False
        for field in schema.get("properties", {}).values():
            _as_file(field)
    found["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    for operations in found["paths"].values():
        for operation in operations.values():
            if "422" in operation["responses"]:
                operation["responses"]["422"] = problems(422)[422]
            operation["security"] = [{}, {"token": []}]
    return found


def _as_file(field: dict[str, Any]) -> None:
    """Describes an upload as client makers know it: a form has no null, and `format: binary` says it is a file."""
    kinds = [kind for kind in field.get("anyOf", [field]) if kind.get("type") != "null"]
    uploads = [kind.get("items", kind) for kind in kinds if "contentMediaType" in kind.get("items", kind)]
    for upload in uploads:
        upload["format"] = "binary"
    if uploads and "anyOf" in field:
        del field["anyOf"]
        field.update(kinds[0])
