"""What is asked in a run, and what a worker hands back."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from agenticiqa.assessor import Assessment, Ranking
from agenticiqa.assessor.tool_measurements import Measured
from agenticiqa.encode import Encoding, Format
from agenticiqa.images import Align

Json = dict[str, Any]
Kind = Literal["assess", "compare", "measure", "audit", "encode"]


class RunFile(BaseModel):
    """A file of a run: what it is called in the run's folder, and what whoever asks calls it."""

    model_config = ConfigDict(frozen=True)

    file: str
    name: str
    sha256: str | None = None
    path: str | None = None
    """Of a job: where it lies below an allowed folder, from where it is copied when its run begins."""


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
    """What is asked, of which files; `sample` is the line of a job's manifest."""

    images: list[RunFile] = Field(min_length=1)
    reference: RunFile | None = None
    pictures: bool = True
    sample: Json | None = None

    @property
    def files(self) -> list[RunFile]:
        return [*self.images, *([self.reference] if self.reference else [])]

    @property
    def names(self) -> list[str]:
        return [image.name for image in self.images]

    @property
    def reference_file(self) -> str | None:
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

    maps: list[Json | None] = []
    assessment: Assessment | None = None
    ranking: Ranking | None = None
    order: list[int] | None = None
    measurements: list[Measured] | None = None
    audit: AuditResult | None = None
    encoding: Encoding | None = None

    def as_json(self) -> Json:
        """The JSON values that are kept, without the parts this kind of run has not."""
        return {name: value for name, value in self.model_dump(mode="json").items() if value is not None}
