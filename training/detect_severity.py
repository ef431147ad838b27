"""How much quality each kind of damage costs at each level, measured on clean training photographs.

The loss of one damaged photograph comes from its mean deviation similarity index, by the two anchors in
`embedded.distortions.severity`; a kind's loss at a level is the median over photographs, made to grow with
the level. No opinion data enters.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from agenticiqa.limits import STRONGEST
from agenticiqa.state import DISTORTION_CATEGORIES
from agenticiqa.tools.synthetic.kinds import KINDS, LEVELS

Losses = dict[str, tuple[float, ...]]
# Where the mean deviation similarity index of a damaged photograph begins to be seen, and where nothing is left.
BARELY_SEEN, RUINED = 0.18, 0.55


def loss_of(deviation: float) -> float:
    """The loss of quality, 0 to 4, that a mean deviation similarity index (0 for an identical pair) stands for."""
    share = (deviation - BARELY_SEEN) / (RUINED - BARELY_SEEN)
    return STRONGEST * min(1.0, max(0.0, share))


def measure_losses(synthetic: Path) -> Losses:
    """The loss of every kind at levels 1 to 5, from the list of the synthetic set."""
    found: dict[tuple[str, int], list[float]] = defaultdict(list)
    with synthetic.open() as stream:
        for row in csv.DictReader(stream):
            if row["split"] == "train" and ":" in row["recipe"] and "+" not in row["recipe"] and row.get("distance"):
                kind, level = row["recipe"].split(":")
                found[kind, int(level)].append(loss_of(float(row["mdsi"])))
    return {kind: _growing([float(np.median(found[kind, level])) for level in LEVELS]) for kind in KINDS}


def category_losses(parts: Sequence[tuple[str, int]], losses: Losses) -> list[float]:
    """The loss per category of a picture damaged by these parts; the strongest part of a category counts."""
    worst = dict.fromkeys(DISTORTION_CATEGORIES, 0.0)
    for kind, level in parts:
        category = KINDS[kind].category
        worst[category] = max(worst[category], losses[kind][level - 1])
    return list(worst.values())


def _growing(values: list[float]) -> tuple[float, ...]:
    """The nearest sequence that never falls: neighbours that do are averaged."""
    blocks: list[tuple[float, int]] = []
    for value in values:
        blocks.append((value, 1))
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (first, m), (second, n) = blocks[-2:]
            blocks[-2:] = [((first * m + second * n) / (m + n), m + n)]
    return tuple(round(value, 3) for value, count in blocks for _ in range(count))
