"""What a worker is told and what it hands back."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from agenticiqa.assessor import Assessment, Ranking
from agenticiqa.images import Align


class RunImage(BaseModel):
    """An image of a run: its file in the run's folder."""

    model_config = ConfigDict(frozen=True)

    file: str


class RunRequest(BaseModel):
    """A run as a worker carries it out; what the service keeps about it besides is left out."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["assess", "compare"]
    folder: str
    images: list[RunImage] = Field(min_length=1)
    reference: RunImage | None
    query: str | None
    choices: dict[str, str] | None
    max_replan_iterations: int | None
    align: Align | None
    pictures: bool

    @property
    def reference_file(self) -> str | None:
        """The reference's file, if there is one."""
        return self.reference.file if self.reference else None


class RunResult(BaseModel):
    """What came of a run: an assessment, or a ranking with the places of its images, and what was drawn."""

    model_config = ConfigDict(frozen=True)

    maps: list[dict[str, Any] | None] = Field(default_factory=list)
    assessment: Assessment | None = None
    ranking: Ranking | None = None
    order: list[int] | None = None

    def as_json(self) -> dict[str, Any]:
        """The JSON values that are kept, without the parts this kind of run has not."""
        return {name: value for name, value in self.model_dump(mode="json").items() if value is not None}
