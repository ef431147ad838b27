"""The planner: from a question to a plan of what to find out, and the rules that every plan keeps."""

from __future__ import annotations

import hashlib
import json
import logging
import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Any, Optional, cast

from langchain_core.runnables import RunnableConfig

from agenticiqa.errors import ToolUnavailableError
from agenticiqa.nodes.context import NodeContext, node_context, report
from agenticiqa.nodes.reply_normalisation import known_categories, known_name, letters_of
from agenticiqa.nodes.sufficiency import replan_limit
from agenticiqa.question.asked import Question
from agenticiqa.state import (
    GLOBAL,
    LEVEL_NAMES,
    AgenticIQAState,
    ExecutorOutput,
    Gap,
    Ledger,
    PlannerOutput,
)
from agenticiqa.tools.registry import ToolRegistry
from agenticiqa.vlm_client.tasks import PlanInputs, PlanReply

logger = logging.getLogger("agenticiqa.nodes.planner")

PLANNER_PROMPT_TEMPLATE = """\
You are a planner in an image quality assessment (IQA) system. You are given a user's question about a test image,
sometimes a reference image, the names of the IQA tools at hand and, after a failed attempt, what its evidence lacked.
Decide what has to be found out to answer the question. You do not answer it yourself.

Return a valid JSON object with exactly these seven fields:
{
  "query_type": "IQA" | "Other",
  "query_scope": ["<object>", ...] | "Global",
  "distortion_source": "Explicit" | "Inferred",
  "distortions": {"<object or Global>": ["<category>", ...]} | null,
  "reference_mode": "Full-Reference" | "No-Reference",
  "required_tool": "<tool name>" | null,
  "plan": {
    "distortion_detection": true | false,
    "distortion_analysis": true | false,
    "tool_selection": true | false,
    "tool_execution": true | false
  }
}

Rules
1. query_type is "IQA" when a quality score or level of the image is asked for, "Other" for every other question.
2. query_scope lists the objects or places the question names, in its own words; "Global" for the whole image.
3. distortion_source is "Explicit" when the question names distortions, and distortions then lists them;
   otherwise it is "Inferred" and distortions is null.
4. The categories are: Blurs, Color distortions, Compression, Noise, Brightness change, Sharpness, Contrast.
5. reference_mode is "Full-Reference" when a reference image is given, "No-Reference" otherwise.
6. required_tool is set only when the question names a tool; tool_selection is then false.
7. distortion_detection is false for Explicit and true for Inferred distortions.
8. Ask for tool_execution whenever a measurement would make the answer more certain.
9. When the last plan's evidence lacked something, the new plan must gather it: add the object, ask for the tools, or
   require another tool or distortion than the last plan.
Return the JSON object and nothing else.
"""

_QUESTION = ("query", "image_path", "reference_path", "choices")
# What an earlier question may have left, and what it is at the start of one; a channel cannot be emptied but by None.
_AT_THE_START: dict[str, Any] = {
    **dict.fromkeys(
        ("error", "question", "plan", "executor_evidence", "summarizer_result", "answer", "gap", "repeated")
    ),
    **{key: [] for key in ("replan_history", "reasons", "plan_notes", "pass_keys")},
    "iteration_count": 0,
    "tried_tools": {},
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
    update: dict[str, Any] = {}
    if not is_replan(state):
        if state.get("error") and "asked" not in state:
            return {}
        update = fresh_start(state)
        state = cast(AgenticIQAState, {**state, **update})
    try:
        context = node_context("planner", state, config)
    except Exception as error:  # a node reports, it does not raise
        return {**update, "error": f"planner: {report('planner', error)}"}
    try:
        with context.reporting():
            plan, notes = make_plan(context, state)
        update |= {"question": context.question, "plan": plan, **({"plan_notes": notes} if notes else {})}
    except Exception as error:
        update["error"] = f"planner: {report('planner', error)}"
    return {**update, "ledger": context.booked()}


def make_plan(context: NodeContext, state: AgenticIQAState) -> tuple[PlannerOutput, list[str]]:
    """A plan that keeps all rules, and notes on words that were mapped or dropped.

    Raises ModelReplyError, UnknownToolError or ToolUnavailableError.
    """
    tools, again = context.parts.tools, bool(state.get("gap") or state.get("replan_history"))
    inputs = PlanInputs(
        query=state["query"],
        has_reference=context.reference is not None,
        choices=context.question.reply.choices,
        tools=tuple(name for name in tools.names() if _is_offered(name, context, state["query"])),
        previous_plan=state.get("plan") if again else None,
        evidence=in_short(state.get("executor_evidence")) if again else None,
        gap=state.get("gap"),
        replan_history=tuple(state.get("replan_history") or ()),
    )
    notes: list[str] = []
    written = context.ask(PLANNER_PROMPT_TEMPLATE, inputs, check=_checked).value
    plan = make_consistent(plan_of(written, notes), inputs, tools, context.question)
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


def _is_offered(name: str, context: NodeContext, query: str) -> bool:
    """The planner is offered tools that can run on these images, and those the question insists on."""
    tools = context.parts.tools
    fits = context.reference is not None or tools.card(name).reference == "NR"
    return (fits and tools.available(name) is None) or names_tool(query, name)


def _checked(reply: PlanReply) -> PlanReply:
    plan_of(reply, [])
    return reply


def is_replan(state: AgenticIQAState) -> bool:
    """Whether the summarizer has just asked for a new plan for this very question."""
    result, count = state.get("summarizer_result"), state.get("iteration_count", 0)
    asked_again = result is not None and result.need_replan and 0 < count < replan_limit(state)
    return asked_again and not state.get("error") and state.get("asked", key_of(state)) == key_of(state)


def fresh_start(state: AgenticIQAState) -> dict[str, Any]:
    """The update that clears what an earlier question left.

    A state that has seen no question keeps what its caller put in: plans and histories may be handed over.
    """
    update: dict[str, Any] = {"asked": key_of(state)}
    if "asked" in state:
        update |= {name: value for name, value in _AT_THE_START.items() if state.get(name)}
        update["ledger"] = Ledger()
    return update


def key_of(state: AgenticIQAState) -> str:
    """The same for the same question about the same image."""
    question = json.dumps([state.get(name) for name in _QUESTION], sort_keys=True, default=str)
    return hashlib.sha256(question.encode(errors="surrogatepass")).hexdigest()


def plan_of(reply: PlanReply, notes: list[str]) -> PlannerOutput:
    """The strict plan in a model's reply; ValueError when it is none. The notes get what became of odd words."""
    listed = (reply.distortions or {}).items()
    distortions = {name: known for name, words in listed if (known := known_categories(words, notes))}
    return PlannerOutput.model_validate({**reply.model_dump(), "distortions": distortions or None})


def make_consistent(
    written: PlannerOutput, inputs: PlanInputs, tools: ToolRegistry, question: Question
) -> PlannerOutput:
    """The plan with every rule applied; UnknownToolError or ToolUnavailableError for a tool the query insists on."""
    # A reference that is given is used, whatever the model wrote, unless the question itself refuses it.
    has_reference = inputs.has_reference and question.topic.reference != "refused"
    mode = "Full-Reference" if has_reference else "No-Reference"
    plan = _match_choices(written, inputs.choices).model_copy(update={"reference_mode": mode})
    plan = _keep_only_named_tool(_match_source(plan), inputs.query, inputs.gap, tools)
    plan = _use_required_tool(plan, tools, has_reference)
    if inputs.gap or inputs.replan_history:
        plan = answer_gap(plan, inputs.gap)
    plan = _match_source(plan)
    for name, value in plan:
        if value != getattr(written, name):
            logger.info("plan corrected: %s was %s, is now %s", name, getattr(written, name), value)
    return plan


def answer_gap(plan: PlannerOutput, gap: Gap | None) -> PlannerOutput:
    """The plan, extended by what the last one failed to provide; without a known gap everything is looked at again."""
    scope = [] if plan.query_scope == GLOBAL else list(plan.query_scope)
    known = {name.casefold() for name in (*scope, GLOBAL)}
    scope += [name for name in (gap.objects if gap else ()) if name.casefold() not in known]
    changes: dict[str, bool] = {}
    if gap is None or gap.kind != "missing_analysis":
        changes = {"tool_execution": True, "tool_selection": plan.required_tool is None}
    if gap is None or gap.kind not in ("no_scores", "missing_scores"):
        changes["distortion_analysis"] = True
    return _with_flags(plan.model_copy(update={"query_scope": scope or GLOBAL}), **changes)


def _match_choices(plan: PlannerOutput, choices: Mapping[str, str]) -> PlannerOutput:
    """A question with choices of its own wants one of them, not a quality level."""
    levels = {letter: name.casefold() for letter, name in LEVEL_NAMES.items()}
    if not choices or {letter: name.casefold() for letter, name in choices.items()} == levels:
        return plan
    return plan.model_copy(update={"query_type": "Other"})


def _match_source(plan: PlannerOutput) -> PlannerOutput:
    """Explicit distortions need no detection, inferred ones do; Explicit without any is Inferred."""
    if plan.distortion_source == "Explicit" and any((plan.distortions or {}).values()):
        return _with_flags(plan, distortion_detection=False)
    inferred = plan.model_copy(update={"distortion_source": "Inferred"})
    return _with_flags(inferred, distortion_detection=True)


def _keep_only_named_tool(plan: PlannerOutput, query: str, gap: Gap | None, tools: ToolRegistry) -> PlannerOutput:
    """A tool is required because the question names it, or because a gap in the measurements calls for it."""
    if plan.required_tool is None or names_tool(query, plan.required_tool):
        return plan
    about_tools = gap is not None and gap.kind in ("contradiction", "missing_scores", "no_scores")
    if about_tools and tools.find_card(plan.required_tool) and tools.available(plan.required_tool) is None:
        return plan
    logger.warning("required_tool %s is not named in the query: cleared", plan.required_tool)
    return plan.model_copy(update={"required_tool": None})


def names_tool(query: str, tool: str) -> bool:
    """Whether the query speaks of the tool by name; case, hyphens and underscores do not matter."""
    named = _names_in(query)
    # "TOPIQ" names both TOPIQ_FR and TOPIQ_NR.
    return letters_of(tool) in named or letters_of(re.sub(r"_(?:FR|NR)$", "", tool)) in named


@lru_cache(maxsize=8)
def _names_in(query: str) -> frozenset[str]:
    """What a query may call a tool: its words, and each two that follow each other as one."""
    words = [letters_of(word) for word in re.findall(r"[A-Za-z0-9_+\-]+", query)]
    return frozenset([*words, *(first + second for first, second in pairwise(words))])


def _use_required_tool(plan: PlannerOutput, tools: ToolRegistry, has_reference: bool) -> PlannerOutput:
    if plan.required_tool is None:
        return plan
    name = known_name(plan.required_tool, tools)
    reason = tools.available(name)
    if reason is not None:
        raise ToolUnavailableError(f"the query asks for {name}, which is not available: {reason}")
    if tools.card(name).reference == "FR" and not has_reference:
        raise ToolUnavailableError(
            f"the query asks for {name}, which compares with a reference image; give one or ask for another tool"
        )
    chosen = plan.model_copy(update={"required_tool": name})
    return _with_flags(chosen, tool_selection=False, tool_execution=True)


def _with_flags(plan: PlannerOutput, **changes: bool) -> PlannerOutput:
    return plan.model_copy(update={"plan": plan.plan.model_copy(update=changes)})
