"""Planning: what has to be found out to answer a question."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import BaseModel, Field

from agenticiqa.state import DISTORTION_CATEGORIES, Gap, PlanControlFlags, PlannerOutput
from agenticiqa.vlm_client.tasks.base import Choices, Query, TaskInputs, one_of


class PlanReply(BaseModel, defer_build=True):
    """A plan as a model writes it: the seven fields, with free words for distortions, of which the planner drops some.

    The strict plan that travels on is `state.PlannerOutput`.
    """

    query_type: str
    query_scope: list[str] | str
    distortion_source: str
    distortions: dict[str, list[str]] | None = None
    reference_mode: str
    required_tool: str | None = None
    plan: PlanControlFlags


class PlanInputs(TaskInputs[PlanReply]):
    """A question to be planned; on a replan also the last plan, its evidence in short and what it lacked."""

    task: ClassVar[str] = "plan"
    reply: ClassVar[type[BaseModel]] = PlanReply

    query: Query
    has_reference: bool = Field(title="A reference image is given")
    choices: Choices = Field(default_factory=dict)
    tools: tuple[str, ...] = Field(default=(), title="Tools")
    previous_plan: PlannerOutput | None = Field(default=None, title="The last plan")
    evidence: dict[str, Any] | None = Field(default=None, title="The evidence it gathered, in short")
    gap: Gap | None = Field(default=None, title="What that evidence lacks; the new plan must gather it")
    replan_history: tuple[str, ...] = Field(default=(), title="Reasons of all replans so far")

    def narrow(self, fields: dict[str, Any]) -> None:
        """Only the words the plan knows."""
        for name, words in _WORDS.items():
            if name in fields:
                fields[name] = one_of(words)
        if "distortions" in fields:
            listed = {"type": "array", "items": one_of(DISTORTION_CATEGORIES)}
            fields["distortions"] = {"anyOf": [{"type": "object", "additionalProperties": listed}, {"type": "null"}]}


_WORDS: dict[Literal["query_type", "distortion_source", "reference_mode"], tuple[str, ...]] = {
    "query_type": ("IQA", "Other"),
    "distortion_source": ("Explicit", "Inferred"),
    "reference_mode": ("Full-Reference", "No-Reference"),
}
