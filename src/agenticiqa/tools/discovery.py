"""Where tools come from: functions in `tools.metrics`, pyiqa and entry points, gathered into the default registry."""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable, Iterable
from functools import cache, cached_property, partial
from importlib.metadata import entry_points
from typing import Any, cast

from agenticiqa.cache import Cache
from agenticiqa.config import Settings
from agenticiqa.errors import SettingsError, ToolError, ToolUnavailableError, plugin_failure
from agenticiqa.tools import pyiqa_adapter
from agenticiqa.tools.calibration import packaged_calibrations
from agenticiqa.tools.catalogue import load_catalogue, read_overlay
from agenticiqa.tools.registry import REMEMBERED, ToolRegistry
from agenticiqa.tools.running import ToolLimits
from agenticiqa.tools.synthetic.ladder import LadderCalibrations
from agenticiqa.tools.tool import Pixels, Tool, ToolCard

logger = logging.getLogger("agenticiqa.tools")

ENTRY_POINT_GROUP = "agenticiqa.tools"
SCHEME = "builtin"
_METRICS = "agenticiqa.tools.metrics"


class BuiltinTool(Tool):
    """A pure function from pixels to a number; `builtin:psnr.psnr` names module and function."""

    def __init__(self, card: ToolCard) -> None:
        self.card = card

    def measure(self, test: Pixels, reference: Pixels | None = None) -> float:
        """The raw value; raises ToolError when there is none."""
        if self.card.reference == "NR":
            return float(self._function(test))
        if reference is None:
            raise ToolError(f"{self.name} compares with a reference image; give one")
        return float(self._function(test, reference))

    @cached_property
    def _function(self) -> Callable[..., float]:
        module, _, function = self.card.implementation.removeprefix(f"{SCHEME}:").rpartition(".")
        return cast(Callable[..., float], getattr(importlib.import_module(f"{_METRICS}.{module}"), function))


class WithheldTool(Tool):
    """A tool that the chosen terms leave out; it is listed with the reason."""

    def __init__(self, card: ToolCard) -> None:
        self.card = card

    def unavailable(self) -> str:
        """Why the tool is left out."""
        return "for research only, and the settings say `terms: commercial`"

    def measure(self, test: Pixels, reference: Pixels | None = None) -> float:
        """Always raises: the tool is left out."""
        raise ToolUnavailableError(f"{self.name} is not available: {self.unavailable()}")


def default_registry(
    settings: Settings, more: Iterable[Tool] = (), cache: Cache | None = None, *, own_curves: bool = True
) -> ToolRegistry:
    """All tools these settings give: the catalogue's, installed packages' and `more`, which win by name.

    Without a cache of the caller's own, the one the settings name is opened. With `own_curves` off, the tools read as
    they were shipped, whatever curves the user has stored.
    """
    overlay = read_overlay(settings.tools_overlay_path())
    cards = load_catalogue(overlay.cards.values())
    tools = [*(_build(card, settings) for card in cards.values()), *installed_tools(), *more]
    calibrations = packaged_calibrations(settings.pipeline.terms) | (overlay.calibrations if own_curves else {})
    if cache is None and settings.pipeline.cache.enabled:
        cache = open_cache(settings)
    limits = ToolLimits(timeout=settings.pipeline.limits.tool_timeout)
    first_use = LadderCalibrations(settings.tools_overlay_path().with_name("ladder.json")) if own_curves else None
    find = None
    if settings.pipeline.terms == "research":
        find = partial(pyiqa_adapter.find_metric, **_pyiqa_options(settings))
    return ToolRegistry(
        [_within_terms(tool, settings) for tool in tools],
        calibrations,
        cache,
        limits,
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
    if scheme == SCHEME:
        return BuiltinTool(card)
    if scheme == pyiqa_adapter.SCHEME:
        return pyiqa_adapter.PyiqaTool(card, **_pyiqa_options(settings))
    raise SettingsError(f"{card.name}: unknown implementation {card.implementation!r}; use builtin: or pyiqa:")


def _pyiqa_options(settings: Settings) -> dict[str, Any]:
    pipeline = settings.pipeline
    return {"hub": settings.weights_directory(), "offline": pipeline.offline, "device": pipeline.device}


def _within_terms(tool: Tool, settings: Settings) -> Tool:
    withheld = settings.pipeline.terms == "commercial" and tool.card.research_only
    return WithheldTool(tool.card) if withheld else tool
