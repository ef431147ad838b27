"""What each task is answered with.

Detection, analysis, selection and location take free strings: the executor drops or replaces what it cannot use,
with a warning, so that one odd word does not cost a whole reply. A plan is answered with `state.PlannerOutput`.
"""

from __future__ import annotations

import math

from pydantic import BaseModel, Field, field_validator

Box = tuple[float, float, float, float]


class DetectReply(BaseModel):
    """The distortions seen, per object."""

    distortion_set: dict[str, list[str]]
    uncertainties: list[str] = Field(default_factory=list)


class AnalyzedDistortion(BaseModel):
    """One distortion as the model describes it."""

    type: str
    severity: str
    explanation: str


class AnalyzeReply(BaseModel):
    """The severity and look of each distortion, per object."""

    distortion_analysis: dict[str, list[AnalyzedDistortion]]
    uncertainties: list[str] = Field(default_factory=list)


class SelectToolsReply(BaseModel):
    """One tool per object and distortion."""

    selected_tools: dict[str, dict[str, str]]


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


class LocateReply(BaseModel):
    """The box of each object as left, top, right, bottom in fractions of width and height; null if not found."""

    regions: dict[str, Box | None]

    @field_validator("regions")
    @classmethod
    def _inside_the_image(cls, regions: dict[str, Box | None]) -> dict[str, Box | None]:
        for name, box in regions.items():
            if box is not None and not _is_inside(box):
                raise ValueError(f"{name}: a box is left < right and top < bottom, in fractions from 0 to 1")
        return regions


class AnswerReply(BaseModel):
    """The answer to the question, or the level in scoring, with its reasons."""

    final_answer: str
    quality_reasoning: str

    @field_validator("final_answer", "quality_reasoning", mode="after")
    @classmethod
    def _trimmed_and_not_blank(cls, value: str) -> str:
        if not value.strip():
            raise ValueError("must hold at least one non-blank character")
        return value.strip()


def _is_inside(box: Box) -> bool:
    left, top, right, bottom = box
    return all(math.isfinite(side) for side in box) and 0 <= left < right <= 1 and 0 <= top < bottom <= 1
