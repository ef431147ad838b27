"""What many results say together: counts, frequencies, disagreement, failures, cost, and the charts that show them."""

from __future__ import annotations

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from agenticiqa.report.records import Row
from agenticiqa.state import SEVERITIES

BINS = 16
"""Quarters of a point from 1 to 5."""
UNJUDGED = "not judged"
_WIDTH, _HEIGHT, _FLOOR = 480, 180, 150
_ROW, _LABEL = 26, 165
# Four digits fill the width of a bar.
_CROWDED = 1000
SHADES = (UNJUDGED, *SEVERITIES[1:])


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


def histogram_chart(counts: Sequence[int]) -> str:
    """Bars over the scale from 1 to 5."""
    step, highest = _WIDTH / len(counts), max(1, *counts)
    bars = [_bar(index, count, step, highest, 4 / len(counts)) for index, count in enumerate(counts)]
    ticks = [
        f'<text x="{min(max((level - 1) * _WIDTH / 4, 6), _WIDTH - 6):.0f}" y="{_HEIGHT - 12}" '
        f'text-anchor="middle">{level}</text>'
        for level in range(1, 6)
    ]
    line = f'<line x1="0" x2="{_WIDTH}" y1="{_FLOOR}" y2="{_FLOOR}" class="axis"/>'
    return svg(_WIDTH, _HEIGHT, "Distribution of scores from 1 to 5", [*bars, line, *ticks])


def distortion_chart(distortions: Mapping[str, Mapping[str, int]]) -> str:
    """One bar per distortion, parted by severity."""
    highest = max((sum(counts.values()) for counts in distortions.values()), default=1)
    shapes: list[str] = []
    for row, (kind, counts) in enumerate(distortions.items()):
        shapes.append(f'<text x="0" y="{row * _ROW + 17}">{escape(kind)}</text>')
        left = float(_LABEL)
        for severity in sorted(counts, key=_shade):
            width = counts[severity] / highest * (_WIDTH - _LABEL - 50)
            shapes.append(
                f'<rect x="{left:.1f}" y="{row * _ROW + 4}" width="{width:.1f}" height="{_ROW - 8}" '
                f'class="severity{_shade(severity)}"><title>{escape(kind)}, {escape(severity)}: '
                f"{counts[severity]}</title></rect>"
            )
            left += width
        shapes.append(f'<text x="{left + 6:.1f}" y="{row * _ROW + 17}">{sum(counts.values())}</text>')
    return svg(_WIDTH, max(1, len(distortions)) * _ROW, "How often each distortion was found", shapes)


def _bar(index: int, count: int, step: float, highest: int, span: float) -> str:
    height = count / highest * (_FLOOR - 20)
    low = 1 + index * span
    crowded = ' class="crowded"' if highest >= _CROWDED else ""
    place = f'x="{(index + 0.5) * step:.1f}" y="{_FLOOR - height - 5:.1f}" text-anchor="middle"'
    label = f"<text {place}{crowded}>{count}</text>"
    return (
        f'<rect x="{index * step + 1:.1f}" y="{_FLOOR - height:.1f}" width="{step - 2:.1f}" height="{height:.1f}" '
        f'class="bar"><title>{low:g} to {low + span:g}: {count}</title></rect>' + (label if count else "")
    )


def _shade(severity: str) -> int:
    return SHADES.index(severity) if severity in SHADES else 0


def svg(width: int, height: int, name: str, shapes: Sequence[str]) -> str:
    """The shapes as one picture with a name for those who cannot see it."""
    return f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(name)}">{"".join(shapes)}</svg>'
