"""Errors as the service says them: RFC 9457 problem details with a stable code, without paths or stack traces."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from agenticiqa import errors
from agenticiqa.server.storage.retention import is_disk_full

MEDIA_TYPE = "application/problem+json"


class FieldError(BaseModel):
    """One field of a request that cannot be used."""

    field: str
    message: str


class ProblemDetails(BaseModel):
    """What went wrong, in a form programs can rely on: `code` never changes its meaning."""

    type: str = Field(examples=["urn:agenticiqa:problem:queue_full"])
    title: str = Field(examples=["Too Many Requests"])
    status: int = Field(examples=[429])
    detail: str = Field(examples=["32 runs are waiting already; try again in 4 seconds"])
    code: str = Field(examples=["queue_full"])
    run_id: str | None = None
    errors: list[FieldError] | None = None


class Problem(HTTPException):
    """A problem on its way to the client; `retry_after` is in seconds."""

    # An HTTPException, because FastAPI turns whatever else is raised while a body is read into a bare 400.
    def __init__(
        self,
        code: str,
        detail: str,
        *,
        run_id: str | None = None,
        retry_after: int | None = None,
        headers: Mapping[str, str] | None = None,
        field_errors: list[FieldError] | None = None,
    ) -> None:
        later = {} if retry_after is None else {"Retry-After": str(retry_after)}
        super().__init__(STATUSES[code], detail, {**(headers or {}), **later})
        self.code = code
        self.run_id = run_id
        self.field_errors = field_errors

    def as_details(self) -> dict[str, Any]:
        """The problem as JSON values; what is not known is left out."""
        found = ProblemDetails(
            type=f"urn:agenticiqa:problem:{self.code}",
            title=HTTPStatus(self.status_code).phrase,
            status=self.status_code,
            detail=self.detail,
            code=self.code,
            run_id=self.run_id,
            errors=self.field_errors,
        )
        return found.model_dump(exclude_none=True)

    def as_response(self) -> JSONResponse:
        return problem_response(self.as_details(), self.headers)


STATUSES = {
    "bad_request": 400,
    "token_required": 401,
    "cross_origin": 403,
    "list_not_allowed": 403,
    "path_not_allowed": 403,
    "not_found": 404,
    "no_map": 404,
    "path_not_found": 404,
    "method_not_allowed": 405,
    "upload_too_slow": 408,
    "not_ready": 409,
    "gone": 410,
    "body_too_large": 413,
    "image_too_large": 413,
    "image_format": 415,
    "host_not_allowed": 421,
    "invalid_request": 422,
    "key_reused": 422,
    "query": 422,
    "encoding": 422,
    "image": 422,
    "image_missing": 422,
    "image_shape": 422,
    "image_size_mismatch": 422,
    "image_too_small": 422,
    "image_truncated": 422,
    "queue_full": 429,
    "rate_limited": 429,
    "too_many_uploads": 429,
    "headers_too_large": 431,
    "failed": 500,
    "worker_failed": 500,
    "backend": 502,
    "stopping": 503,
    "time_limit": 504,
    "storage_full": 507,
}

# The most special class that fits decides; a class that is not here is a failure of ours.
_CODES: tuple[tuple[type[errors.AgenticIQAError], str], ...] = (
    (errors.ImageFormatError, "image_format"),
    (errors.ImageTruncatedError, "image_truncated"),
    (errors.ImageTooLargeError, "image_too_large"),
    (errors.ImageTooSmallError, "image_too_small"),
    (errors.ImageShapeError, "image_shape"),
    (errors.ImageSizeMismatchError, "image_size_mismatch"),
    (errors.ImageAspectMismatchError, "image_size_mismatch"),
    (errors.ImageOutsideRootError, "path_not_allowed"),
    (errors.ImagePermissionError, "path_not_allowed"),
    (errors.ImageNotFoundError, "path_not_found"),
    (errors.ImageIsDirectoryError, "path_not_found"),
    (errors.ImageError, "image"),
    (errors.QueryError, "query"),
    (errors.EncodingError, "encoding"),
    (errors.ToolUnavailableError, "invalid_request"),
    (errors.UsageError, "invalid_request"),
    (errors.MissingExtraError, "image_format"),
    (errors.BackendError, "backend"),
    (errors.ModelReplyError, "backend"),
)


def storage_full() -> Problem:
    return Problem(
        "storage_full", "the service has no room left; fetch and delete results, or try again later", retry_after=30
    )


def invalid(field: str, message: str) -> Problem:
    return invalid_fields([FieldError(field=field, message=message)])


def invalid_fields(found: list[FieldError]) -> Problem:
    detail = "; ".join(f"{error.field}: {error.message}" for error in found)
    return Problem("invalid_request", detail, field_errors=found)


def problem_of(error: Exception) -> Problem:
    """The problem behind an error; one that was not raised on purpose is not described."""
    if isinstance(error, Problem):
        return error
    for kind, code in _CODES:
        if isinstance(error, kind):
            return Problem(code, error.message_naming(lambda name, value: f"set the field `{name}` to {value}"))
    if is_disk_full(error):
        return storage_full()
    return Problem("failed", "the assessment failed inside the service; its log says why")


def problem_response(problem: dict[str, Any], headers: Mapping[str, str] | None = None) -> JSONResponse:
    return JSONResponse(problem, problem["status"], headers=headers, media_type=MEDIA_TYPE)
