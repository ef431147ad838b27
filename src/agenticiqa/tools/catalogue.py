"""The catalogue: every tool we know of, as data, with the user's own entries laid over it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from agenticiqa.config import read_sections
from agenticiqa.errors import SettingsError
from agenticiqa.outputs import write_whole
from agenticiqa.tools.calibration import Calibration, EmbeddedScale, parse_calibrations
from agenticiqa.tools.pyiqa_adapter import SCHEME, metrics_by_name
from agenticiqa.tools.registry import ToolRegistry
from agenticiqa.tools.tool import ToolCard

_SECTIONS = ("tools", "calibrations", "embedded")


@dataclass(frozen=True)
class Overlay:
    """What a user adds: cards of tools, calibrations that win over the packaged ones, the embedded model's scale."""

    cards: dict[str, ToolCard] = field(default_factory=dict)
    calibrations: dict[str, Calibration] = field(default_factory=dict)
    embedded: dict[str, EmbeddedScale] = field(default_factory=dict)
    """By reference mode."""


def load_catalogue(overlay: Iterable[ToolCard] = ()) -> dict[str, ToolCard]:
    """All cards by name: the packaged ones, then the overlay's, which replace those of the same name."""
    text = resources.files("agenticiqa.tools").joinpath("catalogue.yaml").read_text(encoding="utf-8")
    # The parser in C: in Python this file takes longer than a measurement.
    content = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    cards = parse_cards(content["tools"], "the packaged catalogue")
    return {**cards, **{card.name: card for card in overlay}}


def read_overlay(path: Path) -> Overlay:
    """The user's overlay file, empty when there is none; a SettingsError names file, entry and remedy."""
    content = _read_mapping(path)
    unknown = ", ".join(sorted(set(content) - set(_SECTIONS)))
    if unknown:
        raise SettingsError(f"{path}: unknown section {unknown}; an overlay has `tools`, `calibrations` and `embedded`")
    return Overlay(
        parse_cards(content.get("tools") or {}, str(path)),
        parse_calibrations(content.get("calibrations") or {}, str(path)),
        _parse_embedded(content.get("embedded") or {}, str(path)),
    )


def store_overlay(
    path: Path, calibrations: Mapping[str, Calibration], embedded: Mapping[str, EmbeddedScale] | None = None
) -> None:
    """Writes calibrations and scales of the embedded model into the overlay file and leaves the rest as it was."""
    content = _read_mapping(path)
    fresh_curves = {
        tool: found.model_dump(mode="json", by_alias=True, exclude_defaults=True)
        for tool, found in calibrations.items()
    }
    content["calibrations"] = {**(content.get("calibrations") or {}), **fresh_curves}
    if embedded:
        scales = {mode: scale.model_dump(mode="json") for mode, scale in embedded.items()}
        content["embedded"] = {**(content.get("embedded") or {}), **scales}
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, yaml.safe_dump(content, sort_keys=False, allow_unicode=True))


def parse_cards(content: Any, origin: str) -> dict[str, ToolCard]:
    """Validated cards by name."""
    if not isinstance(content, dict):
        raise SettingsError(f"{origin}: `tools` must map names to entries; correct the file")
    return {str(name): _parse_card(str(name), entry, origin) for name, entry in content.items()}


def _parse_embedded(content: Any, origin: str) -> dict[str, EmbeddedScale]:
    if not isinstance(content, dict):
        raise SettingsError(f"{origin}: `embedded` must map reference modes to scales; correct the file")
    try:
        return {str(mode): EmbeddedScale.model_validate(entry) for mode, entry in content.items()}
    except ValidationError as error:
        raise SettingsError(f"{origin}: embedded: {error.errors()[0]['msg']}; correct it or fit it again") from error


def _parse_card(name: str, entry: Any, origin: str) -> ToolCard:
    if not isinstance(entry, dict):
        raise SettingsError(f"{origin}: tools.{name}: must be an entry with fields; correct the file")
    try:
        return ToolCard.model_validate({"name": name, **entry})
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(str(part) for part in ("tools", name, *problem["loc"]))
        raise SettingsError(f"{origin}: {where}: {problem['msg']}; correct the entry") from error


def _read_mapping(path: Path) -> dict[str, Any]:
    return read_sections(path, _SECTIONS) if path.is_file() else {}


def describe_tools(registry: ToolRegistry) -> list[dict[str, Any]]:
    """One entry per tool, in the catalogue's order."""
    return [describe_tool(registry, name) for name in registry.names()]


def other_metrics(registry: ToolRegistry) -> list[str]:
    """The names of pyiqa's metrics that run when they are named, beside those the catalogue has under its own names."""
    known = {registry.card(name).implementation for name in registry.names()}
    return [name for metric in metrics_by_name() if (name := f"{SCHEME}:{metric}") not in known]


def describe_tool(registry: ToolRegistry, name: str) -> dict[str, Any]:
    """What is known of one tool, and whether it runs and votes here."""
    card, calibration, missing = registry.card(name), registry.calibration(name), registry.available(name)
    return {
        "name": card.name,
        "reference": card.reference,
        "available": missing is None,
        "reason": missing,
        "downloads": registry.get(name).to_fetch(),
        "votes": registry.votes(name),
        "why_not": _why_not(registry, name),
        "calibration": calibration.method if calibration else None,
        "spread": calibration.overall.spread if calibration else None,
        "higher_is_better": card.higher_is_better,
        "range": list(card.raw_range),
        "unit": card.unit,
        "licence": card.licence,
        "research_only": card.research_only or (calibration is not None and calibration.research_only),
        "strengths": list(card.strengths),
        "cost": card.cost,
        "variant": card.variant,
        "implementation": card.implementation,
    }


def _why_not(registry: ToolRegistry, name: str) -> str | None:
    if registry.votes(name):
        return None
    if registry.card(name).role == "attribute":
        return "a measured attribute"
    refused = registry.refusal(name)
    if refused is not None:
        return f"no calibration: {refused}"
    if registry.is_calibrated_on_first_use(name):
        return f"calibrated on first use, or now with: agenticiqa calibrate --ladder {name}"
    return f"no calibration; agenticiqa calibrate --ladder {name}"
