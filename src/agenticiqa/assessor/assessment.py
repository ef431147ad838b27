"""An assessment: the answer, and everything it rests on, as one record."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

from pydantic import Field, PrivateAttr, ValidationError, computed_field, model_validator

from agenticiqa.assessor.provenance import Provenance, provenance_of
from agenticiqa.assessor.regions import AssessedRegion, assess_regions
from agenticiqa.errors import AgenticIQAError, ReportError, wrong_values
from agenticiqa.images import ImageSource, ImageStore, LabelledImage, LoadedImage, in_role
from agenticiqa.parts import Parts
from agenticiqa.question.read import question_of
from agenticiqa.state import (
    LEVEL_NAMES,
    UNABLE,
    AgenticIQAState,
    DistortionAnalysis,
    ExecutorOutput,
    Ledger,
    LevelLetter,
    PlannerOutput,
    ProbabilitySource,
    Record,
    ReferenceMode,
    SummarizerOutput,
    ToolExecutionLog,
    UsedEvidence,
)
from agenticiqa.values import Answer, Distortion, Language, Reason
from agenticiqa.wording.findings import advice

SCHEMA_VERSION = 3
EARLIER_VERSIONS = (1, 2)
# So many wrong fields are named in a message.
_MOST_FIELDS_NAMED = 3


class Finding(Record):
    """One distortion of one object; without analysis it has no severity."""

    object_name: str
    type: str
    severity: str | None = None
    explanation: str | None = None
    probability: float | None = Field(default=None, description="how likely it is there")
    kind: str | None = Field(default=None, description="the finer kind, where it can be told")
    colour: str | None = Field(default=None, description="of a cast its colour")
    advice: str | None = Field(default=None, description="what to do about it, in the language of the question")


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


class VersionedRecord(Record):
    """Base of what is kept as JSON: a record that an earlier version wrote is read too."""

    schema_version: Literal[3] = 3

    @model_validator(mode="before")
    @classmethod
    def _as_this_version(cls, fields: Any) -> Any:
        """What versions 1 and 2 lack may be left out; the computed `fused_score` is not read back."""
        if not isinstance(fields, dict):
            return fields
        read = {key: value for key, value in fields.items() if key != "fused_score"}
        return read | {"schema_version": SCHEMA_VERSION} if read.get("schema_version") in EARLIER_VERSIONS else read

    def to_json(self, indent: int | None = 2) -> str:
        """The record as JSON; docs/schema/assessment.schema.json describes that of an assessment."""
        return self.model_dump_json(indent=indent)


class Assessment(VersionedRecord):
    """The answer to a question about an image.

    `score` and `level` are the fused ones. Where a level is asked for it is the `answer` too, and a note says so if
    the model chose another; other questions have the model's answer. `value` is the answer as a value: a letter, a yes
    or no, a number or a word; `certainty` and `reasons` are there where the backend gives them.
    """

    query: str
    answer: str
    value: bool | float | str | None = Field(
        default=None, description="the answer as a value; null: there is none, or no yes or no is sure"
    )
    certainty: float | None = Field(default=None, description="how sure the answer is, 0 to 1")
    reasoning: str
    reasons: list[Reason] = Field(default_factory=list, description="each sentence with the value it was made of")
    choices: dict[str, str] = Field(default_factory=dict, description="the answers that were offered, by letter")
    score: float | None = Field(description="fused, 1 (bad) to 5 (excellent)")
    level: LevelLetter | None
    level_name: str | None
    interval: tuple[float, float] | None = Field(description="95 % interval of the score, where it is known")
    tool_score: float | None
    model_score: float | None
    level_probabilities: dict[str, float] | None
    probability_source: ProbabilitySource | None
    distortions: list[Finding]
    tools: list[ToolReading]
    regions: dict[str, AssessedRegion | None] = Field(description="by the name asked for; null: not found")
    notes: list[str]
    evidence_errors: dict[str, str]
    plan: PlannerOutput | None
    iterations: int
    replan_history: list[str]
    gap: str | None
    error: str | None
    ledger: Ledger
    provenance: Provenance
    # The level that the model itself chose where the score means another; a record tells it in its notes.
    _chosen: LevelLetter | None = PrivateAttr(default=None)

    @property
    def overruled(self) -> LevelLetter | None:
        """The level the model chose, where the fused score means another."""
        return self._chosen

    @computed_field(description="the score under the name the method gives it")  # type: ignore[prop-decorator]
    @property
    def fused_score(self) -> float | None:
        return self.score

    @classmethod
    def from_json(cls, text: str | bytes) -> Assessment:
        """A record as `to_json` or `assess --json` wrote it, by this version or an earlier one; raises ReportError."""
        try:
            return cls.model_validate_json(text)
        except ValidationError as error:
            raise ReportError(_unreadable(error)) from error

    @property
    def answered(self) -> bool:
        """Whether there is an answer at all."""
        return self.error is None and self.answer != UNABLE

    def to_html(self, image: ImageSource | None = None) -> str:
        """One self-contained page about this assessment; `image` is shown if the record names no file."""
        from agenticiqa.report.page import single_page

        return single_page(self.model_dump(mode="json"), image)

    def __str__(self) -> str:
        from agenticiqa.assessor.wording import assessment_in_words

        return assessment_in_words(self)

    def _repr_html_(self) -> str:
        from agenticiqa.report.page import card_html

        return card_html(self.model_dump(mode="json"))


def _unreadable(error: ValidationError) -> str:
    entries = error.errors()
    missing = list(dict.fromkeys(str(entry["loc"][0]) for entry in entries if entry["type"] == "missing"))
    found = wrong_values(entry for entry in entries if entry["type"] != "missing")
    complaints = [f"{name} {complaint}".strip() for name, complaint in found.items()]
    if missing:
        more = f" and {len(missing) - _MOST_FIELDS_NAMED} more" if len(missing) > _MOST_FIELDS_NAMED else ""
        complaints.append(f"missing: {', '.join(missing[:_MOST_FIELDS_NAMED])}{more}")
    shown = "; ".join(complaints[:_MOST_FIELDS_NAMED])
    return f"this is no record of an assessment ({shown}); give what `to_json` or `--json` wrote"


def assessment_of(state: AgenticIQAState, parts: Parts, store: ImageStore, wanted: Sequence[str] = ()) -> Assessment:
    """The record of a finished run; an error without an answer is "Unable to determine", with the reason."""
    images = store.images(state["image_path"], state.get("reference_path"))
    image, reference = in_role(images, "image"), in_role(images, "reference")
    located = (state.get("executor_evidence") or ExecutorOutput()).regions
    regions: dict[str, AssessedRegion | None] = {}
    if image is not None and (located or wanted):
        regions = assess_regions(image, reference, located, wanted, parts.settings.pipeline.terms)
    return _record(state, parts, images, regions)


def _record(
    state: AgenticIQAState,
    parts: Parts,
    images: tuple[LabelledImage, ...],
    regions: dict[str, AssessedRegion | None],
) -> Assessment:
    # After an error the state may hold the answer of the pass before, which then stands.
    answered, failed = state.get("summarizer_result"), state.get("error")
    plan, evidence = state.get("plan"), state.get("executor_evidence") or ExecutorOutput()
    used = UsedEvidence.of(answered)
    error = used.error if answered else failed
    level = used.fused_level
    mode: ReferenceMode = plan.reference_mode if plan else "No-Reference"
    # With a weight of 0 the tools are shown and do not vote, unless the model had nothing to say.
    tools_vote = parts.fusion_for(mode)[0].eta > 0 or used.vlm_score is None
    voters = used.tools if tools_vote else {}
    choices = question_of(state).reply.choices
    computed: Answer | None = state.get("answer") if answered else None
    remarks = [note for item in images if item.role == "image" for note in _remarks_on(item.image)]
    if answered and failed:
        remarks.append(f"A further look at the evidence failed, so this is the answer before it ({failed}).")
    made = Assessment(
        query=state["query"],
        answer=(answer := _answer(answered, plan, level)),
        value=_value(answer, choices, computed),
        certainty=computed.certainty if computed else None,
        reasoning=" ".join([answered.quality_reasoning if answered else str(error), *remarks]),
        reasons=list(state.get("reasons") or ()) if answered else [],
        choices=choices,
        score=used.fused_score,
        level=level,
        level_name=LEVEL_NAMES.get(level) if level else None,
        interval=used.interval,
        tool_score=used.tool_score,
        model_score=used.vlm_score,
        level_probabilities=used.level_probabilities,
        probability_source=used.probability_source,
        distortions=_findings(evidence, state.get("findings") or [], question_of(state).reply.language),
        tools=[_reading(log, voters) for log in evidence.tool_logs],
        regions=regions,
        notes=[*used.notes, *remarks],
        evidence_errors=evidence.errors,
        plan=plan,
        iterations=state.get("iteration_count", 0),
        replan_history=state.get("replan_history") or [],
        gap=used.gap,
        error=error,
        ledger=state.get("ledger") or Ledger(),
        provenance=provenance_of(parts, images, mode, used),
    )
    if answered and answered.final_answer in LEVEL_NAMES and level not in (None, answered.final_answer):
        made._chosen = answered.final_answer
    return made


def _answer(answered: SummarizerOutput | None, plan: PlannerOutput | None, level: LevelLetter | None) -> str:
    """The fused level where a level is asked for, so that it agrees with the score; else what the model said."""
    if answered is None:
        return UNABLE
    rated = plan is not None and plan.query_type == "IQA" and answered.final_answer != UNABLE
    return level if rated and level is not None else answered.final_answer


def _value(answer: str, choices: Mapping[str, str], computed: Answer | None) -> bool | float | str | None:
    """The answer as a value: the letter of a level or a choice, else what the backend computed."""
    if answer == UNABLE:
        return None
    if answer in choices or answer in LEVEL_NAMES:
        return answer
    return computed.value if computed else None


def failed_assessment(query: str, error: AgenticIQAError, parts: Parts) -> Assessment:
    """The record of a picture that could not be looked at: "Unable to determine", with the reason."""
    state: AgenticIQAState = {"query": query, "image_path": "", "error": f"{type(error).__name__}: {error}"}
    return _record(state, parts, (), {}).model_copy(update={"reasoning": str(error)})


def _remarks_on(image: LoadedImage) -> list[str]:
    """What a reader has to know of how a picture was judged that is not one opaque picture."""
    remarks = []
    if image.transparent:
        remarks.append("Transparent places were judged as an even grey.")
    if image.frames > 1:
        remarks.append(f"Only one of the {image.frames} pictures in the file was judged.")
    return remarks


def _findings(evidence: ExecutorOutput, values: Sequence[Distortion], language: Language) -> list[Finding]:
    """The findings of the record: what was analysed with what is known of it as values, and what was only detected."""
    known = {(value.place, value.category): value for value in values}
    analyzed = [
        _finding(name, entry, known.get((name, entry.type)), language)
        for name, entries in (evidence.distortion_analysis or {}).items()
        for entry in entries
    ]
    with_severity = {(finding.object_name, finding.type) for finding in analyzed}
    detected = (evidence.distortion_set or {}).items()
    return analyzed + [
        Finding(object_name=name, type=kind)
        for name, kinds in detected
        for kind in kinds
        if (name, kind) not in with_severity
    ]


def _finding(name: str, entry: DistortionAnalysis, value: Distortion | None, language: Language) -> Finding:
    kind = value.kind if value else None
    return Finding(
        object_name=name,
        type=entry.type,
        severity=entry.severity,
        explanation=entry.explanation,
        probability=None if value is None else round(value.probability, 3),
        kind=kind,
        colour=value.colour if value else None,
        advice=None if entry.severity == "none" else advice(entry.type, kind, language),
    )


def _reading(log: ToolExecutionLog, voters: Collection[str]) -> ToolReading:
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


def schema_text() -> str:
    """The schema as it stands in docs/schema/assessment.schema.json."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$comment": f"schema_version {SCHEMA_VERSION}",
        **Assessment.model_json_schema(mode="serialization"),
    }
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(schema_text())
