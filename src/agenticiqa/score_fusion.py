"""Fusing what the tools measured with what the model believes into one score."""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal, get_args

logger = logging.getLogger("agenticiqa.score_fusion")

VLMOutput = Mapping[int, float] | Mapping[str, float] | Mapping[str, str] | str | int
_ANSWER: Any = "final_answer"
ProbabilityMode = Literal["logits", "classification"]

CLASSIFIED_PROBABILITY = 0.8
"""What a model's bare choice of a level is taken to be worth; the other levels share the rest equally."""
_SUM_TOLERANCE = 1e-3
TOOL_TRUST = 3.0
"""How much more a tool of known error counts than its error alone says: models state more certainty than they have.

Chosen with simulated models (`python -m benchmarks.fusion --simulate`): at 1 the fused score of a weak model is .02 to
.04 worse in rank correlation than the tool alone, at 3 by at most .005, and a strong model still gains.
"""
MOST_ETA = 4.0
"""Above it the five levels are steps: a tool mean of 2.6 would read 3."""
UNKNOWN_SPREAD = (TOOL_TRUST / 2) ** 0.5
"""The error at which eta is the paper's 1; it is taken for a tool whose error nobody measured."""
# "B", "b)", "B. Good", "B - Good", "Good".
_LEVEL = re.compile(r"(?:[(\[]?([A-Za-z])[)\].:,-]?(?:\s+-?\s*|$))?([A-Za-z]*)\.?")
_NAMES = ("excellent", "good", "fair", "poor", "bad")
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def eta_for(spread: float) -> float:
    """The eta for a tool mean with this standard error σ: 1 / (2 σ²), times the trust that was fitted, with a limit."""
    return min(MOST_ETA, TOOL_TRUST / (2.0 * max(spread, 1e-6) ** 2))


class ScoreFusion:
    """Weighs the model's level probabilities by how near each level is to the tools' mean.

    `eta` says how far the tool mean is trusted: it claims a standard error of 1 / sqrt(2 * eta).
    """

    def __init__(self, eta: float = 1.0, quality_levels: Sequence[int] = (1, 2, 3, 4, 5)) -> None:
        levels = sorted(set(quality_levels))
        if not math.isfinite(eta) or eta < 0:
            raise ValueError(f"eta must be a finite number of at least 0, not {eta}")
        if not 2 <= len(levels) <= len(_LETTERS):
            raise ValueError(f"there must be 2 to {len(_LETTERS)} distinct quality levels, not {len(levels)}")
        self.eta = eta
        self.quality_levels = levels

    def compute_perceptual_weights(self, tool_scores: Sequence[float]) -> dict[int, float]:
        """The weight of each level, summing to 1: a Gaussian around the tools' mean, uniform without tools."""
        if not tool_scores:
            logger.warning("no tool scores: perceptual weights are uniform")
            return self.uniform()
        mean = _mean(tool_scores)
        return _softmax({level: -self.eta * (mean - level) ** 2 for level in self.quality_levels})

    def extract_vlm_probabilities(
        self, vlm_output: VLMOutput | None, mode: ProbabilityMode | None = None
    ) -> dict[int, float]:
        """The model's probability of each level, from log-values or probabilities per level, or from one level.

        Keys and levels may be numbers, letters (A is the highest), names or both ("B. Good"); a whole reply counts by
        its `final_answer`. Output that names no level, and a mode that is none, give the uniform distribution and a
        warning.
        """
        if mode not in (None, *get_args(ProbabilityMode)):
            logger.warning("%r is no way to read probabilities: they are uniform", mode)
            return self.uniform()
        if isinstance(vlm_output, Mapping) and _ANSWER in vlm_output:
            vlm_output, mode = str(vlm_output[_ANSWER]), "classification"
        if isinstance(vlm_output, Mapping) and vlm_output:
            return self._from_values({self._level(key): float(v) for key, v in vlm_output.items()}, mode)
        if mode == "logits" and vlm_output != {}:
            raise ValueError("mode 'logits' needs a value per level, not a single answer")
        chosen = self._level(vlm_output)
        if chosen is None:
            logger.warning("%r names no quality level: probabilities are uniform", vlm_output)
            return self.uniform()
        return self._classified(chosen)

    def fuse_scores(
        self, tool_scores: Sequence[float], vlm_probabilities: Mapping[int, float], *, normalize: bool = True
    ) -> float:
        """The fused score Σ αc·pc·c / Σ αc·pc; without `normalize` the bare sum, as the paper prints it."""
        beliefs = self._beliefs(vlm_probabilities)
        if not normalize:
            weights = self.compute_perceptual_weights(tool_scores)
            return sum(weights[level] * beliefs[level] * level for level in self.quality_levels)
        joint = self._joint(tool_scores, beliefs)
        return min(max(sum(joint[level] * level for level in joint), self.quality_levels[0]), self.quality_levels[-1])

    def map_to_level(self, score: float, thresholds: Sequence[float] | None = None) -> str:
        """The letter of the level nearest to the score, halves upward; `thresholds` are lower bounds, ascending."""
        if not math.isfinite(score):
            raise ValueError(f"a score must be a finite number, not {score}")
        levels = self.quality_levels
        bounds = thresholds or [(low + high) / 2 for low, high in pairwise(levels)]
        if len(bounds) != len(levels) - 1 or list(bounds) != sorted(bounds):
            raise ValueError(f"thresholds must be {len(levels) - 1} ascending numbers")
        reached = sum(score >= bound for bound in bounds)
        return _LETTERS[len(levels) - 1 - reached]

    def uniform(self) -> dict[int, float]:
        """The same probability for every level."""
        return dict.fromkeys(self.quality_levels, 1 / len(self.quality_levels))

    def _level(self, key: object) -> int | None:
        if isinstance(key, int) or (isinstance(key, str) and re.fullmatch(r"-?\d+", key.strip())):
            return int(key) if int(key) in self.quality_levels else None
        if not isinstance(key, str):
            return None
        count, said = len(self.quality_levels), _LEVEL.fullmatch(key.strip())
        if said is None:
            return None
        letter, name = (said.group(1) or "").upper(), said.group(2).lower()
        if letter and letter in _LETTERS[:count]:
            return self.quality_levels[-1 - _LETTERS.index(letter)]
        return self.quality_levels[-1 - _NAMES.index(name)] if name in _NAMES and count == len(_NAMES) else None

    def _from_values(self, values: dict[int | None, float], mode: ProbabilityMode | None) -> dict[int, float]:
        if None in values:
            known = ", ".join(map(str, self.quality_levels))
            raise ValueError(f"every key must be a level ({known}) or its letter")
        levels = {level: value for level, value in values.items() if level is not None}
        if mode == "classification":
            return self._classified(max(levels, key=lambda level: levels[level]))
        if mode is None and _are_probabilities(levels.values()):
            total = sum(levels.values())
            return {level: levels.get(level, 0.0) / total for level in self.quality_levels}
        return _softmax({level: levels.get(level, -math.inf) for level in self.quality_levels})

    def _classified(self, chosen: int) -> dict[int, float]:
        rest = (1 - CLASSIFIED_PROBABILITY) / (len(self.quality_levels) - 1)
        return {level: CLASSIFIED_PROBABILITY if level == chosen else rest for level in self.quality_levels}

    def _beliefs(self, probabilities: Mapping[int, float]) -> dict[int, float]:
        beliefs = {level: float(probabilities.get(level, 0.0)) for level in self.quality_levels}
        if not all(math.isfinite(p) and p >= 0 for p in beliefs.values()) or sum(beliefs.values()) <= 0:
            raise ValueError("probabilities must be finite, not negative, and not all 0 on the quality levels")
        return beliefs

    def _joint(self, tool_scores: Sequence[float], beliefs: Mapping[int, float]) -> dict[int, float]:
        # In logarithms: with a large eta every weight of a level the model believes in may underflow to 0.
        logs = {level: math.log(p) if p > 0 else -math.inf for level, p in beliefs.items()}
        if tool_scores:
            mean = _mean(tool_scores)
            logs = {level: value - self.eta * (mean - level) ** 2 for level, value in logs.items()}
        else:
            logger.info("no tool scores: the fused score is the model's expectation")
        return _softmax(logs)


def _mean(scores: Sequence[float]) -> float:
    if not all(math.isfinite(score) for score in scores):
        raise ValueError("tool scores must be finite; leave out those that are not")
    # fsum: the mean must not depend on the order of the tools.
    return math.fsum(scores) / len(scores)


def _softmax(logs: Mapping[int, float]) -> dict[int, float]:
    if any(math.isnan(value) or value == math.inf for value in logs.values()):
        raise ValueError("log-values must be numbers below infinity")
    highest = max(logs.values())
    if highest == -math.inf:
        raise ValueError("at least one level needs a log-value above minus infinity")
    exponentials = {level: math.exp(value - highest) for level, value in logs.items()}
    total = math.fsum(exponentials.values())
    return {level: value / total for level, value in exponentials.items()}


def _are_probabilities(values: Collection[float]) -> bool:
    return all(value >= 0 for value in values) and abs(sum(values) - 1) <= _SUM_TOLERANCE
