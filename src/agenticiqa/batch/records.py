"""From a sample to its record, whatever happens on the way."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agenticiqa.batch.samples import BatchRecord, Sample, content_of
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


def attempt(assess: Assess, sample: Sample) -> BatchRecord:
    """The sample's record: its assessment, or the reason why there is none."""
    started = time.perf_counter()
    # Before the picture is opened: one that is overwritten meanwhile is then found changed, never unchanged.
    content, measurements = content_of(sample), None
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
    return record if measurements is None else record.model_copy(update={"measurements": measurements})


def lost_record(sample: Sample, reason: str) -> BatchRecord:
    """The record of a sample whose workers died."""
    return _record(sample, None, reason, 0.0, {})


def _record(
    sample: Sample,
    assessment: dict[str, Any] | None,
    error: str | None,
    seconds: float,
    content: dict[str, str | None],
) -> BatchRecord:
    return BatchRecord(
        **sample.carried(),
        content=content,
        assessment=assessment,
        error=error,
        seconds=round(max(seconds, 0.0), 4),
    )
