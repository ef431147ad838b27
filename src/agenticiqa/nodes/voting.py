"""Weighing tools against the model: who votes, what each side says, and what comes out."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import cast

from agenticiqa.score_fusion import UNKNOWN_SPREAD, ScoreFusion
from agenticiqa.state import LEVEL_SCORES, UNABLE, ExecutorOutput, LevelLetter, ProbabilitySource, UsedEvidence
from agenticiqa.tools.registry import ToolRegistry
from agenticiqa.vlm_client.client import VLMReply


def voting_scores(
    evidence: ExecutorOutput, tools: ToolRegistry, inside_the_model: Collection[str] = ()
) -> dict[str, float]:
    """The mean score of each distinct tool that votes; `quality_scores` are on the scale of 1 to 5 already.

    A tool does not vote when its evidence is already inside the model's beliefs or inside another voting tool, and a
    measured attribute never does. A tool the catalogue does not know votes as it was handed over.
    """
    scores: dict[str, list[float]] = defaultdict(list)
    for by_distortion in (evidence.quality_scores or {}).values():
        on_object: dict[str, list[float]] = defaultdict(list)
        for tool, score in by_distortion.values():
            on_object[tool].append(score)
        # An object with many distortions has no more weight than another.
        for tool, several in on_object.items():
            scores[tool].append(math.fsum(several) / len(several))
    cards = {tool: tools.find_card(tool) for tool in scores}
    voters = {
        tool
        for tool, card in cards.items()
        if tool not in inside_the_model and (card is None or card.role != "attribute")
    }
    inside = {source for tool in voters if (card := cards[tool]) for source in card.derived_from}
    return {tool: math.fsum(scores[tool]) / len(scores[tool]) for tool in sorted(voters - inside)}


def unknown_tools(evidence: ExecutorOutput, tools: ToolRegistry) -> list[str]:
    """The names in handed-over evidence that the catalogue does not know."""
    scores = (evidence.quality_scores or {}).values()
    names = dict.fromkeys(tool for by_distortion in scores for tool, _ in by_distortion.values())
    return [name for name in names if tools.find_card(name) is None]


def spread_of(tool_scores: Mapping[str, float], tools: ToolRegistry) -> float | None:
    """The known error of the voting tools' mean; None without tools.

    Tools err alike on the same picture, so that averaging them is not counted as making the error smaller.
    """
    curves = {name: tools.calibration(name) if tools.find_card(name) else None for name in tool_scores}
    return mean_score({name: curve.overall.spread if curve else UNKNOWN_SPREAD for name, curve in curves.items()})


def mean_score(by_tool: Mapping[str, float]) -> float | None:
    """The tools' mean, each tool counted once; None without tools."""
    return math.fsum(by_tool.values()) / len(by_tool) if by_tool else None


def weigh(
    tool_scores: Mapping[str, float],
    letter: str | None,
    reply: VLMReply | None,
    fusion: ScoreFusion,
    temperature: float = 1.0,
    spread: float | None = None,
) -> UsedEvidence:
    """The model's side and the fusion; a model that gave no level leaves the tools to speak alone.

    `letter` is the level the model chose, None where the question asks for something else. `spread` is the error of
    the tools' mean, from which a score of the tools alone has its interval.
    """
    beliefs, source = _beliefs(letter, reply, fusion, temperature)
    interval = None
    if source == "uniform":
        # No opinion: with eta = 0 fusing it would put any tool's score in the middle of the scale.
        model_score, fused = None, mean_score(tool_scores)
        if fused is not None and spread is not None:
            interval = max(1.0, fused - 1.96 * spread), min(5.0, fused + 1.96 * spread)
    else:
        model_score = math.fsum(level * p for level, p in beliefs.items())
        fused = fusion.fuse_scores(list(tool_scores.values()), beliefs)
        if reply is not None and reply.interval is not None:
            # The model's own, stretched to hold the fused score.
            interval = min(reply.interval[0], fused), max(reply.interval[1], fused)
    if fused is None:
        return UsedEvidence()
    letters = {str(name): round(beliefs.get(level, 0.0), 6) for name, level in LEVEL_SCORES.items()}
    level = fusion.map_to_level(fused)
    if source == "classification" and not tool_scores and letter in LEVEL_SCORES:
        # The share the other levels keep moves the mean inward; with nobody to disagree the chosen level stands.
        level = letter
    return UsedEvidence(
        vlm_score=model_score,
        fused_score=fused,
        fused_level=cast(LevelLetter, level),
        level_probabilities=letters,
        probability_source=source,
        interval=interval,
        eta=fusion.eta,
        temperature=temperature,
    )


def _beliefs(
    letter: str | None, reply: VLMReply | None, fusion: ScoreFusion, temperature: float
) -> tuple[dict[int, float], ProbabilitySource]:
    # Where no level was asked for, the letters a service has probabilities of are those of the choices.
    about_levels = reply is not None and (letter is not None or reply.probability_source == "builtin")
    if reply is not None and reply.level_logprobs and about_levels:
        logs = {key: value / temperature for key, value in reply.level_logprobs.items()}
        return fusion.extract_vlm_probabilities(logs, "logits"), reply.probability_source or "logprobs"
    if letter is not None and letter != UNABLE:
        return fusion.extract_vlm_probabilities(letter, "classification"), "classification"
    return fusion.uniform(), "uniform"
