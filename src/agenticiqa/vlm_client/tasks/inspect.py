"""Detection, analysis and selection in one look: what `mode: fast` asks."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import BaseModel, Field

from agenticiqa.state import SEVERITIES, Gap
from agenticiqa.vlm_client.tasks.base import (
    Categories,
    Mode,
    Objects,
    PerObject,
    Query,
    Schema,
    TaskInputs,
    list_of,
    map_of,
    object_of,
    one_of,
)
from agenticiqa.vlm_client.tasks.select_tools import ToolOffer

INSPECTION_PROMPT_TEMPLATE = """\
You are an expert in the distortions of images and in the tools that measure them. Look at the test image, and at the
reference image if one is given, and settle in one reply what is listed below for each object ("Global" is the whole
image).
1. findings: the distortions visible in the object. If distortions are listed per object, take exactly those; otherwise
   use only the listed categories. A style the photographer chose (bokeh, night, fog, black and white) is not a
   distortion. An object without a distortion gets an empty list.
2. If severities are wanted: severity is one of none, slight, moderate, severe, extreme, and explanation says in one
   sentence what is seen, compared with the reference image if one is given.
3. If tools are listed: tool is the one that measures this distortion best, and overall_tools names per object the one
   for the quality as a whole. Prefer full-reference (FR) tools when the reference mode is Full-Reference; without a
   reference only no-reference (NR) tools can run. Use the tools' names exactly as listed.
What you cannot judge goes to uncertainties.
Return a valid JSON object, without the fields nobody asked for:
{
  "findings": {
    "<object or Global>": [
      {"type": "<category>", "severity": "<severity>", "explanation": "<what is seen>", "tool": "<tool name>"}
    ]
  },
  "overall_tools": {"<object or Global>": "<tool name>"},
  "uncertainties": ["<what could not be judged>", ...]
}
"""


class InspectedDistortion(BaseModel):
    """One distortion with all that one look settles about it."""

    type: str
    severity: str = ""
    explanation: str = ""
    tool: str = ""


class InspectReply(BaseModel):
    """The distortions seen with severity and tool, and the tool for the quality as a whole, per object."""

    findings: dict[str, list[InspectedDistortion]]
    overall_tools: dict[str, str] = Field(default_factory=dict)
    uncertainties: list[str] = Field(default_factory=list)


class InspectInputs(TaskInputs[InspectReply]):
    """Objects to be settled in one look: their distortions, and severity and tool of each where wanted.

    `distortions` are given by the plan; where there are none they are looked for among the `categories`.
    """

    task: ClassVar[str] = "inspect"
    prompt: ClassVar[str] = INSPECTION_PROMPT_TEMPLATE
    reply: ClassVar[type[BaseModel]] = InspectReply

    query: Query
    objects: Objects
    categories: Categories
    distortions: PerObject = Field(default_factory=dict)
    reference_mode: Mode
    severity_wanted: bool = Field(default=True, title="Severities are wanted")
    tools: tuple[ToolOffer, ...] = Field(default=(), title="Tools")
    gap: Gap | None = Field(default=None, title="What the last look left open; look at this again, closely")

    def narrow(self, fields: dict[str, Any]) -> None:
        """Only what was asked about, and no field nobody asked for."""
        if "findings" not in fields:
            return
        tool = one_of(tool.name for tool in self.tools)
        found = {name: self.distortions.get(name, []) for name in self.objects}
        if not self.distortions:
            found = {name: list(self.categories) for name in self.objects}
        described = {name: list_of(self._finding(kinds, tool), len(kinds)) for name, kinds in found.items()}
        fields |= {"findings": object_of(described), "overall_tools": map_of(self.objects, tool)}
        if not self.tools:
            del fields["overall_tools"]

    def _finding(self, kinds: list[str], tool: Schema) -> Schema:
        described: dict[str, Schema] = {"type": one_of(kinds)}
        if self.severity_wanted:
            described |= {"severity": one_of(SEVERITIES), "explanation": {"type": "string"}}
        if self.tools:
            described["tool"] = tool
        return object_of(described)
