"""From a sample to its record, whatever happens on the way."""

from __future__ import annotations

import json
import logging
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agenticiqa.batch.journal import Record
from agenticiqa.batch.samples import Sample, content_of
from agenticiqa.config import Settings
from agenticiqa.errors import AgenticIQAError
from agenticiqa.images import Align
from agenticiqa.logs import log_context
from agenticiqa.tools.tool import Measurement

if TYPE_CHECKING:
    from agenticiqa.assessor import Assessor

logger = logging.getLogger("agenticiqa.batch")

Assess = Callable[[Sample], Mapping[str, Any]]
"""Gives an assessment as JSON values; what it raises becomes the record's error."""
Prepare = Callable[[], Assess]
"""Loads what assessing needs, once per worker."""


@dataclass(frozen=True)
class AssessWith:
    """Prepares an assessor with these settings; can be sent to another process."""

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
        return Assessing(assessor, self.align, self.measure, self.regions)


@dataclass(frozen=True)
class Assessing:
    """An assessor at work on samples; `measure` names tools and `regions` things that every picture is measured
    with and searched for besides."""

    assessor: Assessor
    align: Align | None = None
    measure: tuple[str, ...] = ()
    regions: tuple[str, ...] = ()

    def __call__(self, sample: Sample) -> Mapping[str, Any]:
        """The sample's assessment as JSON values."""
        found = self.assessor.assess(
            sample.image_path,
            sample.query,
            reference=sample.reference_path,
            choices=sample.choices,
            align=self.align,
            regions=self.regions,
        )
        values: dict[str, Any] = json.loads(found.to_json(indent=None))
        return {**values, "measurements": self._measured(sample)} if self.measure else values

    def _measured(self, sample: Sample) -> dict[str, float]:
        """What the tools say, without those that cannot look at this picture."""
        from agenticiqa.assessor.tool_measurements import measure_with

        tools, found = self.assessor.parts.tools, dict[str, Measurement]()
        store = self.assessor.parts.settings.image_store()
        for name in self.measure:
            try:
                found |= measure_with(tools, store, sample.image_path, sample.reference_path, [name], self.align)
            except AgenticIQAError as error:
                logger.warning("%s: %s", sample.sample_id, error)
        return {name: measured.raw for name, measured in found.items()}

    def close(self) -> None:
        """Lets go of connections."""
        for client in self.assessor.parts.vlm_clients.values():
            client.close()


def attempt(assess: Assess, sample: Sample) -> Record:
    """The sample's record: its assessment, or the reason why there is none."""
    started = time.perf_counter()
    # Before the picture is opened: one that is overwritten meanwhile is then found changed, never unchanged.
    content, measurements = content_of(sample.carried()), None
    with log_context(sample=sample.sample_id):
        try:
            assessment = dict(assess(sample))
            error, measurements = assessment.get("error"), assessment.pop("measurements", None)
        except AgenticIQAError as failure:
            assessment, error = None, str(failure)
        except Exception as failure:  # one sample must not end the others
            logger.error("%s failed unexpectedly", sample.sample_id, exc_info=failure)
            assessment, error = None, f"unexpected {type(failure).__name__}: {failure}"
    record = _record(sample, assessment, error, time.perf_counter() - started, content)
    return record if measurements is None else {**record, "measurements": measurements}


def lost_record(sample: Sample, reason: str) -> Record:
    """The record of a sample whose workers died."""
    return _record(sample, None, reason, 0.0, {})


def is_gone(record: Mapping[str, Any]) -> bool:
    """Whether the record's picture was deleted or overwritten since, and no run was asked about it again."""
    return record.get("gone") is not None


def judged_content(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """The hashes of the files that were judged; of a record without them, those in its assessment."""
    if "content" in record:
        return record["content"] or {}
    images = ((record.get("assessment") or {}).get("provenance") or {}).get("images") or {}
    hashes = {label: (origin or {}).get("sha256") for label, origin in images.items()}
    return {"image": hashes.get("test image"), "reference": hashes.get("reference image")}


def is_done(record: Mapping[str, Any]) -> bool:
    """Whether the record needs no other try."""
    return record.get("error") is None and record.get("assessment") is not None


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


def spent_on(record: Mapping[str, Any]) -> Spent:
    """What the record's assessment took, by its ledger."""
    nodes = (((record.get("assessment") or {}).get("ledger") or {}).get("nodes") or {}).values()
    costs = [node.get("cost_usd", 0.0) for node in nodes]
    calls, paid = (sum(node.get(name) or 0 for node in nodes) for name in ("calls", "paid_calls"))
    return Spent(calls, None if None in costs else math.fsum(costs), paid)


def _record(
    sample: Sample, assessment: dict[str, Any] | None, error: str | None, seconds: float, content: Mapping[str, Any]
) -> Record:
    return {
        **sample.carried(),
        "content": dict(content),
        "assessment": assessment,
        "error": error,
        "seconds": round(max(seconds, 0.0), 4),
    }
