"""The plots of an evaluation as SVG; colours come from the page's style sheet, so that they follow light and dark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

import numpy as np

from agenticiqa.evaluation.ratings import PartAgreement
from agenticiqa.evaluation.statistics import LogisticFit, Values
from agenticiqa.report.figures import svg

_SIZE, _MARGIN, _EDGE = 380, 58, 20
_ROW, _LABEL = 22, 190
_BINS = 10
# Points beyond this many are thinned evenly: the picture would not change, only the file's size.
_MOST_POINTS = 2000


def scatter(scores: Values, opinions: Values, fit: LogisticFit, names: Sequence[str]) -> str:
    """Opinions over scores with the fitted curve and the band that holds 95 % of a normal residual."""
    plane = _Plane(scores, opinions)
    spread = 1.96 * float(np.std(opinions - fit(scores)))
    xs = np.linspace(scores.min(), scores.max(), 80)
    curve = fit(xs)
    band = [*plane.points(xs, curve + spread), *plane.points(xs[::-1], (curve - spread)[::-1])]
    shapes = [
        f'<polygon class="band" points="{" ".join(band)}"/>',
        *plane.dots(scores, opinions, names),
        f'<polyline class="fit" points="{" ".join(plane.points(xs, curve))}"/>',
        *plane.axes("score", "opinion"),
    ]
    return svg(_SIZE, _SIZE, "Opinion over score, with the logistic fit and its band", shapes)


def residuals(scores: Values, opinions: Values, fit: LogisticFit, names: Sequence[str]) -> str:
    """What the fit leaves over, over the fitted value."""
    fitted = fit(scores)
    left = opinions - fitted
    plane = _Plane(fitted, left)
    zero = plane.y(0.0)
    line = f'<line class="fit" x1="{_MARGIN}" x2="{_SIZE - _EDGE}" y1="{zero:.1f}" y2="{zero:.1f}"/>'
    shapes = [*plane.dots(fitted, left, names), line, *plane.axes("fitted opinion", "opinion less fit")]
    return svg(_SIZE, _SIZE, "Residuals over the fitted opinion", shapes)


def calibration(scores: Values, common: Values) -> str:
    """Mean opinion on the 1–5 scale in tenths of the scores; on the diagonal a score means what it says."""
    plane = _Plane(np.array([1.0, 5.0]), np.array([1.0, 5.0]))
    order = np.array_split(np.argsort(scores, kind="stable"), min(_BINS, len(scores)))
    xs = np.array([scores[rows].mean() for rows in order])
    ys = np.array([common[rows].mean() for rows in order])
    apart = np.array([common[rows].std() for rows in order])
    ends = [(plane.y(float(low)), plane.y(float(high))) for low, high in zip(ys - apart, ys + apart, strict=True)]
    whiskers = [
        f'<line class="whisker" x1="{plane.x(x):.1f}" x2="{plane.x(x):.1f}" y1="{low:.1f}" y2="{high:.1f}"/>'
        for x, (low, high) in zip(xs, ends, strict=True)
    ]
    diagonal = " ".join(plane.points(np.array([1.0, 5.0]), np.array([1.0, 5.0])))
    shapes = [
        f'<polyline class="ideal" points="{diagonal}"/>', *whiskers,
        f'<polyline class="fit" points="{" ".join(plane.points(xs, ys))}"/>',
        *plane.dots(xs, ys, [f"{len(rows)} pictures" for rows in order]),
        *plane.axes("score", "mean opinion, 1 to 5"),
    ]  # fmt: skip
    return svg(_SIZE, _SIZE, "Mean opinion by tenths of the score", shapes)


def bars(parts: Sequence[PartAgreement]) -> str:
    """SRCC of each part with its interval, from 0 to 1; a negative one is drawn as 0 and its number tells."""
    width, shapes = 600, []
    room = width - _LABEL - 130
    for row, part in enumerate(parts):
        top = row * _ROW
        shapes.append(f'<text x="0" y="{top + 15}">{escape(part.name)} ({part.pictures})</text>')
        if part.srcc is None:
            shapes.append(f'<text x="{_LABEL}" y="{top + 15}">too few</text>')
            continue
        one = part.srcc
        ends = (one.low, one.high) if one.repetitions else (one.value, one.value)
        length, low, high = (max(0.0, value) * room for value in (one.value, *ends))
        label = f"{one.value:.3f} [{one.low:.2f}, {one.high:.2f}]" if one.repetitions else f"{one.value:.3f}"
        shapes += [
            f'<rect class="bar" x="{_LABEL}" y="{top + 4}" width="{length:.1f}" height="{_ROW - 8}"/>',
            f'<line class="whisker" x1="{_LABEL + low:.1f}" x2="{_LABEL + high:.1f}" '
            f'y1="{top + _ROW / 2:.1f}" y2="{top + _ROW / 2:.1f}"/>',
            f'<text x="{width - 120}" y="{top + 15}">{label}</text>',
        ]
    return svg(width, max(1, len(parts)) * _ROW, "Rank correlation by part", shapes)


class _Plane:
    """A square with axes: from values to places in the picture."""

    def __init__(self, xs: Values, ys: Values) -> None:
        self._x, self._y = _range(xs), _range(ys)

    def x(self, value: float) -> float:
        return _MARGIN + (value - self._x[0]) / (self._x[1] - self._x[0]) * (_SIZE - _MARGIN - _EDGE)

    def y(self, value: float) -> float:
        return _SIZE - _MARGIN - (value - self._y[0]) / (self._y[1] - self._y[0]) * (_SIZE - _MARGIN - _EDGE)

    def points(self, xs: Values, ys: Values) -> list[str]:
        """Places as SVG writes them, kept inside the square."""
        inside = np.clip(ys, *self._y)
        return [f"{self.x(float(x)):.1f},{self.y(float(y)):.1f}" for x, y in zip(xs, inside, strict=True)]

    def dots(self, xs: Values, ys: Values, names: Sequence[str]) -> list[str]:
        """A dot per point with its name on hovering."""
        step = max(1, -(-len(xs) // _MOST_POINTS))
        return [
            f'<circle class="dot" cx="{self.x(float(xs[i])):.1f}" cy="{self.y(float(ys[i])):.1f}" r="2.2">'
            f"<title>{escape(names[i])}: {xs[i]:.3g}, {ys[i]:.3g}</title></circle>"
            for i in range(0, len(xs), step)
        ]

    def axes(self, across: str, down: str) -> list[str]:
        floor, right = _SIZE - _MARGIN, _SIZE - _EDGE
        shapes = [
            f'<line class="axis" x1="{_MARGIN}" x2="{right}" y1="{floor}" y2="{floor}"/>',
            f'<line class="axis" x1="{_MARGIN}" x2="{_MARGIN}" y1="{_EDGE}" y2="{floor}"/>',
            f'<text x="{(_MARGIN + right) / 2}" y="{_SIZE - 6}" text-anchor="middle">{escape(across)}</text>',
            f'<text x="10" y="{floor / 2}" text-anchor="middle" transform="rotate(-90 10 {floor / 2})">'
            f"{escape(down)}</text>",
        ]
        return (
            shapes
            + self._ticks(self._x, lambda v: f'x="{self.x(v):.1f}" y="{floor + 15}" text-anchor="middle"')
            + (self._ticks(self._y, lambda v: f'x="{_MARGIN - 4}" y="{self.y(v) + 4:.1f}" text-anchor="end"'))
        )

    def _ticks(self, ends: tuple[float, float], place: Callable[[float], str]) -> list[str]:
        return [f"<text {place(value)}>{value:.3g}</text>" for value in np.linspace(*ends, 5)]


def _range(values: Values) -> tuple[float, float]:
    low, high = float(np.min(values)), float(np.max(values))
    return (low, high) if high > low else (low - 0.5, high + 0.5)
