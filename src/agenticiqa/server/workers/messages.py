"""What a worker is told and what it hands back."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from agenticiqa.assessor import Assessment, Ranking
from agenticiqa.assessor.tool_measurements import Measured
from agenticiqa.encode import Encoding, Format
from agenticiqa.images import Align
from agenticiqa.server.storage.database import Kind


class RunImage(BaseModel):
    """An image of a run: its file in the run's folder, and what whoever asks calls it."""

    model_config = ConfigDict(frozen=True)

    file: str
    name: str


class Asked(BaseModel):
    """What is asked of the images of a run; each kind of run looks at its own fields."""

    model_config = ConfigDict(frozen=True)

    query: str | None = None
    choices: dict[str, str] | None = None
    max_replan_iterations: int | None = None
    align: Align | None = None
    metrics: list[str] = []
    format: Format = "webp"
    min_score: float | None = None
    max_bytes: int | None = None


class RunRequest(Asked):
    """A run as a worker carries it out; what the service keeps about it besides is left out."""

    kind: Kind
    folder: str
    images: list[RunImage] = Field(min_length=1)
    reference: RunImage | None
    pictures: bool

    @property
    def reference_file(self) -> str | None:
        """The reference's file, if there is one."""
        return self.reference.file if self.reference else None


class AuditedImage(BaseModel):
    """What is wrong with one image of several."""

    name: str
    issues: list[str] = Field(examples=[["blurry", "near_duplicates"]])
    decision: Literal["keep", "maybe", "reject"]
    reasons: list[str]
    error: str | None = Field(description="why it could not be looked at")


class Duplicates(BaseModel):
    """Images that are the same, or nearly; `keep` is the best of them."""

    kind: Literal["exact", "near"]
    members: list[str]
    keep: str


class AuditResult(BaseModel):
    """What is wrong with each of several images, in the order they were given, and which are the same."""

    images: list[AuditedImage]
    counts: dict[str, int] = Field(description="how many images have each issue", examples=[{"blurry": 1, "dark": 0}])
    duplicates: list[Duplicates]


class RunResult(BaseModel):
    """What came of a run: the part of its kind, for a comparison with the places of its images, and what was drawn."""

    model_config = ConfigDict(frozen=True)

    maps: list[dict[str, Any] | None] = Field(default_factory=list)
    assessment: Assessment | None = None
    ranking: Ranking | None = None
    order: list[int] | None = None
    measurements: list[Measured] | None = None
    audit: AuditResult | None = None
    encoding: Encoding | None = None

    def as_json(self) -> dict[str, Any]:
        """The JSON values that are kept, without the parts this kind of run has not."""
        return {name: value for name, value in self.model_dump(mode="json").items() if value is not None}
