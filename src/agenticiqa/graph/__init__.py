"""The agent as a LangGraph graph: building, running, resuming and drawing it."""

from agenticiqa.graph.checkpoints import memory_saver as memory_saver
from agenticiqa.graph.checkpoints import sqlite_saver as sqlite_saver
from agenticiqa.graph.checkpoints import with_own_types as with_own_types
from agenticiqa.graph.drawing import visualize_graph as visualize_graph
from agenticiqa.graph.flow import build_graph as build_graph
from agenticiqa.graph.flow import decide_next_node as decide_next_node
from agenticiqa.graph.flow import prepare_run as prepare_run
from agenticiqa.graph.flow import run_pipeline as run_pipeline
