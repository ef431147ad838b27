"""A level distribution from calibrated tool scores, for eyes that have no judgement of their own."""

from __future__ import annotations

import math
from collections.abc import Sequence

from agenticiqa.perception.evidence import ToolScore
from agenticiqa.perception.eyes import Judgement
from agenticiqa.state import LEVEL_SCORES

# How far a calibrated tool is off, on the 1–5 scale.
TOOL_ERROR = 0.5


def judgement_from_tools(scores: Sequence[ToolScore]) -> Judgement | None:
    """A distribution around the mean of the distinct tools; None without any."""
    distinct = {score.tool: score.score for score in scores}
    if not distinct:
        return None
    mean = sum(distinct.values()) / len(distinct)
    weights = {letter: math.exp(-0.5 * ((level - mean) / TOOL_ERROR) ** 2) for letter, level in LEVEL_SCORES.items()}
    total = sum(weights.values())
    return Judgement({letter: weight / total for letter, weight in weights.items()}, source=", ".join(distinct))
