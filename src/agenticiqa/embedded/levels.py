"""How probable each level of quality is around a score that is as sure as its error tells."""

from __future__ import annotations

import math
from itertools import pairwise

from agenticiqa.state import LEVEL_LETTERS, LevelLetter

EDGES = (4.5, 3.5, 2.5, 1.5)
NARROWEST = 0.3


def level_probabilities(score: float, error: float) -> dict[LevelLetter, float]:
    """Probabilities of A to E: a normal curve cut at the halves, placed so that its mean is the score."""
    spread, wanted = max(error, NARROWEST), min(max(score, 1.0), 5.0)
    low, high = -40.0, 46.0
    for _ in range(80):
        middle = (low + high) / 2
        # The mean level is 1 and as much as lies above each edge.
        low, high = (middle, high) if 1 + sum(_above(middle, spread)) < wanted else (low, middle)
    above = (0.0, *_above((low + high) / 2, spread), 1.0)
    shares = (upper - lower for lower, upper in pairwise(above))
    return dict(zip(LEVEL_LETTERS, shares, strict=True))


def _above(centre: float, spread: float) -> tuple[float, ...]:
    """The share of the curve above each edge, the highest edge first."""
    return tuple(0.5 * math.erfc((edge - centre) / (spread * math.sqrt(2))) for edge in EDGES)
