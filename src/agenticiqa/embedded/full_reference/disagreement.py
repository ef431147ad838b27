"""Which metrics contradict each other about a pair, which of them to trust for its kind of damage, and why."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import combinations

from agenticiqa.tools.calibration import Calibration
from agenticiqa.values import Disagreement, MetricScore

# Two scores contradict each other when they are further apart than chance explains in 95 of 100 cases.
DEVIATIONS = 1.96


def find_disagreement(
    raw: Mapping[str, float], kinds: Mapping[str, float], calibrations: Mapping[str, Calibration]
) -> Disagreement | None:
    """The disagreement of the calibrated metrics about this pair; None when they agree within their spreads."""
    scores = calibrated(raw, kinds, calibrations)
    if not any(contradict(first, second) for first, second in combinations(scores, 2)):
        return None
    trusted = min(scores, key=lambda metric: metric.spread)
    against = tuple(metric for metric in scores if contradict(metric, trusted))
    if not against:
        return None
    kind = max(kinds, key=lambda name: kinds[name]) if kinds else None
    return Disagreement(trusted, against, kind)


def calibrated(
    raw: Mapping[str, float], kinds: Mapping[str, float], calibrations: Mapping[str, Calibration]
) -> list[MetricScore]:
    """Each metric that has a calibration, read for these kinds of damage."""
    known = [name for name in raw if name in calibrations and math.isfinite(raw[name])]
    return [MetricScore(name, raw[name], *calibrations[name].score(raw[name], kinds)) for name in known]


def contradict(first: MetricScore, second: MetricScore) -> bool:
    """Whether two scores are further apart than their spreads explain."""
    return abs(first.score - second.score) > DEVIATIONS * math.hypot(first.spread, second.spread)
