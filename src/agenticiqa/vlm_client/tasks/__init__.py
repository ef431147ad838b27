"""The tasks models are asked, each one class: name, prompt, inputs, reply and schema."""

from typing import Any

from agenticiqa.vlm_client.tasks.analyze import AnalyzedDistortion, AnalyzeInputs, AnalyzeReply
from agenticiqa.vlm_client.tasks.answer import AnswerInputs, AnswerReply, ScoreInputs
from agenticiqa.vlm_client.tasks.base import TaskInputs
from agenticiqa.vlm_client.tasks.detect import DetectInputs, DetectReply
from agenticiqa.vlm_client.tasks.inspect import InspectedDistortion, InspectInputs, InspectReply
from agenticiqa.vlm_client.tasks.locate import Box, LocateInputs, LocateReply
from agenticiqa.vlm_client.tasks.plan import PlanInputs, PlanReply
from agenticiqa.vlm_client.tasks.select_tools import SelectToolsInputs, SelectToolsReply, ToolOffer

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
