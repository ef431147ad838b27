"""Which tools there are on this machine: catalogue, the user's overlay and installed packages."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from importlib.metadata import entry_points

from agenticiqa.cache import Cache
from agenticiqa.config import Settings
from agenticiqa.errors import SettingsError
from agenticiqa.tools import builtin
from agenticiqa.tools.calibration import packaged_calibrations
from agenticiqa.tools.catalogue import load_catalogue, read_overlay
from agenticiqa.tools.execution import ToolLimits
from agenticiqa.tools.registry import ToolRegistry
from agenticiqa.tools.tool import Tool, ToolCard

logger = logging.getLogger("agenticiqa.tools")

ENTRY_POINT_GROUP = "agenticiqa.tools"
CACHE_FILE = "cache.sqlite"


def default_registry(settings: Settings, more: Iterable[Tool] = (), cache: Cache | None = None) -> ToolRegistry:
    """All tools these settings give: the catalogue's, installed packages' and `more`, which win by name.

    Without a cache of the caller's own, the one the settings name is opened.
    """
    overlay = read_overlay(settings.tools_overlay_path())
    cards = load_catalogue(overlay.cards.values())
    tools = [*(_build(card, settings) for card in cards.values()), *installed_tools(), *more]
    calibrations = {**packaged_calibrations(settings.pipeline.terms), **overlay.calibrations}
    if cache is None and settings.pipeline.cache.enabled:
        cache = open_cache(settings)
    limits = ToolLimits(timeout=settings.pipeline.limits.tool_timeout)
    return ToolRegistry(tools, calibrations, cache, limits)


def open_cache(settings: Settings) -> Cache:
    """The cache these settings name; the file is opened at its first use."""
    return Cache(settings.cache_directory() / CACHE_FILE, settings.pipeline.cache.max_megabytes * 1_000_000)


def installed_tools() -> list[Tool]:
    """Tools of other packages: each entry point is a function that returns tools; one that fails is left out."""
    found: list[Tool] = []
    for entry in entry_points(group=ENTRY_POINT_GROUP):
        try:
            found.extend(entry.load()())
        except Exception as error:  # a broken third party must not take our tools down
            logger.warning("tools of %s (%s) cannot be loaded: %s", entry.name, entry.value, error)
    return found


def _build(card: ToolCard, settings: Settings) -> Tool:
    scheme = card.implementation.partition(":")[0]
    if scheme == builtin.SCHEME:
        return builtin.BuiltinTool(card)
    raise SettingsError(f"{card.name}: unknown implementation {card.implementation!r}; use builtin: or pyiqa:")
