"""Selection: which tool measures which distortion."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from agenticiqa.vlm_client.tasks.base import Mode, PerObject, Query, TaskInputs, map_of, object_of, one_of

SELECTION_PROMPT_TEMPLATE = """\
You are a tool executor. For each listed distortion of each object, choose the one listed tool that measures it best;
"Overall" stands for the quality as a whole. Prefer full-reference (FR) tools when the reference mode is
Full-Reference; without a reference only no-reference (NR) tools can run. Use the tools' names exactly as listed.
Return a valid JSON object:
{
  "selected_tools": {"<object or Global>": {"<distortion>": "<tool name>"}}
}
"""


class ToolOffer(BaseModel):
    """A tool the model may choose."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    reference: Literal["FR", "NR"]
    strengths: tuple[str, ...] = ()
    description: str = ""


class SelectToolsReply(BaseModel):
    """One tool per object and distortion."""

    selected_tools: dict[str, dict[str, str]]


class SelectToolsInputs(TaskInputs[SelectToolsReply]):
    """Distortions for each of which a tool is to be chosen."""

    task: ClassVar[str] = "select_tools"
    prompt: ClassVar[str] = SELECTION_PROMPT_TEMPLATE
    reply: ClassVar[type[BaseModel]] = SelectToolsReply

    query: Query
    distortions: PerObject
    reference_mode: Mode
    tools: tuple[ToolOffer, ...] = Field(title="Tools")

    def narrow(self, fields: dict[str, Any]) -> None:
        """Only the tools that were offered."""
        if "selected_tools" in fields:
            tool = one_of(tool.name for tool in self.tools)
            fields["selected_tools"] = object_of({o: map_of(kinds, tool) for o, kinds in self.distortions.items()})
