"""How well each method agrees with the opinions of a rated set: the table of an evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from agenticiqa.evaluation.methods import Method
from agenticiqa.evaluation.samples import RatedSet
from agenticiqa.evaluation.statistics import (
    USUAL,
    Difference,
    Interval,
    LogisticFit,
    Resampling,
    Values,
    fit_logistic,
    krcc,
    plcc,
    rmse,
    srcc,
)

# Fewer pictures than this have no correlation worth a number.
LEAST = 5


@dataclass(frozen=True)
class Row:
    """One method's line: the share of pictures it scored and its agreement on them; None where there are too few."""

    method: Method
    answered: float
    srcc: Interval | None = None
    krcc: Interval | None = None
    plcc: Interval | None = None
    rmse: Interval | None = None
    fit: LogisticFit | None = None
    lead: Difference | None = None
    """How much the SRCC of the method it is set against exceeds this one's on the pictures both scored."""


@dataclass(frozen=True)
class PartAgreement:
    name: str
    pictures: int
    srcc: Interval | None


@dataclass(frozen=True)
class Coverage:
    """How often the 95 % interval holds the opinion on the 1–5 scale, its mean width, and that of a constant interval.

    `constant` is as wide as the central 95 % of these opinions: what knowing nothing of the picture would give.
    """

    share: float
    width: float
    constant: float
    pictures: int


def rate(
    methods: Sequence[Method], rated: RatedSet, sampling: Resampling = USUAL, against: Method | None = None
) -> list[Row]:
    """One line per method, with the lead that the method they are set `against` has over each."""
    rows: list[Row] = []
    for method in methods:
        # A part that changes nothing has its figures already.
        twin = next((row for row in rows if row.method.scores is method.scores), None)
        row = _row(method, rated, sampling) if twin is None else replace(twin, method=method)
        lead = None if against is None or method is against else _lead(against, method, rated, sampling)
        rows.append(replace(row, lead=lead))
    return rows


def by_part(method: Method, rated: RatedSet, key: str, sampling: Resampling = USUAL) -> list[PartAgreement]:
    """SRCC for each distortion type (`kind`) or `level` of the set, where it has them."""
    labels = np.array([getattr(sample, key) for sample in rated.samples], object)
    found = []
    for name in dict.fromkeys(label for label in labels if label is not None):
        rows = (labels == name) & np.isfinite(method.scores)
        x, y = method.scores[rows], rated.opinions[rows]
        interval = sampling.interval(srcc, x, y, _clusters(rated, rows)) if _enough(x, y) else None
        found.append(PartAgreement(name, int(rows.sum()), interval))
    return found


def coverage(intervals: Sequence[Sequence[float] | None], rated: RatedSet) -> Coverage | None:
    """How the score's intervals fare; None when no picture has one."""
    given = [(pair, opinion) for pair, opinion in zip(intervals, rated.common, strict=True) if pair is not None]
    if not given:
        return None
    low, high = np.array([pair for pair, _ in given], np.float64).T
    opinions = np.array([opinion for _, opinion in given])
    ends = np.quantile(rated.common, [0.025, 0.975])
    inside = (opinions >= low) & (opinions <= high)
    return Coverage(float(inside.mean()), float((high - low).mean()), float(ends[1] - ends[0]), len(given))


def _row(method: Method, rated: RatedSet, sampling: Resampling) -> Row:
    known = np.isfinite(method.scores)
    x, y = method.scores[known], rated.opinions[known]
    answered = float(known.mean())
    if not _enough(x, y):
        return Row(method, answered)
    clusters, fit = _clusters(rated, known), fit_logistic(x, y)
    # The curve is fitted once: the intervals of PLCC and RMSE are those under this curve.
    return Row(
        method,
        answered,
        sampling.interval(srcc, x, y, clusters),
        sampling.interval(krcc, x, y, clusters),
        sampling.interval(plcc, fit(x), y, clusters),
        sampling.interval(rmse, fit(x), y, clusters),
        fit,
    )


def _lead(first: Method, other: Method, rated: RatedSet, sampling: Resampling) -> Difference | None:
    both = np.isfinite(first.scores) & np.isfinite(other.scores)
    y = rated.opinions[both]
    if not (_enough(first.scores[both], y) and _enough(other.scores[both], y)):
        return None
    if first.scores is other.scores:
        return Difference(0.0, 0.0, 0.0, 1.0, sampling.repetitions)
    clusters = _clusters(rated, both)
    if len(set(clusters)) < 2:
        return None
    return sampling.difference(srcc, first.scores[both], other.scores[both], y, clusters)


def _clusters(rated: RatedSet, rows: npt.NDArray[np.bool_]) -> list[str]:
    return [cluster for cluster, chosen in zip(rated.clusters, rows, strict=True) if chosen]


def _enough(x: Values, y: Values) -> bool:
    return len(x) >= LEAST and float(np.ptp(x)) > 0 and float(np.ptp(y)) > 0
