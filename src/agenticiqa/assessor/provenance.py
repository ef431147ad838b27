"""Where an assessment comes from: everything needed to get it again."""

from __future__ import annotations

import hashlib
import os
from functools import cache
from importlib.metadata import version
from pathlib import Path

from pydantic import Field

from agenticiqa.images import LabelledImage, LoadedImage
from agenticiqa.nodes import executor, planner, summarizer
from agenticiqa.nodes.context import system_words
from agenticiqa.parts import Parts
from agenticiqa.state import Record, ReferenceMode, UsedEvidence


class ImageOrigin(Record):
    """One image as it was looked at."""

    sha256: str
    width: int
    height: int
    path: str | None = Field(default=None, description="the file it was read from, if there was one")
    notes: list[str] = Field(default_factory=list, description="every conversion made on opening it")


class FusionUsed(Record):
    """How tools and model were fused."""

    form: str
    eta: float
    temperature: float
    tools: str = Field(default="", description="what the tools' scores did: they voted, were shown, or decided alone")


class Provenance(Record):
    """Version, settings, models, prompts and images behind an assessment."""

    version: str
    settings_sha256: str
    backends: dict[str, str]
    models: dict[str, str]
    prompt_sha256: dict[str, str]
    images: dict[str, ImageOrigin]
    terms: str
    viewing: str | None = Field(default=None, description="how the pair was compared; None without a reference")
    fusion: FusionUsed
    overlay: str | None = Field(default=None, description="the user's tools and calibrations in force, with their hash")


@cache
def _own_version() -> str:
    # The package's metadata is a file, and reading it takes a millisecond.
    return version("agenticiqa")


def provenance_of(
    parts: Parts, images: tuple[LabelledImage, ...], mode: ReferenceMode, used: UsedEvidence
) -> Provenance:
    """The provenance of a run with these parts on these images."""
    settings = parts.settings
    fusion, temperature = parts.fusion_for(mode)
    eta = fusion.eta if used.eta is None else used.eta
    return Provenance(
        version=_own_version(),
        settings_sha256=_digest(settings.model_dump_json()),
        backends={role: settings.role(role).backend for role in parts.vlm_clients},
        models={role: client.model for role, client in parts.vlm_clients.items()},
        prompt_sha256={task: _digest(system_words(prompt)) for task, prompt in _prompts().items()},
        images={item.label: _origin(item.image) for item in images},
        terms=settings.pipeline.terms,
        viewing=settings.pipeline.viewing if mode == "Full-Reference" else None,
        fusion=FusionUsed(
            form=settings.pipeline.fusion, eta=eta, temperature=temperature, tools=_part_of_tools(eta, used)
        ),
        overlay=_overlay(settings.tools_overlay_path()),
    )


def _prompts() -> dict[str, str]:
    """The prompt of each task, as its node has it now."""
    return {
        "plan": planner.PLANNER_PROMPT_TEMPLATE,
        "detect": executor.DETECTION_PROMPT_TEMPLATE,
        "analyze": executor.ANALYSIS_PROMPT_TEMPLATE,
        "select_tools": executor.SELECTION_PROMPT_TEMPLATE,
        "inspect": executor.INSPECTION_PROMPT_TEMPLATE,
        "locate": executor.LOCATION_PROMPT_TEMPLATE,
        "answer": summarizer.EXPLANATION_PROMPT_TEMPLATE,
        "score": summarizer.SCORING_PROMPT_TEMPLATE,
    }


def _part_of_tools(eta: float, used: UsedEvidence) -> str:
    """What the tools' scores did to the score of this record."""
    if used.fused_score is not None and used.vlm_score is None:
        return "the tools decide, the model gave no level"
    return "tools vote" if eta > 0 else "tools are shown, the model decides"


def _overlay(path: Path) -> str | None:
    """The overlay's file name and hash; None when there is none."""
    if not path.is_file():
        return None
    return f"{path.name} sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"


def _origin(image: LoadedImage) -> ImageOrigin:
    # A file name may hold bytes that are no UTF-8, and JSON cannot.
    path = None if image.path is None else os.fsencode(image.path).decode("utf-8", "replace")
    return ImageOrigin(sha256=image.sha256, width=image.width, height=image.height, path=path, notes=list(image.notes))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
