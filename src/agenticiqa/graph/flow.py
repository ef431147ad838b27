"""Planner, executor, summarizer, and the way back when the evidence does not suffice."""

from __future__ import annotations

import logging
from typing import Any, Literal

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from agenticiqa.graph.checkpoints import with_own_types
from agenticiqa.nodes.executor import executor_node
from agenticiqa.nodes.planner import planner_node
from agenticiqa.nodes.sufficiency import replan_limit
from agenticiqa.nodes.summarizer import summarizer_node
from agenticiqa.state import AgenticIQAState

logger = logging.getLogger("agenticiqa.graph")

LastNode = Literal["planner", "executor", "summarizer"]
Graph = CompiledStateGraph[AgenticIQAState, None, AgenticIQAState, AgenticIQAState]


def build_graph(last: LastNode = "summarizer", checkpointer: BaseCheckpointSaver[Any] | None = None) -> Graph:
    """The compiled graph up to and including the `last` node; only with the summarizer can it replan."""
    checkpointer = with_own_types(checkpointer) if checkpointer is not None else None
    graph = StateGraph(AgenticIQAState)
    graph.add_node("planner", planner_node)
    graph.add_edge(START, "planner")
    if last == "planner":
        graph.add_edge("planner", END)
        return graph.compile(checkpointer=checkpointer)
    graph.add_node("executor", executor_node)
    graph.add_edge("planner", "executor")
    if last == "executor":
        graph.add_edge("executor", END)
        return graph.compile(checkpointer=checkpointer)
    graph.add_node("summarizer", summarizer_node)
    graph.add_edge("executor", "summarizer")
    graph.add_conditional_edges("summarizer", decide_next_node, {"planner": "planner", "__end__": END})
    return graph.compile(checkpointer=checkpointer)


def make_graph() -> Graph:
    """The whole agent with the default parts, as `langgraph dev` serves it; the server brings its own checkpoints."""
    return build_graph()


def decide_next_node(state: AgenticIQAState) -> Literal["planner", "__end__"]:
    """ "planner" if a new plan is needed and the limit is not reached, "__end__" otherwise and after an error."""
    result, failed = state.get("summarizer_result"), state.get("error")
    needed = bool(result and result.need_replan and not failed)
    iteration, limit = state.get("iteration_count", 0), replan_limit(state)
    decision: Literal["planner", "__end__"] = "planner" if needed and iteration < limit else "__end__"
    logger.info(
        "need_replan=%s, iteration_count=%d, max_replan_iterations=%d, decision=%s",
        result.need_replan if result else None, iteration, limit, decision,
    )  # fmt: skip
    if failed or not result:
        logger.info("ended: %s", failed or "no summarizer_result")
    elif decision == "planner":
        logger.info("Replanning triggered: %s", result.replan_reason)
        logger.info("Iteration %d/%d", iteration, limit)
    elif result.need_replan:
        logger.warning("Max replanning iterations (%d) reached", limit)
        logger.warning("Continuing with current evidence despite need_replan=true")
        logger.warning("Max replanning iterations reached: possible logic issue in the summarizer")
    return decision
