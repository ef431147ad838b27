"""What is sent with a request: images stored, questions and choices checked, unknown fields refused."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from fastapi import Request
from fastapi.routing import APIRoute
from starlette.datastructures import UploadFile

from agenticiqa.errors import ImageError, unknown_name
from agenticiqa.images.containers import MEDIA_TYPES, sniff
from agenticiqa.question.choices import choices_by_letter
from agenticiqa.server.display_names import display_name, uploaded_name
from agenticiqa.server.problems import FieldError, Problem, details_of
from agenticiqa.server.service import Service


async def refuse_unknown_fields(request: Request) -> None:
    """Nothing, unless the form or the address of the request holds a field its route does not have."""
    route: APIRoute = request.scope["route"]
    form = [field.alias for field in route.dependant.body_params]
    address = [field.alias for field in route.dependant.query_params]
    found = [*_unknown(await request.form(), form), *_unknown(request.query_params, address)]
    if found:
        detail = "; ".join(f"{error.field}: {error.message}" for error in found)
        raise Problem("invalid_request", detail, field_errors=found)


def _unknown(given: Iterable[str], allowed: list[str]) -> list[FieldError]:
    return [
        FieldError(field=name, message=unknown_name(name, sorted(allowed), "field"))
        for name in dict.fromkeys(given)
        if name not in allowed
    ]


Json = dict[str, Any]
CHUNK = 2**20
HEAD = 4096
# How many files, and how many other fields, the form parser takes at most.
FORM_PARTS = 1000


class Intake:
    """Takes the images of one request into the folder of its run.

    Without `require_images` an upload that is no image is kept too, for its run to fail by.
    """

    def __init__(self, service: Service, folder: Path, *, require_images: bool = True) -> None:
        self._service = service
        self._folder = folder
        self._require_images = require_images
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def images(self, uploads: Sequence[UploadFile], paths: Sequence[str]) -> list[Json]:
        """The entries of uploaded files, then of paths under allowed folders."""
        found = [self._uploaded(upload, f"image-{place}") for place, upload in enumerate(uploads, 1)]
        return found + [self._copied(path, f"image-{place}") for place, path in enumerate(paths, len(found) + 1)]

    def reference(self, upload: UploadFile | None, path: str | None) -> Json | None:
        """The entry of the reference, if there is one."""
        if upload is not None and path:
            raise invalid("reference_path", "give the reference as a file or as a path, not both")
        if upload is not None:
            return self._uploaded(upload, "reference")
        return self._copied(path, "reference") if path else None

    def _uploaded(self, upload: UploadFile, file: str) -> Json:
        name = uploaded_name(upload.filename)
        digest, head = hashlib.sha256(), b""
        with open(self._folder / file, "wb") as target:
            while chunk := upload.file.read(CHUNK):
                head = head or chunk[:HEAD]
                digest.update(chunk)
                target.write(chunk)
        if self._require_images:
            _require_image(head, name)
        return {"file": file, "name": name, "sha256": digest.hexdigest()}

    def _copied(self, path: str, file: str) -> Json:
        name = display_name(path)
        try:
            data = self._service.read_allowed(path, name)
        except ImageError as error:
            found = details_of(error)
            raise Problem(found["code"], found["detail"]) from None
        except (ValueError, OSError):
            raise Problem("path_not_found", f"{name}: no such file") from None
        _require_image(data[:HEAD], name)
        (self._folder / file).write_bytes(data)
        return {"file": file, "name": name, "sha256": hashlib.sha256(data).hexdigest()}


def parsed_choices(text: str | None) -> dict[str, str] | None:
    """The choices of a JSON object such as {"A": "Yes", "B": "No"}, or of a list, which is lettered in order."""
    if not text:
        return None
    try:
        found = choices_by_letter("they", json.loads(text))
        require_encodable(found)
    except (json.JSONDecodeError, RecursionError):
        raise invalid("choices", 'is not JSON; write for example {"A": "Yes", "B": "No"} or ["Yes", "No"]') from None
    except ValueError as error:
        raise invalid("choices", str(error)) from None
    return found


def require_question(query: str | None) -> None:
    """Nothing, unless there is a question of spaces only."""
    if query and not query.strip():
        raise Problem("query", "query: is blank; ask something or leave it out")


def require_encodable(values: Any) -> None:
    """Raises ValueError for half a character, which JSON can escape and no answer can hold."""
    try:
        json.dumps(values, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ValueError("holds half of a character (a lone surrogate)") from None


def invalid(field: str, message: str) -> Problem:
    """The problem of a field that cannot be used."""
    return Problem("invalid_request", f"{field}: {message}", field_errors=[FieldError(field=field, message=message)])


def _require_image(head: bytes, name: str) -> None:
    if not head:
        raise Problem("image_truncated", f"{name}: is empty (0 bytes); choose the file again")
    if sniff(head) is None:
        raise Problem(
            "image_format", f"{name}: is not an image this service reads; convert it to one of {', '.join(MEDIA_TYPES)}"
        )
