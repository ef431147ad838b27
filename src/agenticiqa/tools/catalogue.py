"""The catalogue: every tool we know of, as data, with the user's own entries laid over it; and the registry made of it.

Tools are functions in `tools.metrics`, metrics of pyiqa, and entry points of other packages.
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from importlib import resources
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, cast

import yaml

from agenticiqa.cache import Cache
from agenticiqa.config import Settings, read_sections
from agenticiqa.errors import (
    MissingExtraError,
    SettingsError,
    ToolError,
    ToolUnavailableError,
    is_installed,
    plugin_failure,
)
from agenticiqa.outputs import write_whole
from agenticiqa.tools.calibration import (
    Calibration,
    EmbeddedScale,
    packaged_calibrations,
    parse_calibrations,
    parse_entries,
)
from agenticiqa.tools.registry import REMEMBERED, ToolRegistry
from agenticiqa.tools.synthetic.ladder import LadderCalibrations
from agenticiqa.tools.tool import Pixels, Tool, ToolCard

_SECTIONS = ("tools", "calibrations", "embedded")


@dataclass(frozen=True)
class Overlay:
    """What a user adds: cards of tools, calibrations that win over the packaged ones, the embedded model's scale."""

    cards: dict[str, ToolCard] = field(default_factory=dict)
    calibrations: dict[str, Calibration] = field(default_factory=dict)
    embedded: dict[str, EmbeddedScale] = field(default_factory=dict)
    """By reference mode."""


def load_catalogue() -> dict[str, ToolCard]:
    """The packaged cards by name."""
    text = resources.files("agenticiqa.tools").joinpath("catalogue.yaml").read_text(encoding="utf-8")
    # The parser in C: in Python this file takes longer than a measurement.
    content = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return _parse_cards(content["tools"], "the packaged catalogue")


def read_overlay(path: Path) -> Overlay:
    """The user's overlay file, empty when there is none; a SettingsError names file, entry and remedy."""
    content = _read_mapping(path)
    unknown = ", ".join(sorted(set(content) - set(_SECTIONS)))
    if unknown:
        raise SettingsError(f"{path}: unknown section {unknown}; an overlay has `tools`, `calibrations` and `embedded`")
    return Overlay(
        _parse_cards(content.get("tools") or {}, f"{path}: tools"),
        parse_calibrations(content.get("calibrations") or {}, f"{path}: calibrations"),
        parse_entries(content.get("embedded") or {}, EmbeddedScale, f"{path}: embedded", SettingsError),
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


def _parse_cards(content: Any, origin: str) -> dict[str, ToolCard]:
    if isinstance(content, dict):
        content = {name: {"name": name, **card} if isinstance(card, dict) else card for name, card in content.items()}
    return parse_entries(content, ToolCard, origin, SettingsError)


def _read_mapping(path: Path) -> dict[str, Any]:
    return read_sections(path, _SECTIONS) if path.is_file() else {}


def describe_tools(registry: ToolRegistry) -> list[dict[str, Any]]:
    """One entry per tool, in the catalogue's order."""
    return [describe_tool(registry, name) for name in registry.names()]


def other_metrics(registry: ToolRegistry) -> list[str]:
    """The names of pyiqa's metrics that run when they are named, beside those the catalogue has under its own names."""
    if not pyiqa_is_installed():
        return []
    from agenticiqa.tools.pyiqa_adapter import metrics_by_name

    known = {registry.card(name).implementation for name in registry.names()}
    return [name for metric in metrics_by_name() if (name := f"pyiqa:{metric}") not in known]


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


logger = logging.getLogger("agenticiqa.tools")

ENTRY_POINT_GROUP = "agenticiqa.tools"
BUILTIN = "builtin"
_METRICS = "agenticiqa.tools.metrics"


class BuiltinTool(Tool):
    """A pure function from pixels to a number; `builtin:psnr.psnr` names module and function."""

    def __init__(self, card: ToolCard) -> None:
        self.card = card

    def measure(self, test: Pixels, reference: Pixels | None = None) -> float:
        if self.card.reference == "NR":
            return float(self._function(test))
        if reference is None:
            raise ToolError(f"{self.name} compares with a reference image; give one")
        return float(self._function(test, reference))

    @cached_property
    def _function(self) -> Callable[..., float]:
        module, _, function = self.card.implementation.removeprefix(f"{BUILTIN}:").rpartition(".")
        return cast(Callable[..., float], getattr(importlib.import_module(f"{_METRICS}.{module}"), function))


class UnavailableTool(Tool):
    """A tool that the chosen terms leave out or whose package is not installed; it is listed with the reason."""

    def __init__(self, card: ToolCard, reason: str) -> None:
        self.card, self._reason = card, reason

    def unavailable(self) -> str:
        return self._reason

    def measure(self, test: Pixels, reference: Pixels | None = None) -> float:
        raise ToolUnavailableError(f"{self.name} is not available: {self._reason}")


def default_registry(
    settings: Settings, more: Iterable[Tool] = (), cache: Cache | None = None, *, own_curves: bool = True
) -> ToolRegistry:
    """All tools these settings give: the catalogue's, installed packages' and `more`, which win by name.

    Without a cache of the caller's own, the one the settings name is opened. With `own_curves` off, the tools read as
    they were shipped, whatever curves the user has stored.
    """
    overlay = read_overlay(settings.tools_overlay_path())
    cards = load_catalogue() | overlay.cards
    tools = [*(_build(card, settings) for card in cards.values()), *installed_tools(), *more]
    calibrations = packaged_calibrations(settings.pipeline.terms) | (overlay.calibrations if own_curves else {})
    if cache is None and settings.pipeline.cache.enabled:
        cache = open_cache(settings)
    first_use = LadderCalibrations(settings.tools_overlay_path().with_name("ladder.json")) if own_curves else None
    find = None
    if settings.pipeline.terms == "research" and pyiqa_is_installed():
        from agenticiqa.tools.pyiqa_adapter import find_metric

        find = partial(find_metric, **_pyiqa_options(settings))
    return ToolRegistry(
        [_within_terms(tool, settings) for tool in tools],
        calibrations,
        cache,
        settings.pipeline.limits.tool_timeout,
        find,
        first_use,
        remembered=REMEMBERED if settings.pipeline.cache.enabled else 0,
    )


def open_cache(settings: Settings) -> Cache:
    """The cache these settings name; the file is opened at its first use."""
    return Cache(settings.cache_file(), settings.pipeline.cache.max_bytes)


def installed_tools() -> list[Tool]:
    """Tools of other packages; one that fails is left out, which is said once.

    An entry point is a `Tool` class, or a function that returns a tool or several.
    """
    found: list[Tool] = []
    for entry in entry_points(group=ENTRY_POINT_GROUP):
        try:
            made = entry.load()()
            found.extend([made] if isinstance(made, Tool) else made)
        except Exception as error:  # a broken third party must not take our tools down
            _say_once(plugin_failure(entry, error))
    return found


@cache
def _say_once(text: str) -> None:
    logger.warning("%s", text)


def _build(card: ToolCard, settings: Settings) -> Tool:
    scheme = card.implementation.partition(":")[0]
    if scheme == BUILTIN:
        return BuiltinTool(card)
    if scheme == "pyiqa" and not pyiqa_is_installed():
        return UnavailableTool(card, str(MissingExtraError(card.name, "pyiqa")))
    if scheme == "pyiqa":
        # Loaded only where pyiqa is installed: what it needs takes longer to load than a measurement.
        from agenticiqa.tools.pyiqa_adapter import PyiqaTool

        return PyiqaTool(card, **_pyiqa_options(settings))
    raise SettingsError(f"{card.name}: unknown implementation {card.implementation!r}; use builtin: or pyiqa:")


@cache
def pyiqa_is_installed() -> bool:
    """Whether pyiqa is here with torch, without which it cannot run."""
    return is_installed("pyiqa", "torch")


def _pyiqa_options(settings: Settings) -> dict[str, Any]:
    pipeline = settings.pipeline
    return {"hub": settings.weights_directory(), "offline": pipeline.offline, "device": pipeline.device}


def _within_terms(tool: Tool, settings: Settings) -> Tool:
    if settings.pipeline.terms == "commercial" and tool.card.research_only:
        return UnavailableTool(tool.card, "for research only, and the settings say `terms: commercial`")
    return tool
