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
from agenticiqa.batch.samples import Sample
from agenticiqa.config import Settings
from agenticiqa.errors import AgenticIQAError
from agenticiqa.logs import log_context
from agenticiqa.tools.execution import Align

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

    def __call__(self) -> Assess:
        """The assessor's way with a sample."""
        from agenticiqa.assessor import Assessor

        assessor = Assessor(self.settings)
        for client in assessor.parts.vlm_clients.values():
            client.open()
        return Assessing(assessor, self.align)


@dataclass(frozen=True)
class Assessing:
    """An assessor at work on samples."""

    assessor: Assessor
    align: Align | None = None

    def __call__(self, sample: Sample) -> Mapping[str, Any]:
        """The sample's assessment as JSON values."""
        found = self.assessor.assess(
            sample.image_path, sample.query, sample.reference_path, sample.choices, align=self.align
        )
        values: dict[str, Any] = json.loads(found.to_json(indent=None))
        return values

    def close(self) -> None:
        """Lets go of connections."""
        for client in self.assessor.parts.vlm_clients.values():
            client.close()


def attempt(assess: Assess, sample: Sample) -> Record:
    """The sample's record: its assessment, or the reason why there is none."""
    started = time.perf_counter()
    with log_context(sample=sample.sample_id):
        try:
            assessment, error = dict(assess(sample)), None
            error = assessment.get("error")
        except AgenticIQAError as failure:
            assessment, error = None, str(failure)
        except Exception as failure:  # one sample must not end the others
            logger.error("%s failed unexpectedly", sample.sample_id, exc_info=failure)
            assessment, error = None, f"unexpected {type(failure).__name__}: {failure}"
    return _record(sample, assessment, error, time.perf_counter() - started)


def lost(sample: Sample, reason: str) -> Record:
    """The record of a sample whose workers died."""
    return _record(sample, None, reason, 0.0)


def is_done(record: Mapping[str, Any]) -> bool:
    """Whether the record needs no other try."""
    return record.get("error") is None and record.get("assessment") is not None


@dataclass(frozen=True)
class Spent:
    """Model calls and what they cost; None for a cost that nobody knows."""

    calls: int = 0
    cost_usd: float | None = 0.0

    def plus(self, other: Spent) -> Spent:
        """The sum; an unknown cost stays unknown."""
        known = self.cost_usd is not None and other.cost_usd is not None
        return Spent(self.calls + other.calls, (self.cost_usd or 0.0) + (other.cost_usd or 0.0) if known else None)


def spent_on(record: Mapping[str, Any]) -> Spent:
    """What the record's assessment took, by its ledger."""
    nodes = (((record.get("assessment") or {}).get("ledger") or {}).get("nodes") or {}).values()
    costs = [node.get("cost_usd", 0.0) for node in nodes]
    return Spent(sum(node.get("calls") or 0 for node in nodes), None if None in costs else math.fsum(costs))


def _record(sample: Sample, assessment: dict[str, Any] | None, error: str | None, seconds: float) -> Record:
    return {**sample.carried(), "assessment": assessment, "error": error, "seconds": round(max(seconds, 0.0), 4)}
