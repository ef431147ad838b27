"""Planning: what has to be found out to answer a question."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import BaseModel, Field

from agenticiqa.state import DISTORTION_CATEGORIES, Gap, PlanControlFlags, PlannerOutput
from agenticiqa.vlm_client.tasks.base import Choices, Query, TaskInputs, one_of

PLANNER_PROMPT_TEMPLATE = """\
You are a planner in an image quality assessment (IQA) system. You are given a user's question about a test image,
sometimes a reference image, the names of the IQA tools at hand and, after a failed attempt, what its evidence lacked.
Decide what has to be found out to answer the question. You do not answer it yourself.

Return a valid JSON object with exactly these seven fields:
{
  "query_type": "IQA" | "Other",
  "query_scope": ["<object>", ...] | "Global",
  "distortion_source": "Explicit" | "Inferred",
  "distortions": {"<object or Global>": ["<category>", ...]} | null,
  "reference_mode": "Full-Reference" | "No-Reference",
  "required_tool": "<tool name>" | null,
  "plan": {
    "distortion_detection": true | false,
    "distortion_analysis": true | false,
    "tool_selection": true | false,
    "tool_execution": true | false
  }
}

Rules
1. query_type is "IQA" when a quality score or level of the image is asked for, "Other" for every other question.
2. query_scope lists the objects or places the question names, in its own words; "Global" for the whole image.
3. distortion_source is "Explicit" when the question names distortions, and distortions then lists them;
   otherwise it is "Inferred" and distortions is null.
4. The categories are: Blurs, Color distortions, Compression, Noise, Brightness change, Sharpness, Contrast.
5. reference_mode is "Full-Reference" when a reference image is given, "No-Reference" otherwise.
6. required_tool is set only when the question names a tool; tool_selection is then false.
7. distortion_detection is false for Explicit and true for Inferred distortions.
8. Ask for tool_execution whenever a measurement would make the answer more certain.
9. When the last plan's evidence lacked something, the new plan must gather it: add the object, ask for the tools, or
   require another tool or distortion than the last plan.
Return the JSON object and nothing else.
"""


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
    prompt: ClassVar[str] = PLANNER_PROMPT_TEMPLATE
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
