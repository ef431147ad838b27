"""The agent as a LangGraph graph: building, running, resuming and drawing it."""

from agenticiqa.graph.checkpoints import memory_saver, sqlite_saver, with_own_types
from agenticiqa.graph.drawing import visualize_graph
from agenticiqa.graph.flow import build_graph, decide_next_node, prepare_run, run_pipeline

__all__ = [
    "build_graph",
    "decide_next_node",
    "memory_saver",
    "prepare_run",
    "run_pipeline",
    "sqlite_saver",
    "visualize_graph",
    "with_own_types",
]
