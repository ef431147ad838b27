"""What a tool is: a measurement of image quality that says itself how to read it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pydantic import Field, model_validator

from agenticiqa.images.colour import Pixels as Pixels
from agenticiqa.state import DistortionCategory, Record

if TYPE_CHECKING:
    from agenticiqa.tools.calibration import Calibration


class ToolCard(Record):
    """One entry of the catalogue: what a person needs to know to read the tool's number."""

    name: str = Field(min_length=1)
    reference: Literal["FR", "NR"]
    higher_is_better: bool
    raw_range: tuple[float | None, float | None] = Field(description="lowest and highest raw value, None if unbounded")
    implementation: str = Field(
        pattern=r"^[A-Za-z_][\w.]*:.+$", description="for example builtin:psnr, pyiqa:topiq_fr or my_iqa:gradient"
    )
    role: Literal["metric", "attribute", "learned"] = "metric"
    strengths: tuple[DistortionCategory, ...] = ()
    contradicts: tuple[DistortionCategory, ...] | None = Field(
        default=None,
        description="categories whose damage the score falls with, so that a high one speaks against it; None: all",
    )
    licence: str
    cost: Literal["cheap", "medium", "heavy"]
    variant: str = Field(description="colour space, down-sampling, border: what must match to compare numbers")
    unit: str = ""
    min_side: int = Field(default=16, ge=1)
    max_pixels: int = Field(default=16_000_000, ge=1, description="pixel budget; above it `oversize` applies")
    oversize: Literal["tile", "shrink"] = Field(
        default="tile",
        description="tile: mean over equal tiles, by area; shrink: area averaging, for tools that work at viewing size",
    )
    sampled_above: int | None = Field(
        default=None, description="with more pixels than this, parts spread evenly over the picture stand for it"
    )
    weights: tuple[str, ...] = Field(default=(), description="files the tool needs in the weights folder")
    derived_from: tuple[str, ...] = Field(default=(), description="tools whose evidence is already inside this one")
    research_only: bool = False
    version: str = "1"

    @model_validator(mode="after")
    def _range_is_ordered(self) -> ToolCard:
        low, high = self.raw_range
        if low is not None and high is not None and low >= high:
            raise ValueError("raw_range must run from the lower to the higher value")
        return self


class Tool(ABC):
    """A measurement with its card."""

    card: ToolCard
    calibration: Calibration | None = None
    """The tool's own curve, used where neither the package nor the user has one."""

    @abstractmethod
    def measure(self, test: Pixels, reference: Pixels | None = None) -> float:
        """The raw value; raises ToolError when there is none."""

    def unavailable(self) -> str | None:
        """Why the tool cannot run here and what would help; None when it can."""
        return None

    def to_fetch(self) -> list[str]:
        """What the tool downloads when it is first used."""
        return []

    @property
    def name(self) -> str:
        """The tool's name in the catalogue."""
        return self.card.name


@dataclass(frozen=True)
class Measurement:
    """What a tool said of one image: raw, and on the common 1–5 scale where it is calibrated."""

    tool: str
    raw: float
    calibrated: float | None
    spread: float | None
    seconds: float
    notes: tuple[str, ...] = ()
