"""Answering a question, and giving an image its level, from the evidence and the image."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, Field, field_validator

from agenticiqa.state import LEVEL_LETTERS, UNABLE, DistortionAnalysis
from agenticiqa.vlm_client.tasks.base import Choices, Query, TaskInputs

EXPLANATION_PROMPT_TEMPLATE = """\
System:
You are a visual quality assessment assistant. Your task is to select the most appropriate answer to the user's
question. You are given:
- Distortion analysis (severity and visual impact of listed distortions)
- Tool response (overall quality scores from IQA models)
- Image content
Decision process
1. First, understand what kind of visual information is needed to answer the user's question.
2. Check if the provided distortion analysis or tool response already contains the required information.
3. If the provided information is sufficient, use it to answer.
4. If the information is unclear or insufficient, analyze the image directly to determine the best answer.
Return a valid JSON object in the following format:
{
  "final_answer": "<one of the above letters>",
  "quality_reasoning": "<brief explanation, based on either distortion analysis, tool response, or direct visual observation>"
}
"""  # noqa: E501

SCORING_PROMPT_TEMPLATE = """\
System:
You are a visual quality assessment assistant. Given the question and the analysis (tool scores, distortion
analysis). Your task is to assess the image quality.
You must select one single answer from the following:
A. Excellent
B. Good
C. Fair
D. Poor
E. Bad
Return the JSON:
{
  "final_answer": "<one letter>",
  "quality_reasoning": "<concise justification referencing distortions or tool scores>"
}
"""

NO_CHOICES = "There are no answer choices: write final_answer in your own words, as briefly as possible."
WITH_CHOICES = "final_answer is one of the letters of the answer choices."
UNSURE = 'If neither the evidence nor the image settles it, final_answer is "Unable to determine".'

Analyses = Annotated[dict[str, list[DistortionAnalysis]] | None, Field(title="Distortion analysis")]
Scores = Annotated[
    dict[str, dict[str, tuple[str, float]]] | None, Field(title="Tool response (calibrated quality scores, 1 to 5)")
]
Notes = Annotated[tuple[str, ...], Field(title="Notes on the evidence")]


def _said(template: str) -> str:
    """What the message says; "System:" is the template's heading for it."""
    return template.removeprefix("System:\n")


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
    prompt: ClassVar[str] = _said(EXPLANATION_PROMPT_TEMPLATE)
    reply: ClassVar[type[BaseModel]] = AnswerReply

    query: Query
    choices: Choices = Field(default_factory=dict)
    distortion_analysis: Analyses = None
    quality_scores: Scores = None
    tool_values: dict[str, float] | None = Field(
        default=None, title="What the tool asked for measured, on its own scale"
    )
    notes: Notes = ()

    def advice(self) -> list[str]:
        """What form the answer has."""
        return [WITH_CHOICES if self.choices else NO_CHOICES, UNSURE]

    def narrow(self, fields: dict[str, Any]) -> None:
        """Only a letter of the choices, where there are any."""
        if self.choices and "final_answer" in fields:
            fields["final_answer"]["enum"] = [*self.choices, UNABLE]


class ScoreInputs(TaskInputs[AnswerReply]):
    """An image to be given a level, with the evidence and the tools' mean and weights (level letters as keys)."""

    task: ClassVar[str] = "score"
    prompt: ClassVar[str] = _said(SCORING_PROMPT_TEMPLATE)
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
