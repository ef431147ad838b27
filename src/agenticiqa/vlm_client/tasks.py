"""What each task is asked with, as data. Never a file name, a ground truth or an opinion score.

Distortions may be the seven categories or "Overall"; `perceptual_weights` has the level letters as keys.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from agenticiqa.state import DistortionAnalysis, ReferenceMode

Task = Literal["plan", "detect", "analyze", "select_tools", "inspect", "answer", "score", "locate"]


class Inputs(BaseModel):
    """Base of the inputs: frozen, because a request is kept and asked again as it was."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class PlanInputs(Inputs):
    """A question to be planned."""

    query: str
    has_reference: bool
    choices: dict[str, str] = Field(default_factory=dict)
    tools: tuple[str, ...] = ()
    replan_history: tuple[str, ...] = ()


class DetectInputs(Inputs):
    """Objects in which distortions are looked for."""

    query: str
    objects: tuple[str, ...]
    categories: tuple[str, ...]
    reference_mode: ReferenceMode


class AnalyzeInputs(Inputs):
    """Distortions whose severity is asked for, per object."""

    query: str
    distortions: dict[str, list[str]]
    reference_mode: ReferenceMode


class ToolOffer(Inputs):
    """A tool the model may choose."""

    name: str
    reference: Literal["FR", "NR"]
    strengths: tuple[str, ...] = ()
    description: str = ""


class SelectToolsInputs(Inputs):
    """Distortions for each of which a tool is to be chosen."""

    query: str
    distortions: dict[str, list[str]]
    reference_mode: ReferenceMode
    tools: tuple[ToolOffer, ...]


class InspectInputs(Inputs):
    """Objects to be settled in one look: their distortions, and severity and tool of each where wanted.

    `distortions` are given by the plan; where there are none they are looked for among the `categories`.
    """

    query: str
    objects: tuple[str, ...]
    categories: tuple[str, ...]
    distortions: dict[str, list[str]] = Field(default_factory=dict)
    reference_mode: ReferenceMode
    severity_wanted: bool = True
    tools: tuple[ToolOffer, ...] = ()


class AnswerInputs(Inputs):
    """A question to be answered from the evidence and the image."""

    query: str
    choices: dict[str, str] = Field(default_factory=dict)
    distortion_analysis: dict[str, list[DistortionAnalysis]] | None = None
    quality_scores: dict[str, dict[str, tuple[str, float]]] | None = None
    notes: tuple[str, ...] = ()


class ScoreInputs(Inputs):
    """An image to be given a level, with the evidence and the tools' mean and weights."""

    query: str
    distortion_analysis: dict[str, list[DistortionAnalysis]] | None = None
    quality_scores: dict[str, dict[str, tuple[str, float]]] | None = None
    tool_mean: float | None = None
    perceptual_weights: dict[str, float] | None = None
    notes: tuple[str, ...] = ()


class LocateInputs(Inputs):
    """Objects whose box in the image is asked for."""

    objects: tuple[str, ...]


TaskInputs = (
    PlanInputs
    | DetectInputs
    | AnalyzeInputs
    | SelectToolsInputs
    | InspectInputs
    | AnswerInputs
    | ScoreInputs
    | LocateInputs
)

_TASKS: dict[type[Inputs], Task] = {
    PlanInputs: "plan",
    DetectInputs: "detect",
    AnalyzeInputs: "analyze",
    SelectToolsInputs: "select_tools",
    InspectInputs: "inspect",
    AnswerInputs: "answer",
    ScoreInputs: "score",
    LocateInputs: "locate",
}


def task_of(inputs: TaskInputs) -> Task:
    """The task these inputs belong to."""
    return _TASKS[type(inputs)]
