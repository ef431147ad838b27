"""The IQA tools: what there is, how to run it, and how to read what it says."""

from agenticiqa.tools.calibration import Calibration, Curve, same_scale
from agenticiqa.tools.catalogue import default_registry, open_cache
from agenticiqa.tools.registry import ToolRegistry
from agenticiqa.tools.running import ToolLimits
from agenticiqa.tools.tool import Measurement, Pixels, Tool, ToolCard

__all__ = [
    "Calibration",
    "Curve",
    "Measurement",
    "Pixels",
    "Tool",
    "ToolCard",
    "ToolLimits",
    "ToolRegistry",
    "default_registry",
    "open_cache",
    "same_scale",
]
