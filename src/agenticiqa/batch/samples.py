"""One sample of a batch (an image, a question, what is known of the answer), and the way to the record made of it."""

from __future__ import annotations

import difflib
import hashlib
import json
import logging
import math
import os
import stat
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

from agenticiqa.config import Settings
from agenticiqa.errors import AgenticIQAError
from agenticiqa.images import Align
from agenticiqa.logs import log_context
from agenticiqa.question.choices import choices_by_letter
from agenticiqa.tools.tool import Measurement

if TYPE_CHECKING:
    from agenticiqa.assessor import Assessor

logger = logging.getLogger("agenticiqa.batch")

FIELDS = ("sample_id", "query", "image_path", "reference_path", "choices", "answer", "mos", "metadata")


@dataclass(frozen=True)
class Sample:
    """What is asked about one image; `answer`, `mos` and `metadata` are carried into the record and never shown."""

    sample_id: str
    image_path: str
    query: str | None = None
    reference_path: str | None = None
    choices: Mapping[str, str] | None = None
    answer: str | None = None
    mos: float | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    line: int | None = field(default=None, compare=False)
    """Where it stood in its manifest."""

    def carried(self) -> dict[str, Any]:
        """The fields that go into the record."""
        return {name: getattr(self, name) for name in FIELDS}


@dataclass(frozen=True)
class Spent:
    """Model calls, those of them a service may charge for, and what they cost; None for a cost that nobody knows."""

    calls: int = 0
    cost_usd: float | None = 0.0
    paid_calls: int = 0

    def plus(self, other: Spent) -> Spent:
        """The sum; an unknown cost stays unknown."""
        known = self.cost_usd is not None and other.cost_usd is not None
        cost = (self.cost_usd or 0.0) + (other.cost_usd or 0.0) if known else None
        return Spent(self.calls + other.calls, cost, self.paid_calls + other.paid_calls)


class BatchRecord(BaseModel):
    """What is kept of a sample: itself, its assessment or the reason why there is none, and what that rests on.

    `assessment` is what the batch's assessing gave, as JSON values. Fields that were never set are not written.
    """

    # A later version may know further fields; they are kept where a record is written again.
    model_config = ConfigDict(frozen=True, extra="allow", defer_build=True)

    sample_id: str = Field(strict=True)
    query: str | None = None
    image_path: str | None = None
    reference_path: str | None = None
    choices: dict[str, str] | None = None
    answer: str | None = None
    mos: float | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)
    content: dict[str, str | None] | None = Field(default=None, description="the hashes of the files when judged")
    assessment: dict[str, Any] | None
    error: str | None = None
    seconds: float = 0.0
    measurements: dict[str, float] | None = Field(default=None, description="what further tools said, by name")
    made_with: str | None = Field(default=None, description="the digest of settings and models")
    gone: str | None = Field(default=None, description="deleted or overwritten: the picture is not what was judged")

    def values(self) -> dict[str, Any]:
        """The record as JSON values; a file name may have bytes that are no UTF-8, which stay as they are."""
        return self.model_dump(exclude_unset=True)

    def line(self) -> bytes:
        """The record as a line of a file of records."""
        return json.dumps(self.values(), allow_nan=False).encode() + b"\n"

    @property
    def is_done(self) -> bool:
        """Whether the sample needs no other try."""
        return self.error is None and self.assessment is not None

    @property
    def is_gone(self) -> bool:
        """Whether the picture was deleted or overwritten since, and no run was asked about it again."""
        return self.gone is not None

    @property
    def judged_content(self) -> dict[str, str | None]:
        """The hashes of the files that were judged; of a record without them, those in its assessment."""
        if self.content is not None:
            return self.content
        images = ((self.assessment or {}).get("provenance") or {}).get("images") or {}
        hashes = {label: (origin or {}).get("sha256") for label, origin in images.items()}
        return {"image": hashes.get("test image"), "reference": hashes.get("reference image")}

    @property
    def spent(self) -> Spent:
        """What the assessment took, by its ledger."""
        nodes = (((self.assessment or {}).get("ledger") or {}).get("nodes") or {}).values()
        costs = [node.get("cost_usd", 0.0) for node in nodes]
        calls, paid = (sum(node.get(name) or 0 for node in nodes) for name in ("calls", "paid_calls"))
        return Spent(calls, None if None in costs else math.fsum(costs), paid)


def sample_from(values: Mapping[str, Any], root: str, line: int | None = None) -> Sample:
    """The sample these values describe, its paths seen from `root`; raises ValueError with what is wrong."""
    _refuse_unknown(values)
    given = {name: value for name, value in values.items() if value is not None}
    if "image_path" not in given:
        raise ValueError("image_path is missing")
    checked = {name: _CHECKS[name](name, value) for name, value in given.items()}
    named = checked.setdefault("sample_id", checked["image_path"])
    if not named.strip():
        raise ValueError("sample_id is blank")
    for name in ("image_path", "reference_path"):
        if name in checked:
            # Absolute, so that a record and a worker elsewhere mean the same file wherever the command was typed.
            checked[name] = os.path.abspath(os.path.join(root, checked[name]))
    return Sample(**checked, line=line)


def id_digest(sample_id: str) -> bytes:
    """The id in sixteen bytes, whatever its length."""
    return hashlib.blake2b(sample_id.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def question_digest(asked: Sample | BatchRecord) -> bytes:
    """What the answer depends on, in eight bytes: the question, its choices and the files' names.

    The folders are left out, so that images may be moved between two runs.
    """
    names = [os.path.basename(path or "") for path in (asked.image_path, asked.reference_path)]
    choices = None if asked.choices is None else dict(asked.choices)
    return digest(json.dumps([asked.query, choices, names], sort_keys=True))


def content_of(named: Sample | BatchRecord) -> dict[str, str | None]:
    """The hashes of the image and its reference as they are now; None for a file that cannot be read."""
    paths = {"image": named.image_path, "reference": named.reference_path}
    return {name: file_hash(path) if path else None for name, path in paths.items()}


def content_digest(content: Mapping[str, str | None]) -> bytes:
    """Both files' hashes in eight bytes."""
    return digest(f"{content.get('image')} {content.get('reference')}")


def digest(text: str) -> bytes:
    """The text in eight bytes."""
    return hashlib.blake2b(text.encode(), digest_size=8).digest()


def file_hash(path: str) -> str | None:
    """The SHA-256 of a regular file; None for anything else, and for one that cannot be read."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return None
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ValueError):
        return None


def _refuse_unknown(values: Mapping[str, Any]) -> None:
    for name in values:
        if name not in FIELDS:
            close = difflib.get_close_matches(str(name), FIELDS, 1)
            hint = f"did you mean {close[0]}?" if close else "put values of your own under metadata"
            raise ValueError(f"unknown field {name!r}; {hint}")


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{name} must be text, not {value!r}")
    return value


def _path(name: str, value: Any) -> str:
    if not _text(name, value).strip() or "\0" in value:
        raise ValueError(f"{name} must be a path, not {value!r}")
    return str(value)


def _identifier(name: str, value: Any) -> str:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else _text(name, value)


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{name} must be a number, not {value!r}")
    return float(value)


def _mapping(name: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise ValueError(f"{name} must be values by name, not {value!r}")
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as error:
        # A record that cannot be written would be noticed only after it was paid for.
        raise ValueError(f"{name} must be values that JSON can hold ({error})") from None
    return dict(value)


_CHECKS: dict[str, Callable[[str, Any], Any]] = {
    "sample_id": _identifier,
    "query": _text,
    "image_path": _path,
    "reference_path": _path,
    "choices": choices_by_letter,
    "answer": _identifier,
    "mos": _number,
    "metadata": _mapping,
}

Assess = Callable[[Sample], Mapping[str, Any]]
"""Gives an assessment as JSON values; what it raises becomes the record's error."""
Prepare = Callable[[], Assess]
"""Loads what assessing needs, once per worker."""


@dataclass(frozen=True)
class AssessWith:
    """Prepares an assessor with these settings; can be sent to another process.

    `measure` names tools and `regions` things that every picture is measured with and searched for besides.
    """

    settings: Settings
    align: Align | None = None
    measure: tuple[str, ...] = ()
    regions: tuple[str, ...] = ()

    def __call__(self) -> Assess:
        """The assessor's way with a sample."""
        from agenticiqa.assessor import Assessor

        assessor = Assessor(self.settings)
        for client in assessor.parts.vlm_clients.values():
            client.open()
        return Assessing(assessor, self)


@dataclass(frozen=True)
class Assessing:
    """An assessor at work on samples."""

    assessor: Assessor
    options: AssessWith

    def __call__(self, sample: Sample) -> Mapping[str, Any]:
        """The sample's assessment as JSON values."""
        found = self.assessor.assess(
            sample.image_path,
            sample.query,
            reference=sample.reference_path,
            choices=sample.choices,
            align=self.options.align,
            regions=self.options.regions,
        )
        values: dict[str, Any] = json.loads(found.to_json(indent=None))
        return {**values, "measurements": self._measured(sample)} if self.options.measure else values

    def _measured(self, sample: Sample) -> dict[str, float]:
        """What the tools say, without those that cannot look at this picture."""
        from agenticiqa.assessor.tool_measurements import measure_with

        tools, found = self.assessor.parts.tools, dict[str, Measurement]()
        store = self.assessor.parts.settings.image_store()
        for name in self.options.measure:
            try:
                found |= measure_with(
                    tools, store, sample.image_path, sample.reference_path, [name], self.options.align
                )
            except AgenticIQAError as error:
                logger.warning("%s: %s", sample.sample_id, error)
        return {name: measured.raw for name, measured in found.items()}

    def close(self) -> None:
        """Lets go of connections."""
        for client in self.assessor.parts.vlm_clients.values():
            client.close()


def attempt(assess: Assess, sample: Sample) -> BatchRecord:
    """The sample's record: its assessment, or the reason why there is none."""
    started = time.perf_counter()
    # Before the picture is opened: one that is overwritten meanwhile is then found changed, never unchanged.
    found: dict[str, Any] = {"content": content_of(sample), "assessment": None}
    with log_context(sample=sample.sample_id):
        try:
            assessment = dict(assess(sample))
            if "measurements" in assessment:
                found["measurements"] = assessment.pop("measurements")
            found |= {"assessment": assessment, "error": assessment.get("error")}
        except AgenticIQAError as failure:
            found["error"] = str(failure)
        except Exception as failure:  # one sample must not end the others
            logger.error("%s failed unexpectedly", sample.sample_id, exc_info=failure)
            found["error"] = f"unexpected {type(failure).__name__}: {failure}"
    return BatchRecord(**sample.carried(), **found, seconds=round(time.perf_counter() - started, 4))


def lost_record(sample: Sample, reason: str) -> BatchRecord:
    """The record of a sample whose workers died."""
    return BatchRecord(**sample.carried(), content={}, assessment=None, error=reason, seconds=0.0)
