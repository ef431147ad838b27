"""Assessing images from Python; names are loaded when they are first used, because measuring needs no agent."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agenticiqa.assessor.assessing import Assessor as Assessor
    from agenticiqa.assessor.assessing import aassess as aassess
    from agenticiqa.assessor.assessing import assess as assess
    from agenticiqa.assessor.assessing import compare as compare
    from agenticiqa.assessor.assessment import SCHEMA_VERSION as SCHEMA_VERSION
    from agenticiqa.assessor.assessment import Assessment as Assessment
    from agenticiqa.assessor.assessment import Finding as Finding
    from agenticiqa.assessor.assessment import ToolReading as ToolReading
    from agenticiqa.assessor.provenance import Provenance as Provenance
    from agenticiqa.assessor.ranking import Pair as Pair
    from agenticiqa.assessor.ranking import Ranked as Ranked
    from agenticiqa.assessor.ranking import Ranking as Ranking
    from agenticiqa.assessor.tool_measurements import measure as measure
    from agenticiqa.question.asked import DEFAULT_QUERY as DEFAULT_QUERY

_NAMES = {
    "assessing": "DEFAULT_QUERY Assessor aassess assess compare",
    "assessment": "SCHEMA_VERSION Assessment Finding ToolReading",
    "provenance": "Provenance",
    "ranking": "Pair Ranked Ranking",
    "tool_measurements": "measure",
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names.split()}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'agenticiqa.assessor' has no attribute {name!r}")
    return getattr(importlib.import_module(f"agenticiqa.assessor.{_HOMES[name]}"), name)
