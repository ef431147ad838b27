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

_HOMES = {
    "AgenticIQAError": "agenticiqa.errors",
    "Assessment": "agenticiqa.assessor",
    "Assessor": "agenticiqa.assessor",
    "ProgressEvent": "agenticiqa.nodes.context",
    "Ranking": "agenticiqa.assessor",
    "ScoreFusion": "agenticiqa.score_fusion",
    "Settings": "agenticiqa.config",
    "VLMClient": "agenticiqa.vlm_client",
    "aassess": "agenticiqa.assessor",
    "assess": "agenticiqa.assessor",
    "build_graph": "agenticiqa.graph",
    "compare": "agenticiqa.assessor",
    "create_vlm_client": "agenticiqa.vlm_client",
    "load_settings": "agenticiqa.config",
    "measure": "agenticiqa.assessor.tool_measurements",
    "run_pipeline": "agenticiqa.graph",
    "visualize_graph": "agenticiqa.graph",
}

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
