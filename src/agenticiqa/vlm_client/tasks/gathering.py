"""What the executor asks: which distortions there are, how severe, which tools measure them, where objects are.

`InspectInputs` asks the first three in one look, for `mode: fast`.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

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


class DetectReply(BaseModel, defer_build=True):
    """The distortions seen, per object; free words, of which the executor drops what it cannot use."""

    distortion_set: dict[str, list[str]]
    uncertainties: list[str] = Field(default_factory=list)


class DetectInputs(TaskInputs[DetectReply]):
    """Objects in which distortions are looked for; on a replan with the doubt about what was seen before."""

    task: ClassVar[str] = "detect"
    reply: ClassVar[type[BaseModel]] = DetectReply

    query: Query
    objects: Objects
    categories: Categories
    reference_mode: Mode
    gap: Gap | None = Field(default=None, title="What the last look left open; look at this again, closely")

    def narrow(self, fields: dict[str, Any]) -> None:
        """Only the objects and categories asked about."""
        if "distortion_set" in fields:
            seen = list_of(one_of(self.categories), len(self.categories))
            fields["distortion_set"] = map_of(self.objects, seen)


class AnalyzedDistortion(BaseModel, defer_build=True):
    """One distortion as the model describes it."""

    type: str
    severity: str
    explanation: str


class AnalyzeReply(BaseModel, defer_build=True):
    """The severity and look of each distortion, per object."""

    distortion_analysis: dict[str, list[AnalyzedDistortion]]
    uncertainties: list[str] = Field(default_factory=list)


class AnalyzeInputs(TaskInputs[AnalyzeReply]):
    """Distortions whose severity is asked for, per object; on a replan with the doubt about the last judgement."""

    task: ClassVar[str] = "analyze"
    reply: ClassVar[type[BaseModel]] = AnalyzeReply

    query: Query
    distortions: PerObject
    reference_mode: Mode
    gap: Gap | None = Field(default=None, title="What the last judgement left open; look at this again, closely")

    def narrow(self, fields: dict[str, Any]) -> None:
        """Only the objects and distortions asked about, each once."""
        if "distortion_analysis" in fields:
            fields["distortion_analysis"] = object_of({o: _analysis(kinds) for o, kinds in self.distortions.items()})


def _analysis(kinds: list[str]) -> Schema:
    described: dict[str, Schema] = {
        "type": one_of(kinds),
        "severity": one_of(SEVERITIES),
        "explanation": {"type": "string"},
    }
    return list_of(object_of(described), len(kinds))


class ToolOffer(BaseModel):
    """A tool the model may choose."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    name: str
    reference: Literal["FR", "NR"]
    strengths: tuple[str, ...] = ()
    description: str = ""


class SelectToolsReply(BaseModel, defer_build=True):
    """One tool per object and distortion."""

    selected_tools: dict[str, dict[str, str]]


class SelectToolsInputs(TaskInputs[SelectToolsReply]):
    """Distortions for each of which a tool is to be chosen."""

    task: ClassVar[str] = "select_tools"
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


class InspectedDistortion(BaseModel, defer_build=True):
    """One distortion with all that one look settles about it."""

    type: str
    severity: str = ""
    explanation: str = ""
    tool: str = ""


class InspectReply(BaseModel, defer_build=True):
    """The distortions seen with severity and tool, and the tool for the quality as a whole, per object."""

    findings: dict[str, list[InspectedDistortion]]
    overall_tools: dict[str, str] = Field(default_factory=dict)
    uncertainties: list[str] = Field(default_factory=list)


class InspectInputs(TaskInputs[InspectReply]):
    """Objects to be settled in one look: their distortions, and severity and tool of each where wanted.

    `distortions` are given by the plan; where there are none they are looked for among the `categories`.
    """

    task: ClassVar[str] = "inspect"
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


Box = tuple[float, float, float, float]


class LocateReply(BaseModel, defer_build=True):
    """The box of each object as left, top, right, bottom in fractions of width and height; null if not found."""

    regions: dict[str, Box | None]

    @field_validator("regions")
    @classmethod
    def _inside_the_image(cls, regions: dict[str, Box | None]) -> dict[str, Box | None]:
        for name, box in regions.items():
            if box is not None and not _is_inside(box):
                raise ValueError(f"{name}: a box is left < right and top < bottom, in fractions from 0 to 1")
        return regions


class LocateInputs(TaskInputs[LocateReply]):
    """Objects whose box in the image is asked for."""

    task: ClassVar[str] = "locate"
    reply: ClassVar[type[BaseModel]] = LocateReply

    objects: Objects

    def narrow(self, fields: dict[str, Any]) -> None:
        """Only the objects asked about."""
        if "regions" in fields:
            fields["regions"] = map_of(self.objects, fields["regions"]["additionalProperties"])


def _is_inside(box: Box) -> bool:
    left, top, right, bottom = box
    return all(math.isfinite(side) for side in box) and 0 <= left < right <= 1 and 0 <= top < bottom <= 1
