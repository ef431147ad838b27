"""Planner, executor, summarizer and the way back, run on one question.

A run is checked beforehand, can be resumed from a kept state, and does not raise.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, NamedTuple, cast
from uuid import uuid4

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from agenticiqa.errors import QueryError, UsageError
from agenticiqa.graph.checkpoints import with_own_types
from agenticiqa.images import ImageStore
from agenticiqa.logs import log_context
from agenticiqa.nodes.context import OnEvent, report
from agenticiqa.nodes.executor import executor_node
from agenticiqa.nodes.planner import planner_node
from agenticiqa.nodes.sufficiency import replan_limit
from agenticiqa.nodes.summarizer import summarizer_node
from agenticiqa.parts import parts_from
from agenticiqa.question.choices import Choices, choices_by_letter
from agenticiqa.state import AgenticIQAState, Ledger

logger = logging.getLogger("agenticiqa.graph")

LastNode = Literal["planner", "executor", "summarizer"]
Graph = CompiledStateGraph[AgenticIQAState, None, AgenticIQAState, AgenticIQAState]


def build_graph(last: LastNode = "summarizer", checkpointer: BaseCheckpointSaver[Any] | None = None) -> Graph:
    """The compiled graph up to and including the `last` node; only with the summarizer can it replan."""
    checkpointer = with_own_types(checkpointer) if checkpointer is not None else None
    graph = StateGraph(AgenticIQAState)
    graph.add_node("planner", planner_node)
    graph.add_edge(START, "planner")
    if last != "planner":
        graph.add_node("executor", executor_node)
        graph.add_edge("planner", "executor")
    if last == "summarizer":
        graph.add_node("summarizer", summarizer_node)
        graph.add_edge("executor", "summarizer")
        graph.add_conditional_edges("summarizer", decide_next_node, {"planner": "planner", "__end__": END})
    else:
        graph.add_edge(last, END)
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


_STEPS_PER_PASS = 3
_SAME_RUN = ("query", "image_path", "reference_path", "choices")


def run_pipeline(
    query: str,
    image_path: str,
    reference_path: str | None = None,
    max_replan_iterations: int | None = None,
    *,
    choices: Choices | None = None,
    config: RunnableConfig | None = None,
    checkpointer: BaseCheckpointSaver[Any] | None = None,
    thread_id: str | None = None,
    on_event: OnEvent | None = None,
) -> AgenticIQAState:
    """The final state of one run; whatever goes wrong is in its `error`.

    `max_replan_iterations` None takes the setting; 0 and 1 never replan, 2 replans once. With a checkpointer, running
    again with the same thread id takes an interrupted run up after its last finished node; another question on the
    thread starts afresh.
    """
    state = initial_state(query, image_path, reference_path, max_replan_iterations)
    try:
        state["choices"] = checked_choices(choices)
        return prepare_run(state, config, checkpointer, thread_id, on_event).carry_out()
    except Exception as error:  # parts of third parties and stores of checkpoints may fail in any way
        return cast(AgenticIQAState, {**state, "error": report("the run", error)})


def prepare_run(
    state: AgenticIQAState,
    config: RunnableConfig | None = None,
    checkpointer: BaseCheckpointSaver[Any] | None = None,
    thread_id: str | None = None,
    on_event: OnEvent | None = None,
) -> PreparedRun:
    """A run whose settings, question and images have been checked; raises the typed error of what cannot be used."""
    if thread_id is not None and checkpointer is None:
        raise UsageError("a thread id is of use only with a checkpointer; pass one, for example sqlite_saver(path)")
    configurable = dict((config or {}).get("configurable") or {})
    parts = parts_from(configurable)
    store: ImageStore = configurable.get("images") or parts.settings.image_store()
    limit = state.get("max_replan_iterations", parts.settings.pipeline.max_replan_iterations)
    if limit < 0:
        raise UsageError(f"max_replan_iterations must be 0 or more, not {limit}")
    state = cast(AgenticIQAState, {**state, "max_replan_iterations": limit})
    check_query(state["query"], state.get("choices") or {}, parts.settings.pipeline.limits.max_query_characters)
    store.images(state["image_path"], state.get("reference_path"))
    configurable |= {**vars(parts), "images": store, "on_event": on_event or configurable.get("on_event")}
    configurable["thread_id"] = thread_id or str(uuid4())
    ready: RunnableConfig = {**(config or {}), "configurable": configurable}
    ready["recursion_limit"] = _STEPS_PER_PASS * (limit + 2)
    return PreparedRun(state, ready, checkpointer)


class PreparedRun(NamedTuple):
    """One question, ready to be carried out or taken up again."""

    state: AgenticIQAState
    config: RunnableConfig
    checkpointer: BaseCheckpointSaver[Any] | None = None

    def carry_out(self) -> AgenticIQAState:
        with log_context(run=str(self.config["configurable"]["thread_id"])):
            if self.checkpointer is None:
                return _invoke(_whole_graph(), self.state, self.config, None)
            graph = build_graph(checkpointer=self.checkpointer)
            kept = graph.get_state(self.config)
            if not kept.values:
                return _invoke(graph, self.state, self.config, "sync")
            return self._take_up(graph, dict(kept.values), bool(kept.next))

    def _take_up(self, graph: Graph, kept: dict[str, Any], unfinished: bool) -> AgenticIQAState:
        thread = self.config["configurable"]["thread_id"]
        if any(kept.get(key) != self.state.get(key) for key in _SAME_RUN):
            logger.info("a new question on the thread %s", thread)
            return _invoke(graph, self.state, self.config, "sync")
        if unfinished:
            logger.info("resuming the thread %s", thread)
            return _invoke(graph, None, self.config, "sync")
        if kept.get("error") and self.checkpointer is not None:
            self.checkpointer.delete_thread(thread)
            return _invoke(graph, self.state, self.config, "sync")
        return cast(AgenticIQAState, kept)


_whole_graph = cache(make_graph)


def _invoke(graph: Graph, state: AgenticIQAState | None, config: RunnableConfig, durability: Any) -> AgenticIQAState:
    return cast(AgenticIQAState, graph.invoke(state, config, durability=durability))


def initial_state(
    query: str,
    image_path: str,
    reference_path: str | None,
    max_replan_iterations: int | None,
    choices: Choices | None = None,
) -> AgenticIQAState:
    """The state a run begins with; raises QueryError for choices that are none."""
    state: AgenticIQAState = {
        "query": query,
        "image_path": str(image_path),
        "reference_path": None if reference_path is None else str(reference_path),
        "choices": checked_choices(choices),
        "iteration_count": 0,
        "replan_history": [],
        "error": None,
        "ledger": Ledger(),
    }
    if max_replan_iterations is not None:
        state["max_replan_iterations"] = max_replan_iterations
    return state


def checked_choices(choices: Choices | None) -> dict[str, str] | None:
    """The choices by letter; raises QueryError for what is no list or mapping of two or more texts."""
    if choices is None:
        return None
    try:
        return choices_by_letter("choices", choices)
    except ValueError as error:
        raise QueryError(str(error)) from None


def check_query(query: str, choices: Mapping[str, str], longest: int) -> None:
    """Nothing; raises QueryError for a question that is none, or longer than this with its choices."""
    if not isinstance(query, str):
        raise QueryError(f"the question must be a text, not {type(query).__name__}")
    if not query.strip():
        raise QueryError("the question is blank; ask something or leave it out")
    asked = query + "".join(f"{letter}{text}" for letter, text in choices.items())
    if len(asked) > longest:
        what = "question and its choices have" if choices else "question has"
        raise QueryError(
            f"the {what} {len(asked)} characters, more than {longest}; shorten it or raise max_query_characters"
        )
    # Half of a surrogate pair, as a terminal makes of bytes that are no UTF-8, can be neither sent nor written down.
    if any("\ud800" <= character <= "\udfff" for character in asked):
        raise QueryError("the question holds bytes that are no Unicode text; write it in UTF-8")
