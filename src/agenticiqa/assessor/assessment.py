"""An assessment: the answer, and everything it rests on, as one record."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from agenticiqa.assessor.provenance import Provenance, provenance_of
from agenticiqa.images import ImageSource
from agenticiqa.nodes.pictures import Pictures
from agenticiqa.parts import Parts
from agenticiqa.state import (
    LEVEL_NAMES,
    UNABLE,
    AgenticIQAState,
    ExecutorOutput,
    Ledger,
    LevelLetter,
    PlannerOutput,
    Region,
    ToolExecutionLog,
)
from agenticiqa.vlm_client.client import ProbabilitySource

SCHEMA_VERSION = 1


class Record(BaseModel):
    """Base of what is written down: frozen, unknown fields are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Finding(Record):
    """One distortion of one object; without analysis it has no severity."""

    object_name: str
    type: str
    severity: str | None = None
    explanation: str | None = None


class ToolReading(Record):
    """What one tool said of one object, raw and on the 1–5 scale, and whether it entered the fusion."""

    tool: str
    object_name: str
    distortion: str
    raw: float | None
    calibrated: float | None
    voted: bool
    fallback: bool
    error: str | None
    notes: list[str]
    seconds: float


class Assessment(Record):
    """The answer to a question about an image.

    `score` and `level` are the fused ones; `answer` is what the model said, which may differ and then is noted.
    """

    schema_version: Literal[1] = 1
    query: str
    answer: str
    reasoning: str
    score: float | None = Field(description="fused, 1 (bad) to 5 (excellent)")
    level: LevelLetter | None
    level_name: str | None
    interval: tuple[float, float] | None = Field(description="95 % interval of the score, where it is known")
    tool_score: float | None
    model_score: float | None
    fused_score: float | None
    level_probabilities: dict[str, float] | None
    probability_source: ProbabilitySource | None
    distortions: list[Finding]
    tools: list[ToolReading]
    regions: dict[str, Region | None]
    notes: list[str]
    evidence_errors: dict[str, str]
    plan: PlannerOutput | None
    iterations: int
    replan_history: list[str]
    gap: str | None
    error: str | None
    ledger: Ledger
    provenance: Provenance

    @property
    def answered(self) -> bool:
        """Whether there is an answer at all."""
        return self.error is None and self.answer != UNABLE

    def to_json(self, indent: int | None = 2) -> str:
        """The record as JSON; docs/schema/assessment.schema.json describes it."""
        return self.model_dump_json(indent=indent)

    def to_html(self, image: ImageSource | None = None) -> str:
        """One self-contained page about this assessment; `image` is shown if the record names no file."""
        from agenticiqa.report.writing import single_page

        return single_page(self.model_dump(mode="json"), image)

    def _repr_html_(self) -> str:
        from agenticiqa.report.card import card_html

        return card_html(self.model_dump(mode="json"))


def assessment_of(state: AgenticIQAState, parts: Parts, pictures: Pictures) -> Assessment:
    """The record of a finished run; an error without an answer is "Unable to determine", with the reason."""
    # After an error the state may still hold the result of an earlier pass; that one was found wanting.
    answered = None if state.get("error") else state.get("summarizer_result")
    plan, evidence = state.get("plan"), state.get("executor_evidence") or ExecutorOutput()
    used: dict[str, Any] = (answered and answered.used_evidence) or {}
    error = state.get("error") or used.get("error")
    level = used.get("fused_level")
    return Assessment(
        query=state["query"],
        answer=answered.final_answer if answered else UNABLE,
        reasoning=answered.quality_reasoning if answered else str(error),
        score=used.get("fused_score"),
        level=level,
        level_name=LEVEL_NAMES.get(level) if level else None,
        interval=used.get("interval"),
        tool_score=used.get("tool_score"),
        model_score=used.get("vlm_score"),
        fused_score=used.get("fused_score"),
        level_probabilities=used.get("level_probabilities"),
        probability_source=used.get("probability_source"),
        distortions=_findings(evidence),
        tools=[_reading(log, used.get("tools") or {}) for log in evidence.tool_logs],
        regions=evidence.regions,
        notes=used.get("notes") or [],
        evidence_errors=evidence.errors,
        plan=plan,
        iterations=state.get("iteration_count", 0),
        replan_history=state.get("replan_history") or [],
        gap=used.get("gap"),
        error=error,
        ledger=state.get("ledger") or Ledger(),
        provenance=provenance_of(parts, pictures.of(state), plan.reference_mode if plan else "No-Reference"),
    )


def _findings(evidence: ExecutorOutput) -> list[Finding]:
    analysis = evidence.distortion_analysis or {}
    analyzed = [
        Finding(object_name=name, type=entry.type, severity=entry.severity, explanation=entry.explanation)
        for name, entries in analysis.items()
        for entry in entries
    ]
    known = {(finding.object_name, finding.type) for finding in analyzed}
    detected = (evidence.distortion_set or {}).items()
    return analyzed + [
        Finding(object_name=name, type=kind) for name, kinds in detected for kind in kinds if (name, kind) not in known
    ]


def _reading(log: ToolExecutionLog, voters: dict[str, float]) -> ToolReading:
    return ToolReading(
        tool=log.tool_name,
        object_name=log.object_name,
        distortion=log.distortion,
        raw=log.raw_score,
        calibrated=log.normalized_score,
        voted=log.normalized_score is not None and log.tool_name in voters,
        fallback=log.fallback,
        error=log.error,
        notes=log.notes,
        seconds=log.execution_time,
    )
