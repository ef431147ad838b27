"""The learned tools that perception offers to the registry."""

from __future__ import annotations

from agenticiqa.perception.full_reference_tool import FullReferenceTool, Weights
from agenticiqa.perception.quality_tool import QualityTool
from agenticiqa.tools.calibration import Terms
from agenticiqa.tools.tool import Tool


def learned_tools(terms: Terms = "research") -> list[Tool]:
    """The learned tools that these terms of use allow."""
    weights: Weights = "research" if terms == "research" else "open"
    return [QualityTool(weights), FullReferenceTool(weights)]
