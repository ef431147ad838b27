"""Weighing tools against the model: who votes, what each side says, and what comes out."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from agenticiqa.score_fusion import ScoreFusion
from agenticiqa.state import LEVEL_SCORES, UNABLE, ExecutorOutput
from agenticiqa.tools.registry import ToolRegistry
from agenticiqa.vlm_client.client import ProbabilitySource, VLMReply


@dataclass(frozen=True)
class Weighed:
    """What the model says and what comes out with the tools; None where there is nothing to go by."""

    vlm_score: float | None
    fused_score: float | None
    fused_level: str | None
    probabilities: dict[str, float] | None
    source: ProbabilitySource | None
    interval: list[float] | None = None

    def as_evidence(self) -> dict[str, Any]:
        """The figures as JSON values under their documented names."""
        return {
            "vlm_score": self.vlm_score,
            "fused_score": self.fused_score,
            "fused_level": self.fused_level,
            "level_probabilities": self.probabilities,
            "probability_source": self.source,
            "interval": self.interval,
        }


def voting_scores(
    evidence: ExecutorOutput | None, tools: ToolRegistry, inside_the_model: Collection[str] = ()
) -> dict[str, float]:
    """The mean score of each distinct tool that votes.

    A tool does not vote when its evidence is already inside the model's beliefs or inside another voting tool.
    """
    scores: dict[str, list[float]] = defaultdict(list)
    for by_distortion in ((evidence and evidence.quality_scores) or {}).values():
        for tool, score in dict(by_distortion.values()).items():
            scores[tool].append(score)
    voters = {tool for tool in scores if tools.votes(tool) and tool not in inside_the_model}
    inside = {source for tool in voters for source in tools.card(tool).derived_from}
    return {tool: math.fsum(scores[tool]) / len(scores[tool]) for tool in sorted(voters - inside)}


def mean_score(tool_scores: Mapping[str, float]) -> float | None:
    """The tools' mean, each tool counted once; None without tools."""
    return math.fsum(tool_scores.values()) / len(tool_scores) if tool_scores else None


def weigh(
    tool_scores: Mapping[str, float],
    letter: str | None,
    reply: VLMReply | None,
    fusion: ScoreFusion,
    temperature: float = 1.0,
) -> Weighed:
    """The model's side and the fusion; a model that gave no level leaves the tools to speak alone."""
    beliefs, source = _beliefs(letter, reply, fusion, temperature)
    if source == "uniform":
        # No opinion: with eta = 0 fusing it would put any tool's score in the middle of the scale.
        model_score, fused = None, mean_score(tool_scores)
    else:
        model_score = math.fsum(level * p for level, p in beliefs.items())
        fused = fusion.fuse_scores(list(tool_scores.values()), beliefs)
    if fused is None:
        return Weighed(None, None, None, None, None)
    letters = {str(name): round(beliefs.get(level, 0.0), 6) for name, level in LEVEL_SCORES.items()}
    return Weighed(model_score, fused, fusion.map_to_level(fused), letters, source, _around(fused, reply))


def _around(fused: float, reply: VLMReply | None) -> list[float] | None:
    """The model's own interval, stretched to hold the fused score."""
    if reply is None or reply.interval is None:
        return None
    low, high = reply.interval
    return [min(low, fused), max(high, fused)]


def _beliefs(
    letter: str | None, reply: VLMReply | None, fusion: ScoreFusion, temperature: float
) -> tuple[dict[int, float], ProbabilitySource]:
    if reply is not None and reply.level_logprobs:
        logs = {key: value / temperature for key, value in reply.level_logprobs.items()}
        return fusion.extract_vlm_probabilities(logs, "logits"), reply.probability_source or "logprobs"
    if letter is not None and letter != UNABLE:
        return fusion.extract_vlm_probabilities(letter, "classification"), "classification"
    return fusion.uniform(), "uniform"
