"""What is sent with a request: images stored, questions and choices checked, the images of a job one by one."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from fastapi import Request
from fastapi.routing import APIRoute
from starlette.datastructures import UploadFile

from agenticiqa.batch.manifest_tables import READERS, BadLine
from agenticiqa.batch.samples import sample_from
from agenticiqa.errors import AgenticIQAError, ImageError, unknown_name
from agenticiqa.images.containers import MEDIA_TYPES, sniff
from agenticiqa.question.choices import choices_by_letter
from agenticiqa.server.display_names import display_name, uploaded_name
from agenticiqa.server.problems import FieldError, Problem, details_of
from agenticiqa.server.service import Service
from agenticiqa.server.storage.database import new_id

Json = dict[str, Any]
Item = tuple[str, Json]
MANIFESTS = (".jsonl", ".csv")
_SHOWN = 10
CHUNK = 2**20
HEAD = 4096
# How many files, and how many other fields, the form parser takes at most.
FORM_PARTS = 1000


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


class JobIntake:
    """Makes the runs of one job; uploads are put into their folders."""

    def __init__(self, service: Service, query: str | None, align: str | None, pictures: bool = False) -> None:
        self._service = service
        self._query = query
        self._align = align
        self._pictures = pictures

    def from_upload(self, upload: UploadFile, place: int) -> Item:
        """The run of an uploaded file, which fails alone where the file is no image."""
        run_id = new_id()
        folder = self._service.folder_of(run_id)
        try:
            (image,) = Intake(self._service, folder, require_images=False).images([upload], [])
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return run_id, self._request({"sample_id": f"{place} {image['name']}"}, image)

    def from_paths(self, paths: list[str]) -> list[Item]:
        """One run per file under an allowed folder."""
        return [self._from_values({"image_path": path}) for path in paths]

    def from_manifest(self, upload: UploadFile) -> list[Item]:
        """One run per line of a JSON Lines or CSV table whose paths lie under an allowed folder."""
        name = uploaded_name(upload.filename)
        suffix = Path(name).suffix.lower()
        if suffix not in MANIFESTS:
            raise invalid("manifest", f"{name}: must be a .jsonl or .csv file")
        with tempfile.NamedTemporaryFile(suffix=suffix) as table:
            while chunk := upload.file.read(2**20):
                table.write(chunk)
            table.flush()
            lines = self._lines(Path(table.name), suffix)
        return [self._from_values(values) for values in lines]

    def _lines(self, table: Path, suffix: str) -> list[Json]:
        good: list[Json] = []
        bad: list[str] = []
        try:
            for line, values in READERS[suffix](table):
                try:
                    good.append(_checked(values))
                except ValueError as error:
                    bad.append(f"line {line}: {error}")
                if len(bad) > _SHOWN or len(good) > self._service.options.max_job_items:
                    break
        except AgenticIQAError:
            raise invalid("manifest", "cannot be read as a table") from None
        if bad:
            raise invalid("manifest", "; ".join(bad[:_SHOWN]))
        return good

    def _from_values(self, values: Json) -> Item:
        path = values["image_path"]
        self._service.require_allowed(path)
        image = {"file": "image-1", "name": display_name(path), "path": path}
        reference = None
        if values.get("reference_path"):
            self._service.require_allowed(values["reference_path"])
            other = values["reference_path"]
            reference = {"file": "reference", "name": display_name(other), "path": other}
        return new_id(), self._request(values, image, reference)

    def _request(self, values: Json, image: Json, reference: Json | None = None) -> Json:
        query = values.get("query") or self._query
        sample = {"image_path": image.get("path", image["name"]), **values, "query": query}
        sample["sample_id"] = str(values.get("sample_id") or sample["image_path"])
        return {
            "images": [image],
            "reference": reference,
            "query": query,
            "choices": values.get("choices"),
            "max_replan_iterations": None,
            "align": self._align,
            "pictures": self._pictures,
            "sample": sample,
        }


def digest_of(items: list[Item]) -> str:
    """What makes two jobs the same: the bytes of uploads, the paths and the questions, in their order."""
    digest = hashlib.sha256()
    for _, request in items:
        digest.update(json.dumps(request, sort_keys=True).encode() + b"\n")
    return digest.hexdigest()


def require_distinct(items: list[Item]) -> None:
    """Nothing, unless two runs of a job have one id."""
    seen: set[str] = set()
    for _, request in items:
        name = request["sample"]["sample_id"]
        if name in seen:
            raise invalid("sample_id", f"{name!r} is used twice; give every image an id of its own")
        seen.add(name)


def require_count(items: list[Any], most: int) -> None:
    """Nothing, unless there is no image or too many."""
    if not items:
        raise Problem("image_missing", "a job needs `images`, `paths` or a `manifest`")
    if len(items) > most:
        raise invalid("images", f"a job may have {most} images, not {len(items)}; split it")


def _checked(values: Json | BadLine) -> Json:
    """The values of a line, choices by letter; raises ValueError with what is wrong."""
    if isinstance(values, BadLine):
        raise ValueError(values.problem)
    choices = sample_from(values, "/").choices
    given = {**values, "choices": choices}
    require_encodable(given)
    return {name: value for name, value in given.items() if value is not None}
