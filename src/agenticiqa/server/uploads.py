"""What is sent with a request: images stored, questions and choices checked, the images of a job one by one."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
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
from agenticiqa.server.problems import FieldError, Problem, invalid, invalid_fields, problem_of
from agenticiqa.server.service import Service
from agenticiqa.server.storage.database import new_id
from agenticiqa.server.workers.messages import Asked, Json, RunFile, RunRequest

Item = tuple[str, RunRequest]
MANIFESTS = (".jsonl", ".csv")
# Wrong lines of a manifest that are named.
_SHOWN = 10
# Bytes: of a piece that is read at once, and those by which an image is known.
CHUNK = 2**20
HEAD = 4096
# How many files, and how many other fields, Starlette's form parser takes at most.
FORM_PARTS = 1000


async def refuse_unknown_fields(request: Request) -> None:
    """Raises Problem where the form or the address of the request holds a field its route does not have."""
    route: APIRoute = request.scope["route"]
    known = (route.dependant, *route.dependant.dependencies)
    form = sorted(field.alias for part in known for field in part.body_params)
    address = sorted(field.alias for part in known for field in part.query_params)
    wrong = [
        FieldError(field=name, message=unknown_name(name, allowed, "field"))
        for given, allowed in ((await request.form(), form), (request.query_params, address))
        for name in given
        if name not in allowed
    ]
    if wrong:
        raise invalid_fields(wrong)


@dataclass(frozen=True)
class Given:
    """The files of a request: uploaded, or named below an allowed folder."""

    uploads: Sequence[UploadFile]
    paths: Sequence[str]
    reference: UploadFile | None = None
    reference_path: str | None = None


def take_in(service: Service, folder: Path, given: Given, require_images: bool) -> tuple[list[RunFile], RunFile | None]:
    """Images and reference of a request, put into the folder of its run; raises Problem.

    Without `require_images` an upload that is no image is kept too, for its run to fail by.
    """
    if given.reference is not None and given.reference_path:
        raise invalid("reference_path", "give the reference as a file or as a path, not both")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    images = [
        _written(folder / f"image-{place}", upload, require_images) for place, upload in enumerate(given.uploads, 1)
    ]
    for place, path in enumerate(given.paths, len(images) + 1):
        images.append(_copied(service, folder / f"image-{place}", path))
    if given.reference is not None:
        return images, _written(folder / "reference", given.reference, require_images)
    return images, _copied(service, folder / "reference", given.reference_path) if given.reference_path else None


def _written(file: Path, upload: UploadFile, require_image: bool) -> RunFile:
    name = uploaded_name(upload.filename)
    digest, head = hashlib.sha256(), b""
    with open(file, "wb") as target:
        while chunk := upload.file.read(CHUNK):
            head = head or chunk[:HEAD]
            digest.update(chunk)
            target.write(chunk)
    if require_image:
        _require_image(head, name)
    return RunFile(file=file.name, name=name, sha256=digest.hexdigest())


def _copied(service: Service, file: Path, path: str) -> RunFile:
    name = display_name(path)
    try:
        data = service.read_allowed(path, name)
    except ImageError as error:
        raise problem_of(error) from None
    except (ValueError, OSError):
        raise Problem("path_not_found", f"{name}: no such file") from None
    _require_image(data[:HEAD], name)
    file.write_bytes(data)
    return RunFile(file=file.name, name=name, sha256=hashlib.sha256(data).hexdigest())


def _require_image(head: bytes, name: str) -> None:
    if not head:
        raise Problem("image_truncated", f"{name}: is empty (0 bytes); choose the file again")
    if sniff(head) is None:
        raise Problem(
            "image_format", f"{name}: is not an image this service reads; convert it to one of {', '.join(MEDIA_TYPES)}"
        )


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
    if query and not query.strip():
        raise Problem("query", "query: is blank; ask something or leave it out")


def require_encodable(values: Any) -> None:
    """Raises ValueError for half a character, which JSON can escape and no answer can hold."""
    try:
        json.dumps(values, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ValueError("holds half of a character (a lone surrogate)") from None


def job_runs(
    service: Service,
    images: Sequence[UploadFile],
    paths: Sequence[str],
    manifest: UploadFile | None,
    asked: Asked,
    pictures: bool,
    undo: ExitStack,
) -> list[Item]:
    """The runs of a job: of uploads, which lie in their folders then, of paths, and of the lines of a manifest.

    What is asked holds for every image that has no question of its own. An upload that is no image fails alone, with
    its run; whatever else is wrong is wrong with the job. `undo` removes the folders again.
    """

    def run_of(line: Json, image: RunFile, reference: RunFile | None = None) -> RunRequest:
        query = line.get("query") or asked.query
        sample = {"image_path": image.path or image.name, **line, "query": query}
        sample["sample_id"] = str(sample.get("sample_id") or sample["image_path"])
        own = {"query": query, "choices": line.get("choices"), "sample": sample, "pictures": pictures}
        return RunRequest(**{**asked.model_dump(), **own}, images=[image], reference=reference)

    def named(path: str, file: str) -> RunFile:
        service.require_allowed(path)
        return RunFile(file=file, name=display_name(path), path=path)

    most = service.options.max_job_items
    lines: list[Json] = [{"image_path": path} for path in paths]
    lines += _manifest_lines(manifest, most) if manifest else []
    _require_count(len(images) + len(lines), most)
    items = []
    for place, upload in enumerate(images, 1):
        run_id = new_id()
        folder = service.folder_of(run_id)
        undo.callback(shutil.rmtree, folder, ignore_errors=True)
        (image,), _ = take_in(service, folder, Given([upload], []), require_images=False)
        items.append((run_id, run_of({"sample_id": f"{place} {image.name}"}, image)))
    for line in lines:
        reference = named(line["reference_path"], "reference") if line.get("reference_path") else None
        items.append((new_id(), run_of(line, named(line["image_path"], "image-1"), reference)))
    _require_distinct((request.sample or {})["sample_id"] for _, request in items)
    return items


def _require_count(count: int, most: int) -> None:
    if not count:
        raise Problem("image_missing", "a job needs `images`, `paths` or a `manifest`")
    if count > most:
        raise invalid("images", f"a job may have {most} images, not {count}; split it")


def _require_distinct(ids: Iterable[str]) -> None:
    twice = [name for name, times in Counter(ids).items() if times > 1]
    if twice:
        raise invalid("sample_id", f"{twice[0]!r} is used twice; give every image an id of its own")


def _manifest_lines(manifest: UploadFile, most: int) -> list[Json]:
    """The values of each line of a JSON Lines or CSV table; raises Problem with the first lines that are wrong."""
    name = uploaded_name(manifest.filename)
    suffix = Path(name).suffix.lower()
    if suffix not in MANIFESTS:
        raise invalid("manifest", f"{name}: must be a .jsonl or .csv file")
    good: list[Json] = []
    bad: list[str] = []
    with tempfile.NamedTemporaryFile(suffix=suffix) as table:
        shutil.copyfileobj(manifest.file, table, CHUNK)
        table.flush()
        try:
            for line, values in READERS[suffix](Path(table.name)):
                try:
                    good.append(_checked(values))
                except ValueError as error:
                    bad.append(f"line {line}: {error}")
                if len(bad) > _SHOWN or len(good) > most:
                    break
        except AgenticIQAError:
            raise invalid("manifest", "cannot be read as a table") from None
    if bad:
        raise invalid("manifest", "; ".join(bad[:_SHOWN]))
    return good


def _checked(values: Json | BadLine) -> Json:
    """The values of a line, choices by letter; raises ValueError with what is wrong."""
    if isinstance(values, BadLine):
        raise ValueError(values.problem)
    given = {**values, "choices": sample_from(values, "/").choices}
    require_encodable(given)
    return {name: value for name, value in given.items() if value is not None}


def digest_of(items: Sequence[Item]) -> str:
    """What makes two jobs the same: the bytes of uploads, the paths and the questions, in their order."""
    return hashlib.sha256("\n".join(request.model_dump_json() for _, request in items).encode()).hexdigest()
