"""The graph as a picture: Mermaid text, or a small flow chart with arrows down and back at the side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

from agenticiqa.errors import UsageError
from agenticiqa.graph.flow import LastNode, build_graph
from agenticiqa.outputs import replacing, write_whole

Point = tuple[int, int]

# What the conditional edge after the summarizer asks, by the node it leads to.
_LABELS = {"planner": "need_replan=true & iter<max", "__end__": "need_replan=false or iter>=max"}
_TEXT_SUFFIXES = {".mmd", ".md", ".txt"}
_WIDTH, _BOX_WIDTH, _BOX_HEIGHT, _GAP, _MARGIN = 620, 160, 44, 56, 24
_LEFT = 60
_INK, _PAPER, _FILL = "#1f2937", "#ffffff", "#e0ecff"


@dataclass(frozen=True)
class Arrow:
    """One edge of the graph, with the condition under which it is taken."""

    source: str
    target: str
    label: str = ""


def visualize_graph(path: str | Path | None = None, *, last: LastNode = "summarizer") -> str:
    """The graph as Mermaid text; with a path it is also written there, as PNG, SVG or text by the suffix."""
    arrows = graph_arrows(last)
    text = mermaid(arrows)
    if path is None:
        return text
    target = Path(path)
    suffix = target.suffix.lower()
    if suffix == ".svg":
        write_svg(target, chart(arrows))
    elif suffix == ".png":
        write_png(target, chart(arrows))
    elif suffix in _TEXT_SUFFIXES:
        write_whole(target, text + "\n")
    else:
        raise UsageError(f"{target}: cannot draw to this suffix; use .png, .svg or .mmd")
    return text


def graph_arrows(last: LastNode = "summarizer") -> list[Arrow]:
    """The edges of the real graph, from the start onward."""
    edges = build_graph(last).get_graph().edges
    order = ["__start__", "planner", "executor", "summarizer", "__end__"]
    ordered = sorted(edges, key=lambda edge: (order.index(edge.source), order.index(edge.target)))
    return [Arrow(edge.source, edge.target, _LABELS[edge.target] if edge.conditional else "") for edge in ordered]


def mermaid(arrows: list[Arrow]) -> str:
    """Mermaid lines; a node's shape stands where it is named first."""
    seen: set[str] = set()
    lines = ["graph TD"]
    for arrow in arrows:
        label = f"|{arrow.label}|" if arrow.label else ""
        connector = f" -->{label} "
        lines.append(f"    {_shape(arrow.source, seen)}{connector}{_shape(arrow.target, seen)}")
    return "\n".join(lines)


def _shape(node: str, seen: set[str]) -> str:
    name = _name(node)
    identifier = name if node.startswith("__") else node
    if node in seen:
        return identifier
    seen.add(node)
    return f"{identifier}([{name}])" if node.startswith("__") else f"{identifier}[{name}]"


def _name(node: str) -> str:
    return {"__start__": "START", "__end__": "END"}.get(node, node.capitalize())


@dataclass(frozen=True)
class Chart:
    """Where everything stands: the top of each box by its name, arrows as points, and their labels with a place."""

    tops: dict[str, int]
    arrows: list[tuple[Point, ...]]
    labels: list[tuple[str, Point]]

    @property
    def height(self) -> int:
        return len(self.tops) * (_BOX_HEIGHT + _GAP) - _GAP + 2 * _MARGIN


def chart(arrows: Sequence[Arrow]) -> Chart:
    """The boxes below each other in the order of the arrows, the end last; what leads back goes along the side."""
    names = dict.fromkeys(_name(node) for arrow in arrows for node in (arrow.source, arrow.target))
    ordered = sorted(names, key=lambda name: name == "END")
    drawn = Chart({name: _MARGIN + place * (_BOX_HEIGHT + _GAP) for place, name in enumerate(ordered)}, [], [])
    middle, side, half = _LEFT + _BOX_WIDTH // 2, _LEFT + _BOX_WIDTH, _BOX_HEIGHT // 2
    for arrow in arrows:
        start, end = drawn.tops[_name(arrow.source)], drawn.tops[_name(arrow.target)]
        if end > start:
            drawn.arrows.append(((middle, start + _BOX_HEIGHT), (middle, end)))
            place = (middle + 10, start + _BOX_HEIGHT + _GAP // 2)
        else:
            turn = side + 70
            drawn.arrows.append(((side, start + half), (turn, start + half), (turn, end + half), (side, end + half)))
            place = (turn + 10, (start + end) // 2 + half)
        drawn.labels.append((arrow.label, place))
    return drawn


def write_svg(path: Path, drawn: Chart) -> None:
    """Draws the chart as SVG."""
    shapes = [
        f'<rect x="{_LEFT}" y="{top}" width="{_BOX_WIDTH}" height="{_BOX_HEIGHT}" '
        f'rx="{_radius(name)}" fill="{_FILL}" stroke="{_INK}"/>'
        f'<text x="{_LEFT + _BOX_WIDTH // 2}" y="{top + 27}" text-anchor="middle">{escape(name)}</text>'
        for name, top in drawn.tops.items()
    ]
    for arrow in drawn.arrows:
        points = " ".join(f"{x},{y}" for x, y in arrow)
        shapes.append(f'<polyline points="{points}" fill="none" stroke="{_INK}" marker-end="url(#tip)"/>')
    shapes += [f'<text x="{x}" y="{y + 5}">{escape(label)}</text>' for label, (x, y) in drawn.labels]
    write_whole(
        path,
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{drawn.height}" '
        f'font-family="sans-serif" font-size="15" fill="{_INK}">'
        '<defs><marker id="tip" markerWidth="10" markerHeight="8" refX="9" refY="4" orient="auto">'
        f'<path d="M0,0 L10,4 L0,8 z"/></marker></defs><rect width="100%" height="100%" fill="{_PAPER}"/>'
        f"{''.join(shapes)}</svg>\n",
    )


def write_png(path: Path, drawn: Chart) -> None:
    """Draws the chart as PNG."""
    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("RGB", (_WIDTH, drawn.height), _PAPER)
    draw = ImageDraw.Draw(image)
    font = ImageFont.load_default(15)
    for name, top in drawn.tops.items():
        box = (_LEFT, top, _LEFT + _BOX_WIDTH, top + _BOX_HEIGHT)
        draw.rounded_rectangle(box, _radius(name), fill=_FILL, outline=_INK)
        draw.text((_LEFT + _BOX_WIDTH // 2, top + _BOX_HEIGHT // 2), name, fill=_INK, anchor="mm", font=font)
    for arrow in drawn.arrows:
        draw.line(arrow, fill=_INK, width=1)
        (before, _), (x, y) = arrow[-2:]
        # The tip points down at the end of a straight arrow, to the left where it comes back from the side.
        wings = [(x - 4, y - 9), (x + 4, y - 9)] if before == x else [(x + 9, y - 4), (x + 9, y + 4)]
        draw.polygon([(x, y), *wings], fill=_INK)
    for label, place in drawn.labels:
        draw.text(place, label, fill=_INK, anchor="lm", font=font)
    with replacing(path) as spare:
        image.save(spare, "PNG")


def _radius(name: str) -> int:
    return _BOX_HEIGHT // 2 if name in ("START", "END") else 6
