"""From the fields of a job to one request per image."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

from starlette.datastructures import UploadFile

from agenticiqa.batch.manifest_tables import READERS, BadLine
from agenticiqa.batch.samples import sample_from
from agenticiqa.errors import AgenticIQAError
from agenticiqa.server.display_names import display_name, uploaded_name
from agenticiqa.server.problems import Problem
from agenticiqa.server.service import Service
from agenticiqa.server.storage.database import new_id
from agenticiqa.server.uploads import Intake, invalid, require_encodable

Json = dict[str, Any]
Item = tuple[str, Json]
MANIFESTS = (".jsonl", ".csv")
_SHOWN = 10


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
