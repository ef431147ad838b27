"""A score and its error as probabilities of the five levels whose mean is that score."""

from __future__ import annotations

import math

LEVELS = (1, 2, 3, 4, 5)
NARROWEST = 0.3


def level_probabilities(score: float, error: float) -> tuple[float, float, float, float, float]:
    """Probabilities of levels 1 to 5: a normal curve cut at the halves, placed so that its mean is the score."""
    spread = max(error, NARROWEST)
    wanted = min(max(score, 1.0), 5.0)
    low, high = -40.0, 46.0
    for _ in range(80):
        middle = (low + high) / 2
        mean = sum(level * p for level, p in zip(LEVELS, _cut(middle, spread), strict=True))
        low, high = (middle, high) if mean < wanted else (low, middle)
    return _cut((low + high) / 2, spread)


def _cut(centre: float, spread: float) -> tuple[float, float, float, float, float]:
    below = [0.5 * math.erfc(-(edge - centre) / (spread * math.sqrt(2))) for edge in (1.5, 2.5, 3.5, 4.5)]
    first, second, third, fourth = below
    return first, second - first, third - second, fourth - third, 1 - fourth
