"""Figures of a version from its records: one value per picture and the statistic over them, so that versions pair."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from agenticiqa.evaluation.statistics import (
    Difference,
    Interval,
    bootstrap,
    fit_logistic,
    mean,
    paired_bootstrap,
    plcc,
    srcc,
)
from benchmarks.field.sources import Half, Picture, Source

Values = npt.NDArray[np.float64]
Row = Mapping[str, str]
Rows = Mapping[str, Row]
Better = Literal["higher", "lower", "neither"]
REPETITIONS = 2000


@dataclass(frozen=True)
class Measured:
    """One figure of one version: a statistic of a value per picture, and whether more of it is better."""

    name: str
    half: Half
    statistic: Callable[[Values, Values], float]
    ids: tuple[str, ...]
    values: Values
    observed: Values
    clusters: tuple[str, ...]
    better: Better = "higher"

    def value(self) -> float:
        """The figure alone."""
        return self.statistic(self.values, self.observed)

    def interval(self) -> Interval:
        """The figure with its 95 % bootstrap interval."""
        return bootstrap(self.statistic, self.values, self.observed, clusters=self.clusters, repetitions=REPETITIONS)

    def of(self, ids: Sequence[str]) -> Measured:
        """The same figure of some of the pictures."""
        place = {name: row for row, name in enumerate(self.ids)}
        rows = [place[name] for name in ids]
        return replace(
            self, ids=tuple(ids), values=self.values[rows], observed=self.observed[rows],
            clusters=tuple(self.clusters[row] for row in rows),
        )  # fmt: skip


def difference(new: Measured, old: Measured) -> Difference:
    """How much the new figure exceeds the old one on the pictures both have, over the same resamples."""
    known = set(old.ids)
    common = [name for name in new.ids if name in known]
    a, b = new.of(common), old.of(common)
    return paired_bootstrap(a.statistic, a.values, b.values, a.observed, clusters=a.clusters, repetitions=REPETITIONS)


def is_fall(found: Difference, better: Better) -> bool:
    """Whether the whole interval of a difference lies on the worse side of 0."""
    return found.high < 0 if better == "higher" else found.low > 0 if better == "lower" else False


def opinion_figures(source: Source, rows: Rows, name: str | None = None) -> Iterator[Measured]:
    """Agreement with people, and what the intervals are worth."""
    name = name or source.name
    pictures = [p for p in source.pictures if rows.get(p.id, {}).get("score")]
    if len(pictures) < 20:
        return
    told = [rows[p.id] for p in pictures]
    opinion = [p.opinion for p in pictures]
    make = _maker(source.half, pictures)
    score = np.array([float(row["score"]) for row in told])
    yield make(f"{name} SRCC", srcc, score, opinion)
    yield make(f"{name} PLCC", plcc, fit_logistic(score, opinion)(score), opinion)
    scaled = source.on_scale(opinion)
    for level, low, high in (("95 %", "low", "high"), ("80 %", "low80", "high80")):
        if scaled is None or not all(row.get(low) for row in told):
            continue
        ends = np.array([(float(row[low]), float(row[high])) for row in told])
        inside = (ends[:, 0] <= scaled) & (np.array(scaled) <= ends[:, 1])
        yield make(f"{name} covered by {level}", mean, inside, opinion, "neither")
        yield make(f"{name} width of {level}", mean, ends[:, 1] - ends[:, 0], opinion, "neither")


def pair_figures(source: Source, rows: Rows, name: str) -> Iterator[Measured]:
    """Agreement with people of the judgement against a reference, and its lead over the best tool beside it."""
    pictures = [p for p in source.pictures if rows.get(p.id, {}).get("score")]
    if len(pictures) < 20:
        return
    opinion = [p.opinion for p in pictures]
    make = _maker(source.half, pictures)
    yield make(f"{name} SRCC", srcc, [float(rows[p.id]["score"]) for p in pictures], opinion)
    tools = [read_tools(rows[p.id]["tools"]) for p in pictures]
    turned = {}
    for tool in tools[0]:
        values = np.array([each[tool] for each in tools])
        turned[tool] = (np.sign(srcc(values, opinion)) or 1.0) * values
        yield make(f"{name} SRCC of {tool}", srcc, turned[tool], opinion, "neither")
    best = max(turned, key=lambda tool: srcc(turned[tool], np.array(opinion)))
    both = np.stack([[float(rows[p.id]["score"]) for p in pictures], turned[best]], axis=1)
    yield make(f"{name}, beside its best tool", _lead, both, opinion)


def _lead(both: Values, observed: Values) -> float:
    """How much better the first column agrees with the opinions than the second."""
    return srcc(both[:, 0], observed) - srcc(both[:, 1], observed)


def read_tools(text: str) -> dict[str, float]:
    """What a row says of the tools, of the findings or of anything else with a number by its name."""
    return {name: float(value) for name, _, value in (part.partition(":") for part in text.split(";") if part)}


def share_figure(name: str, half: Half, hits: Mapping[str, float], better: Better = "higher",
                 cluster: Callable[[str], str] = str) -> Measured:  # fmt: skip
    """The mean of a value by id: a share, an accuracy."""
    ids, values = tuple(hits), np.array(list(hits.values()), np.float64)
    return Measured(name, half, mean, ids, values, values, tuple(map(cluster, ids)), better)


def correlation(name: str, source: Source, values: Mapping[str, float], better: Better = "higher") -> Measured:
    """The rank correlation of a value by id with the opinions."""
    pictures = [picture for picture in source.pictures if picture.id in values]
    found = [values[picture.id] for picture in pictures]
    return _maker(source.half, pictures)(name, srcc, found, [picture.opinion for picture in pictures], better)


def _maker(half: Half, pictures: Sequence[Picture]) -> Callable[..., Measured]:
    ids, clusters = tuple(p.id for p in pictures), tuple(p.cluster for p in pictures)

    def make(name: str, statistic: Callable[[Values, Values], float], values: Sequence[float] | Values,
             observed: Sequence[float], better: Better = "higher") -> Measured:  # fmt: skip
        return Measured(
            name, half, statistic, ids, np.asarray(values, np.float64), np.asarray(observed, np.float64), clusters,
            better,
        )  # fmt: skip

    return make
