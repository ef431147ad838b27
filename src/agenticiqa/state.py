"""The values that travel through the agent: plan, evidence, answer, ledger, and the graph's state."""

# No postponed annotations here: a TypedDict could not tell required keys from others.

import logging
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, NotRequired, Self, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    FiniteFloat,
    StringConstraints,
    field_validator,
    model_validator,
)

# LangGraph makes JSON schemas of the state, and below Python 3.12 pydantic can read only this TypedDict.
from typing_extensions import TypedDict

logger = logging.getLogger("agenticiqa.state")

DistortionCategory = Literal[
    "Blurs", "Color distortions", "Compression", "Noise", "Brightness change", "Sharpness", "Contrast"
]
Severity = Literal["none", "slight", "moderate", "severe", "extreme"]
LevelLetter = Literal["A", "B", "C", "D", "E"]
QueryType = Literal["IQA", "Other"]
ReferenceMode = Literal["Full-Reference", "No-Reference"]
DistortionSource = Literal["Explicit", "Inferred"]
ProbabilitySource = Literal["logprobs", "samples", "builtin", "classification", "uniform"]
GapKind = Literal["missing_analysis", "no_scores", "missing_scores", "contradiction", "uncertainty"]

DISTORTION_CATEGORIES: tuple[DistortionCategory, ...] = get_args(DistortionCategory)
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
LEVEL_LETTERS: tuple[LevelLetter, ...] = get_args(LevelLetter)
LEVEL_NAMES: dict[LevelLetter, str] = {"A": "Excellent", "B": "Good", "C": "Fair", "D": "Poor", "E": "Bad"}
LEVEL_SCORES: dict[LevelLetter, int] = {"A": 5, "B": 4, "C": 3, "D": 2, "E": 1}

GLOBAL: Literal["Global"] = "Global"
OVERALL: Literal["Overall"] = "Overall"
"""Reserved key under which tools run when no distortion was found."""
UNABLE = "Unable to determine"
NO_REASON = "No reason provided"
MAX_REPLAN_HISTORY = 10
DEFAULT_MAX_REPLAN_ITERATIONS = 2

# The spellings models really produce, beyond upper and lower case, hyphens and plurals.
_CATEGORY_SPELLINGS: dict[str, DistortionCategory] = {
    "blur": "Blurs", "blurry": "Blurs", "blurring": "Blurs", "blurriness": "Blurs",
    "color": "Color distortions", "colour": "Color distortions", "color distortion": "Color distortions",
    "colour distortion": "Color distortions", "colour distortions": "Color distortions",
    "compression artifact": "Compression", "compression artifacts": "Compression",
    "compression artefacts": "Compression", "noises": "Noise", "noisy": "Noise",
    "brightness": "Brightness change", "brightness changes": "Brightness change",
    "sharpening": "Sharpness", "contrast change": "Contrast", "contrast changes": "Contrast",
}  # fmt: skip
_SEVERITY_SPELLINGS: dict[str, Severity] = {
    "no": "none", "absent": "none", "mild": "slight", "minor": "slight", "light": "slight", "medium": "moderate",
    "strong": "severe", "heavy": "severe", "very severe": "extreme",
}  # fmt: skip
_QUERY_TYPE_SPELLINGS: dict[str, QueryType] = {"explanation": "Other", "mcq": "Other", "qa": "Other"}
_REFERENCE_SPELLINGS: dict[str, ReferenceMode] = {"fr": "Full-Reference", "nr": "No-Reference"}


def _fold(text: str) -> str:
    return re.sub(r"[\s_-]+", " ", text).strip().casefold()


def canonical(value: object, allowed: tuple[str, ...], spellings: dict[str, Any] | None = None) -> object:
    """The allowed value this one spells; unknown values come back unchanged, for validation to reject."""
    if not isinstance(value, str):
        return value
    folded = _fold(value)
    for name in allowed:
        if _fold(name) == folded:
            return name
    return (spellings or {}).get(folded, value)


def canonical_category(value: object) -> object:
    """The distortion category a spelling stands for, or the value unchanged."""
    return canonical(value, DISTORTION_CATEGORIES, _CATEGORY_SPELLINGS)


def canonical_severity(value: object) -> object:
    """The severity a spelling stands for, or the value unchanged."""
    return canonical(value, SEVERITIES, _SEVERITY_SPELLINGS)


def _spelled(allowed: tuple[str, ...], spellings: dict[str, Any] | None = None) -> BeforeValidator:
    return BeforeValidator(lambda value: canonical(value, allowed, spellings))


Category = Annotated[DistortionCategory, BeforeValidator(canonical_category)]
SeverityWord = Annotated[Severity, BeforeValidator(canonical_severity)]
# "Overall" is the reserved key when nothing was found; everything else must be a category.
EvidenceKey = Annotated[
    Literal[DistortionCategory, "Overall"], _spelled((*DISTORTION_CATEGORIES, OVERALL), _CATEGORY_SPELLINGS)
]
# Trimmed, and not blank.
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class Strict(BaseModel):
    """Base of the models that cross a boundary: unknown fields are errors."""

    model_config = ConfigDict(extra="forbid", validate_default=True, defer_build=True)


class Record(BaseModel):
    """Base of what is written down: it cannot be changed, and unknown fields are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class PlanControlFlags(Strict):
    """Which of the executor's four subtasks run."""

    distortion_detection: bool
    distortion_analysis: bool
    tool_selection: bool
    tool_execution: bool


class PlannerOutput(Strict):
    """What the planner decided to find out, and how."""

    query_type: Annotated[QueryType, _spelled(get_args(QueryType), _QUERY_TYPE_SPELLINGS)]
    query_scope: list[str] | Literal["Global"]
    distortion_source: Annotated[DistortionSource, _spelled(get_args(DistortionSource))]
    distortions: dict[str, list[Category]] | None = None
    reference_mode: Annotated[ReferenceMode, _spelled(get_args(ReferenceMode), _REFERENCE_SPELLINGS)]
    required_tool: str | None = None
    plan: PlanControlFlags

    @field_validator("query_scope", mode="before")
    @classmethod
    def _one_spelling_of_global(cls, value: object) -> object:
        if isinstance(value, str):
            return GLOBAL if _fold(value) in {"global", ""} else [value.strip()]
        if isinstance(value, list):
            names = list(dict.fromkeys(name.strip() for name in value if isinstance(name, str) and name.strip()))
            only_global = all(_fold(name) == "global" for name in names)
            return GLOBAL if only_global and all(isinstance(name, str) for name in value) else names
        return value

    @field_validator("required_tool", mode="before")
    @classmethod
    def _blank_tool_is_no_tool(cls, value: object) -> object:
        if isinstance(value, str) and _fold(value) in {"", "none", "null"}:
            return None
        return value

    def objects(self) -> list[str]:
        """The scope as a list of names, `["Global"]` for the whole image."""
        return [GLOBAL] if self.query_scope == GLOBAL else list(self.query_scope)

    def model_steps(self) -> list[str]:
        flags = self.plan
        wanted = {
            "distortion_detection": flags.distortion_detection,
            "distortion_analysis": flags.distortion_analysis,
            "tool_selection": flags.tool_selection and self.required_tool is None,
        }
        return [name for name, is_wanted in wanted.items() if is_wanted]


class DistortionAnalysis(Strict):
    """One distortion with its severity and what it looks like."""

    type: Category
    severity: SeverityWord
    explanation: Text


class ToolExecutionLog(Strict):
    """One run of one tool, successful or not."""

    tool_name: str = Field(min_length=1)
    object_name: str = GLOBAL
    distortion: EvidenceKey = "Overall"
    raw_score: FiniteFloat | None = None
    normalized_score: FiniteFloat | None = Field(default=None, ge=1.0, le=5.0)
    execution_time: FiniteFloat = Field(ge=0.0)
    fallback: bool = False
    error: str | None = None
    notes: list[str] = Field(default_factory=list)
    timestamp: datetime = Field(default_factory=lambda: datetime.now(UTC))

    @model_validator(mode="after")
    def _an_error_has_no_score(self) -> Self:
        if self.error is not None and self.normalized_score is not None:
            raise ValueError("normalized_score must be absent when error is set")
        return self


class Region(Strict):
    """A box in pixels of the upright image: left and top inside, right and bottom outside."""

    left: int = Field(ge=0)
    top: int = Field(ge=0)
    right: int
    bottom: int

    @model_validator(mode="after")
    def _has_area(self) -> Self:
        if self.right <= self.left or self.bottom <= self.top:
            raise ValueError("right must exceed left and bottom must exceed top")
        return self


# A named thing located with less confidence than this is a guess: of names that are not in a picture, one in eight
# reaches it (docs/model-card-objects.md).
DOUBTFUL = 0.125


class LocatedRegion(Region):
    """A region with the class of what is in it and how likely it is that.

    Where several were named ("the cars"), the box holds them all and `members` has the box of each.
    """

    kind: str
    confidence: float = Field(ge=0, le=1)
    members: tuple["LocatedRegion", ...] = ()

    @property
    def is_doubtful(self) -> bool:
        """Whether the thing may as well not be there: the answer has to say so."""
        return self.confidence < DOUBTFUL


class ExecutorOutput(Strict):
    """The evidence; null with an entry in `errors` means failed, null alone means not asked for."""

    distortion_set: dict[str, list[Category]] | None = None
    distortion_analysis: dict[str, list[DistortionAnalysis]] | None = None
    selected_tools: dict[str, dict[EvidenceKey, str]] | None = None
    quality_scores: dict[str, dict[EvidenceKey, tuple[str, Annotated[float, Field(ge=1.0, le=5.0)]]]] | None = None
    tool_logs: list[ToolExecutionLog] = Field(default_factory=list)
    errors: dict[str, str] = Field(default_factory=dict)
    uncertainties: list[str] = Field(default_factory=list)
    regions: dict[str, LocatedRegion | Region | None] = Field(default_factory=dict)
    notes: list[str] = Field(default_factory=list, description="words that were mapped or dropped, and the like")


class Gap(Strict):
    """What the evidence lacks: which kind of gap, where, and about what.

    `tools` are those that gave no score or contradict what was seen; `score` is the contradicting one. `reason` is
    the gap in a sentence, for people: nothing is read back from it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: GapKind
    reason: str
    objects: tuple[str, ...] = ()
    distortions: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    score: float | None = None


class UsedEvidence(Strict):
    """What the summarizer weighed, under the names it has in `used_evidence`.

    `fused_score` is the score of the image; `tools` are the scores that voted, by tool; `gap` is what was lacking, in
    a sentence.
    """

    tool_score: float | None = None
    vlm_score: float | None = None
    fused_score: float | None = None
    fused_level: LevelLetter | None = None
    level_probabilities: dict[str, float] | None = None
    probability_source: ProbabilitySource | None = None
    interval: tuple[float, float] | None = None
    eta: float | None = Field(
        default=None, description="how far the tools were trusted, by the known error of their mean"
    )
    temperature: float | None = None
    tools: dict[str, float] = Field(default_factory=dict)
    gap: str | None = None
    notes: list[str] = Field(default_factory=list)
    error: str | None = None

    @classmethod
    def of(cls, result: "SummarizerOutput | None") -> "UsedEvidence":
        """What this result rests on; nothing without a result."""
        return cls.model_validate((result and result.used_evidence) or {})


class SummarizerOutput(Strict):
    """The answer with its reasons, or the request for a new plan."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "final_answer": "B",
                    "quality_reasoning": "The image shows moderate blur affecting sharpness, "
                    "consistent with tool score of 2.6.",
                    "need_replan": False,
                },
                {
                    "final_answer": "Unable to determine",
                    "quality_reasoning": "Insufficient evidence for vehicle region.",
                    "need_replan": True,
                    "replan_reason": "Missing tool scores for vehicle region",
                },
            ]
        },
    )

    final_answer: Text = Field(description="Letter of a choice, quality level, or free text")
    quality_reasoning: Text = Field(description="Evidence-based explanation")
    need_replan: bool = Field(default=False, description="Whether a new plan is needed")
    replan_reason: str | None = Field(default=None, description="What is missing, if a new plan is needed")
    used_evidence: dict[str, Any] | None = Field(default=None, description="Evidence the answer rests on")

    @model_validator(mode="after")
    def _a_replan_has_a_reason(self) -> Self:
        if self.need_replan and not (self.replan_reason or "").strip():
            logger.warning("need_replan is true without a replan_reason")
            self.replan_reason = NO_REASON
        return self


class CallCount(Strict):
    """What model calls cost: one node's share, or the total."""

    calls: int = Field(default=0, ge=0)
    paid_calls: int = Field(default=0, ge=0, description="replies a service sent, each of which it may charge for")
    attempts: int = Field(default=0, ge=0)
    input_tokens: int = Field(default=0, ge=0)
    output_tokens: int = Field(default=0, ge=0)
    cached_tokens: int = Field(default=0, ge=0)
    cache_hits: int = Field(default=0, ge=0)
    cost_usd: float | None = 0.0
    seconds: float = Field(default=0.0, ge=0.0)

    def plus(self, other: "CallCount") -> "CallCount":
        """The sum of two counts; an unknown cost stays unknown."""
        pairs = {name: (value, getattr(other, name)) for name, value in self}
        return CallCount(**{name: None if None in pair else sum(pair) for name, pair in pairs.items()})


class Ledger(Strict):
    """Model calls per node, and which replies came from another backend than the role's own.

    `failed_attempts` are each backend's tries on the wire that failed since it last answered.
    """

    nodes: dict[str, CallCount] = Field(default_factory=dict)
    stand_ins: list[str] = Field(default_factory=list)
    failed_attempts: dict[str, int] = Field(default_factory=dict)

    def adding(
        self,
        node: str,
        count: CallCount,
        stand_ins: Iterable[str] = (),
        failed_attempts: dict[str, int] | None = None,
    ) -> "Ledger":
        """A ledger with this count booked under the node, these stand-ins, and the failed attempts as they are now."""
        nodes = {**self.nodes, node: self.nodes.get(node, CallCount()).plus(count)}
        failed = self.failed_attempts if failed_attempts is None else failed_attempts
        # Named once: a run that replans often must not grow its state.
        named = list(dict.fromkeys([*self.stand_ins, *stand_ins]))
        return Ledger(nodes=nodes, stand_ins=named, failed_attempts=failed)

    @property
    def total(self) -> CallCount:
        total = CallCount()
        for count in self.nodes.values():
            total = total.plus(count)
        return total


class AgenticIQAState(TypedDict):
    """The graph's state; a key is there once the node that writes it has run."""

    query: str
    image_path: str
    reference_path: NotRequired[str | None]
    choices: NotRequired[dict[str, str] | None]
    # One of the kinds of `question.asked`, which lies above this module; `question.read.question_of` reads it.
    question: NotRequired[Any]
    # Values of `values.py`, which lies above this module: the distortions found (a list of `Distortion`, each with its
    # place), the answer (`Answer`) and why (a list of `Reason`), where the backend gives them.
    findings: NotRequired[Any]
    answer: NotRequired[Any]
    reasons: NotRequired[Any]
    plan: NotRequired[PlannerOutput | None]
    executor_evidence: NotRequired[ExecutorOutput | None]
    summarizer_result: NotRequired[SummarizerOutput]
    iteration_count: NotRequired[int]
    max_replan_iterations: NotRequired[int]
    replan_history: NotRequired[list[str]]
    gap: NotRequired[Gap | None]
    plan_notes: NotRequired[list[str]]
    pass_keys: NotRequired[list[str]]
    repeated: NotRequired[bool]
    tried_tools: NotRequired[dict[str, list[str]]]
    asked: NotRequired[str]
    error: NotRequired[str | None]
    ledger: NotRequired[Ledger]


def remember_replan(history: list[str], iteration: int, reason: str) -> list[str]:
    """The history with this reason added; only the newest ten entries are kept."""
    grown = [*history, f"[Iteration {iteration}] {reason}"]
    if len(grown) > MAX_REPLAN_HISTORY:
        logger.warning("Excessive replanning: history capped at %d entries", MAX_REPLAN_HISTORY)
    return grown[-MAX_REPLAN_HISTORY:]
