"""The graph as Mermaid text, and as a picture drawn without any service."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from langchain_core.runnables.graph import Edge

from agenticiqa.errors import UsageError
from agenticiqa.graph.diagram import write_png, write_svg
from agenticiqa.graph.flow import LastNode, build_graph

# What the conditional edge after the summarizer asks, by the node it leads to.
_LABELS = {"planner": "need_replan=true & iter<max", "__end__": "need_replan=false or iter>=max"}
_TEXT_SUFFIXES = {".mmd", ".md", ".txt"}


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
    edges = [(_name(arrow.source), _name(arrow.target), arrow.label) for arrow in arrows]
    if suffix == ".svg":
        write_svg(target, edges)
    elif suffix == ".png":
        write_png(target, edges)
    elif suffix in _TEXT_SUFFIXES:
        target.write_text(text + "\n", encoding="utf-8")
    else:
        raise UsageError(f"{target}: cannot draw to this suffix; use .png, .svg or .mmd")
    return text


def graph_arrows(last: LastNode = "summarizer") -> list[Arrow]:
    """The edges of the real graph, from the start onward."""
    edges = build_graph(last).get_graph().edges
    order = ["__start__", "planner", "executor", "summarizer", "__end__"]
    ordered = sorted(edges, key=lambda edge: (order.index(edge.source), order.index(edge.target)))
    return [Arrow(edge.source, edge.target, _label(edge)) for edge in ordered]


def mermaid(arrows: list[Arrow]) -> str:
    """Mermaid lines; a node's shape stands where it is named first."""
    seen: set[str] = set()
    lines = ["graph TD"]
    for arrow in arrows:
        label = f"|{arrow.label}|" if arrow.label else ""
        connector = f" -->{label} "
        lines.append(f"    {_shape(arrow.source, seen)}{connector}{_shape(arrow.target, seen)}")
    return "\n".join(lines)


def _label(edge: Edge) -> str:
    return _LABELS[edge.target] if edge.conditional else ""


def _shape(node: str, seen: set[str]) -> str:
    name = _name(node)
    identifier = name if node.startswith("__") else node
    if node in seen:
        return identifier
    seen.add(node)
    return f"{identifier}([{name}])" if node.startswith("__") else f"{identifier}[{name}]"


def _name(node: str) -> str:
    return {"__start__": "START", "__end__": "END"}.get(node, node.capitalize())
