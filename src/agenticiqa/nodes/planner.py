"""The planner: from a question to a plan of what to find out."""

from __future__ import annotations

import hashlib
import json
import logging
from typing import Any, Optional, cast

from langchain_core.runnables import RunnableConfig

from agenticiqa.nodes.context import NodeContext, node_context, report
from agenticiqa.nodes.plan_rules import make_consistent, names_tool, plan_of
from agenticiqa.nodes.sufficiency import replan_limit
from agenticiqa.question.choices import choices_of
from agenticiqa.state import AgenticIQAState, ExecutorOutput, Ledger, PlannerOutput
from agenticiqa.tools.registry import ToolRegistry
from agenticiqa.vlm_client.tasks import PlanInputs, PlanReply
from agenticiqa.vlm_client.tasks.plan import PLANNER_PROMPT_TEMPLATE

__all__ = ["PLANNER_PROMPT_TEMPLATE", "planner_node"]

logger = logging.getLogger("agenticiqa.nodes.planner")
_QUESTION = ("query", "image_path", "reference_path", "choices")
# What an earlier question may have left, and what it is at the start of one.
_AT_THE_START: dict[str, Any] = {
    "error": None,
    "iteration_count": 0,
    "replan_history": [],
    "plan": None,
    "executor_evidence": None,
    "gap": None,
    "plan_notes": [],
    "pass_key": "",
    "repeated": False,
}


def planner_node(state: AgenticIQAState, config: Optional[RunnableConfig] = None) -> dict[str, Any]:
    """The state update with the plan, or with the error that prevented one.

    A question that is new to the state, as on a thread that is used again, clears what an earlier one left.
    """
    missing = [key for key in ("query", "image_path") if not state.get(key)]
    if missing:
        return {
            "error": f"planner: the state has no {' and no '.join(missing)}; give the question and the image's path"
        }
    begun: dict[str, Any] = {}
    if not is_replan(state):
        if state.get("error") and "asked" not in state:
            return {}
        begun, state = fresh_start(state)
    try:
        return {**begun, **_planned(state, config)}
    except Exception as error:  # a node reports, it does not raise
        return {**begun, "error": f"planner: {report('planner', error)}"}


def _planned(state: AgenticIQAState, config: Optional[RunnableConfig]) -> dict[str, Any]:
    context = node_context("planner", state, config)
    try:
        with context.reporting():
            plan, notes = make_plan(context, state)
            return {"plan": plan, "ledger": context.booked(), **({"plan_notes": notes} if notes else {})}
    except Exception as error:
        return {"error": f"planner: {report('planner', error)}", "ledger": context.booked()}


def make_plan(context: NodeContext, state: AgenticIQAState) -> tuple[PlannerOutput, list[str]]:
    """A plan that keeps all rules, and notes on words that were mapped or dropped.

    Raises ModelReplyError, UnknownToolError or ToolUnavailableError.
    """
    tools, again = context.parts.tools, bool(state.get("gap") or state.get("replan_history"))
    inputs = PlanInputs(
        query=state["query"],
        has_reference=context.reference is not None,
        choices=choices_of(state),
        tools=tuple(filter(lambda name: _is_told(name, tools, state["query"]), tools.names())),
        previous_plan=state.get("plan") if again else None,
        evidence=in_short(state.get("executor_evidence")) if again else None,
        gap=state.get("gap"),
        replan_history=tuple(state.get("replan_history") or ()),
    )
    notes: list[str] = []
    written = context.ask(inputs, check=_checked).value
    plan = make_consistent(plan_of(written, notes), inputs, tools)
    logger.info("plan: %s", plan.model_dump_json())
    return plan, notes


def in_short(evidence: ExecutorOutput | None) -> dict[str, Any] | None:
    """What the last pass found, in few words: severities and scores per object, and what failed."""
    if evidence is None:
        return None
    analysis = {
        name: {entry.type: entry.severity for entry in entries}
        for name, entries in (evidence.distortion_analysis or {}).items()
    }
    return {"severities": analysis, "scores": evidence.quality_scores or {}, "failed": evidence.errors}


def _is_told(name: str, tools: ToolRegistry, query: str) -> bool:
    """The planner hears of tools that can run, and of those the question insists on."""
    return tools.available(name) is None or names_tool(query, name)


def _checked(reply: PlanReply) -> PlanReply:
    plan_of(reply)
    return reply


def is_replan(state: AgenticIQAState) -> bool:
    """Whether the summarizer has just asked for a new plan for this very question."""
    result = state.get("summarizer_result")
    asked_again = result is not None and result.need_replan and state.get("iteration_count", 0) > 0
    within = state.get("iteration_count", 0) < replan_limit(state)
    return bool(
        asked_again and within and not state.get("error") and state.get("asked", key_of(state)) == key_of(state)
    )


def fresh_start(state: AgenticIQAState) -> tuple[dict[str, Any], AgenticIQAState]:
    """The update that clears what an earlier question left, and the state with it.

    A state that has seen no question keeps what its caller put in: plans and histories may be handed over.
    """
    update: dict[str, Any] = {"asked": key_of(state)}
    if "asked" in state:
        update |= {name: value for name, value in _AT_THE_START.items() if state.get(name)}
        update["ledger"] = Ledger()
    return update, cast(AgenticIQAState, {**state, **update})


def key_of(state: AgenticIQAState) -> str:
    """The same for the same question about the same image."""
    question = json.dumps([state.get(name) for name in _QUESTION], sort_keys=True, default=str)
    return hashlib.sha256(question.encode(errors="surrogatepass")).hexdigest()
