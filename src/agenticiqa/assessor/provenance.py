"""Where an assessment comes from: everything needed to get it again."""

from __future__ import annotations

import hashlib
import os
from functools import cache
from importlib.metadata import version

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


# The package's metadata is a file, and reading it takes a millisecond.
_version = cache(version)


def provenance_of(
    parts: Parts, images: tuple[LabelledImage, ...], mode: ReferenceMode, used: UsedEvidence
) -> Provenance:
    settings = parts.settings
    fusion, temperature = parts.fusion_for(mode)
    eta = fusion.eta if used.eta is None else used.eta
    tools = "tools vote" if eta > 0 else "tools are shown, the model decides"
    if used.fused_score is not None and used.vlm_score is None:
        tools = "the tools decide, the model gave no level"
    overlay = settings.tools_overlay_path()
    overlaid = f"{overlay.name} sha256:{_digest(overlay.read_bytes())}" if overlay.is_file() else None
    return Provenance(
        version=_version("agenticiqa"),
        settings_sha256=_digest(settings.model_dump_json()),
        backends={role: settings.role(role).backend for role in parts.vlm_clients},
        models={role: client.model for role, client in parts.vlm_clients.items()},
        prompt_sha256={task: _digest(system_words(prompt)) for task, prompt in _prompts().items()},
        images={item.label: _origin(item.image) for item in images},
        terms=settings.pipeline.terms,
        viewing=settings.pipeline.viewing if mode == "Full-Reference" else None,
        fusion=FusionUsed(form=settings.pipeline.fusion, eta=eta, temperature=temperature, tools=tools),
        overlay=overlaid,
    )


def _prompts() -> dict[str, str]:
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


def _origin(image: LoadedImage) -> ImageOrigin:
    # A file name may hold bytes that are no UTF-8, and JSON cannot.
    path = None if image.path is None else os.fsencode(image.path).decode("utf-8", "replace")
    return ImageOrigin(sha256=image.sha256, width=image.width, height=image.height, path=path, notes=list(image.notes))


def _digest(content: str | bytes) -> str:
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()
