"""Answering a question, and giving an image its level, from the evidence and the image."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, Field, field_validator

from agenticiqa.state import LEVEL_LETTERS, UNABLE, DistortionAnalysis
from agenticiqa.vlm_client.tasks.base import Choices, Query, TaskInputs

Analyses = Annotated[dict[str, list[DistortionAnalysis]] | None, Field(title="Distortion analysis")]
Scores = Annotated[
    dict[str, dict[str, tuple[str, float]]] | None, Field(title="Tool response (calibrated quality scores, 1 to 5)")
]
Notes = Annotated[tuple[str, ...], Field(title="Notes on the evidence")]


class AnswerReply(BaseModel, defer_build=True):
    """The answer to the question, or the level in scoring, with its reasons."""

    final_answer: str
    quality_reasoning: str

    @field_validator("final_answer", "quality_reasoning", mode="after")
    @classmethod
    def _trimmed_and_not_blank(cls, value: str) -> str:
        if not value.strip():
            raise ValueError("must hold at least one non-blank character")
        return value.strip()


class AnswerInputs(TaskInputs[AnswerReply]):
    """A question to be answered from the evidence and the image."""

    task: ClassVar[str] = "answer"
    reply: ClassVar[type[BaseModel]] = AnswerReply

    query: Query
    choices: Choices = Field(default_factory=dict)
    distortion_analysis: Analyses = None
    quality_scores: Scores = None
    tool_values: dict[str, float] | None = Field(
        default=None, title="What the tool asked for measured, on its own scale"
    )
    notes: Notes = ()

    def narrow(self, fields: dict[str, Any]) -> None:
        """Only a letter of the choices, where there are any."""
        if self.choices and "final_answer" in fields:
            fields["final_answer"]["enum"] = [*self.choices, UNABLE]


class ScoreInputs(TaskInputs[AnswerReply]):
    """An image to be given a level, with the evidence and the tools' mean and weights (level letters as keys)."""

    task: ClassVar[str] = "score"
    reply: ClassVar[type[BaseModel]] = AnswerReply

    query: Query
    distortion_analysis: Analyses = None
    quality_scores: Scores = None
    tool_mean: float | None = Field(default=None, title="Mean of the tool scores")
    perceptual_weights: dict[str, float] | None = Field(
        default=None, title="Weight of each level given the tool scores"
    )
    notes: Notes = ()

    def narrow(self, fields: dict[str, Any]) -> None:
        """Only a level's letter."""
        if "final_answer" in fields:
            fields["final_answer"]["enum"] = [*LEVEL_LETTERS, UNABLE]
