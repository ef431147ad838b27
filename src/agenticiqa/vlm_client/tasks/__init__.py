"""The tasks models are asked, each one class: name, inputs, reply and schema."""

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
from agenticiqa.vlm_client.tasks.rank import ComparedImage, RankInputs, RankReply

__all__ = [
    "AnalyzeInputs",
    "AnalyzeReply",
    "AnalyzedDistortion",
    "AnswerInputs",
    "AnswerReply",
    "Box",
    "ComparedImage",
    "DetectInputs",
    "DetectReply",
    "InspectInputs",
    "InspectReply",
    "InspectedDistortion",
    "LocateInputs",
    "LocateReply",
    "PlanInputs",
    "PlanReply",
    "RankInputs",
    "RankReply",
    "ScoreInputs",
    "SelectToolsInputs",
    "SelectToolsReply",
    "TaskInputs",
    "ToolOffer",
]
