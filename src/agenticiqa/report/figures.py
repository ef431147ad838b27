"""What many results say together: counts, frequencies, disagreement, failures, cost."""

from __future__ import annotations

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from agenticiqa.report.records import Row
from agenticiqa.state import SEVERITIES

BINS = 16
"""Quarters of a point from 1 to 5."""
UNJUDGED = "not judged"


@dataclass(frozen=True)
class ToolSummary:
    """How one tool stands to the fused score: positive `bias` means it is kinder."""

    tool: str
    readings: int
    failures: int
    bias: float | None
    distance: float | None


@dataclass(frozen=True)
class Figures:
    """The report's numbers; None where there is nothing to count or, for `cost`, where a price is unknown."""

    results: int
    scored: int
    failed: int
    mean: float | None
    median: float | None
    histogram: list[int]
    distortions: dict[str, dict[str, int]]
    tools: list[ToolSummary]
    failures: dict[str, int]
    calls: int
    tokens: int
    cost: float | None
    seconds: float


def figures_of(rows: Sequence[Row]) -> Figures:
    """The figures of all rows."""
    scores = [row["score"] for row in rows if row["score"] is not None]
    costs = [row["cost"] for row in rows]
    return Figures(
        results=len(rows),
        scored=len(scores),
        failed=sum(row["error"] is not None for row in rows),
        mean=math.fsum(scores) / len(scores) if scores else None,
        median=statistics.median(scores) if scores else None,
        histogram=histogram(scores),
        distortions=_distortions(rows),
        tools=_tools(rows),
        failures=dict(Counter(row["error"] for row in rows if row["error"] is not None).most_common()),
        calls=sum(row["calls"] for row in rows),
        tokens=sum(row["tokens"] for row in rows),
        cost=None if None in costs else math.fsum(costs),
        seconds=math.fsum(row["seconds"] for row in rows),
    )


def histogram(scores: Sequence[float]) -> list[int]:
    """How many scores lie in each quarter of a point from 1 to 5, the last one closed."""
    counts = [0] * BINS
    for score in scores:
        counts[min(BINS - 1, max(0, int((score - 1) * BINS / 4)))] += 1
    return counts


def extremes(rows: Sequence[Row], count: int) -> tuple[list[int], list[int]]:
    """Indices of the worst and of the best rows, no row in both."""
    scored = sorted((row["score"], index) for index, row in enumerate(rows) if row["score"] is not None)
    order = [index for _, index in scored]
    half = min(count, (len(order) + 1) // 2)
    best = order[half:][-count:] if count else []
    return order[:half], best[::-1]


def most_disputed(rows: Sequence[Row], count: int) -> list[int]:
    """Indices of the rows whose tools lie farthest apart, the farthest first."""
    disputed = [(-row["disagreement"], index) for index, row in enumerate(rows) if row["disagreement"]]
    return [index for _, index in sorted(disputed)[:count]]


def _distortions(rows: Sequence[Row]) -> dict[str, dict[str, int]]:
    """In how many results each distortion was found, by its highest severity there; the most frequent first."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        for kind, severity in _worst_severities(row).items():
            counts[kind][severity] += 1
    ordered = sorted(counts, key=lambda kind: (-counts[kind].total(), kind))
    return {kind: dict(counts[kind]) for kind in ordered}


def _worst_severities(row: Row) -> dict[str, str]:
    order = [UNJUDGED, *SEVERITIES]
    worst: dict[str, str] = {}
    for finding in row["distortions"]:
        severity = finding.get("severity") or UNJUDGED
        if severity == "none":
            continue
        kind = str(finding.get("type"))
        known = worst.get(kind, UNJUDGED)
        worst[kind] = max(severity, known, key=lambda word: order.index(word) if word in order else 0)
    return worst


def _tools(rows: Sequence[Row]) -> list[ToolSummary]:
    gaps: dict[str, list[float]] = defaultdict(list)
    readings: Counter[str] = Counter()
    failures: Counter[str] = Counter()
    for row in rows:
        for tool in row["tools"]:
            readings[tool["tool"]] += 1
            failures[tool["tool"]] += tool["error"] is not None
            if tool["calibrated"] is not None and row["score"] is not None:
                gaps[tool["tool"]].append(tool["calibrated"] - row["score"])
    return [
        ToolSummary(name, count, failures[name], _mean(gaps[name]), _mean([abs(gap) for gap in gaps[name]]))
        for name, count in readings.most_common()
    ]


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
