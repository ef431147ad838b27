"""The report's charts as SVG; colours come from the page's style sheet, so that they follow light and dark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from agenticiqa.report.figures import UNJUDGED
from agenticiqa.state import SEVERITIES

_WIDTH, _HEIGHT, _FLOOR = 480, 180, 150
_ROW, _LABEL = 26, 165
# Four digits fill the width of a bar.
_CROWDED = 1000
SHADES = (UNJUDGED, *SEVERITIES[1:])


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
