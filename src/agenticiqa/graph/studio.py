"""The graph as `langgraph dev` serves it."""

from __future__ import annotations

from agenticiqa.graph.flow import Graph, build_graph


def make_graph() -> Graph:
    """The whole agent with the default parts; the server brings its own checkpoints."""
    return build_graph()
