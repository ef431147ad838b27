"""The tasks models are asked, each one class: name, prompt, inputs, reply and schema."""

from typing import Any

from agenticiqa.vlm_client.tasks.answer import AnswerInputs, AnswerReply, ScoreInputs
from agenticiqa.vlm_client.tasks.base import TaskInputs
from agenticiqa.vlm_client.tasks.gathering import (
    AnalyzedDistortion,
    AnalyzeInputs,
    AnalyzeReply,
    Box,
    DetectInputs,
    DetectReply,
    InspectedDistortion,
    InspectInputs,
    InspectReply,
    LocateInputs,
    LocateReply,
    SelectToolsInputs,
    SelectToolsReply,
    ToolOffer,
)
from agenticiqa.vlm_client.tasks.plan import PlanInputs, PlanReply

TASKS: tuple[type[TaskInputs[Any]], ...] = (
    PlanInputs, DetectInputs, AnalyzeInputs, SelectToolsInputs, InspectInputs, LocateInputs, AnswerInputs, ScoreInputs,
)  # fmt: skip

__all__ = [
    "TASKS",
    "AnalyzeInputs",
    "AnalyzeReply",
    "AnalyzedDistortion",
    "AnswerInputs",
    "AnswerReply",
    "Box",
    "DetectInputs",
    "DetectReply",
    "InspectInputs",
    "InspectReply",
    "InspectedDistortion",
    "LocateInputs",
    "LocateReply",
    "PlanInputs",
    "PlanReply",
    "ScoreInputs",
    "SelectToolsInputs",
    "SelectToolsReply",
    "TaskInputs",
    "ToolOffer",
]
