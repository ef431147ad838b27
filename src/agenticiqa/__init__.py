"""AgenticIQA: answers questions about the quality of an image, and shows its evidence.

The public names are loaded when they are first used, so that importing the package stays instant.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agenticiqa.assessor import Assessment as Assessment
    from agenticiqa.assessor import Assessor as Assessor
    from agenticiqa.assessor import Ranking as Ranking
    from agenticiqa.assessor import aassess as aassess
    from agenticiqa.assessor import assess as assess
    from agenticiqa.assessor import compare as compare
    from agenticiqa.assessor import measure as measure
    from agenticiqa.config import Settings as Settings
    from agenticiqa.config import load_settings as load_settings
    from agenticiqa.errors import AgenticIQAError as AgenticIQAError
    from agenticiqa.graph import build_graph as build_graph
    from agenticiqa.graph import run_pipeline as run_pipeline
    from agenticiqa.graph import visualize_graph as visualize_graph
    from agenticiqa.nodes.context import ProgressEvent as ProgressEvent
    from agenticiqa.score_fusion import ScoreFusion as ScoreFusion
    from agenticiqa.vlm_client import VLMClient as VLMClient
    from agenticiqa.vlm_client import create_vlm_client as create_vlm_client

# Read by these libraries when they are imported, and inherited by every process started from here: no usage reports.
# Whoever wants the reports sets the variable.
for _name, _value in {
    "ORT_DISABLE_TELEMETRY": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "DO_NOT_TRACK": "1",
}.items():
    os.environ.setdefault(_name, _value)

_NAMES = {
    "assessor": "Assessment Assessor Ranking aassess assess compare",
    "assessor.tool_measurements": "measure",
    "config": "Settings load_settings",
    "errors": "AgenticIQAError",
    "graph": "build_graph run_pipeline visualize_graph",
    "nodes.context": "ProgressEvent",
    "score_fusion": "ScoreFusion",
    "vlm_client": "VLMClient create_vlm_client",
}
_HOMES = {name: f"agenticiqa.{home}" for home, names in _NAMES.items() for name in names.split()}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("agenticiqa")
    if name not in _HOMES:
        raise AttributeError(f"module 'agenticiqa' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return [*globals(), *_HOMES, "__version__"]
