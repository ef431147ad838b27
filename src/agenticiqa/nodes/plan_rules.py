"""Rules every plan must keep, whatever the model wrote; each change is logged."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from itertools import pairwise

from agenticiqa.errors import ToolUnavailableError
from agenticiqa.nodes.reply_normalisation import known_categories
from agenticiqa.question.understanding import refuses_reference
from agenticiqa.state import GLOBAL, LEVEL_NAMES, Gap, PlanControlFlags, PlannerOutput
from agenticiqa.tools.registry import ToolRegistry
from agenticiqa.vlm_client.tasks import PlanInputs, PlanReply

logger = logging.getLogger("agenticiqa.nodes.planner")


def plan_of(reply: PlanReply, notes: list[str] | None = None) -> PlannerOutput:
    """The strict plan in a model's reply; ValueError when it is none. The notes get what became of odd words."""
    notes = [] if notes is None else notes
    listed = (reply.distortions or {}).items()
    distortions = {name: known for name, words in listed if (known := known_categories(words, notes))}
    return PlannerOutput.model_validate({**reply.model_dump(), "distortions": distortions or None})


def make_consistent(plan: PlannerOutput, inputs: PlanInputs, tools: ToolRegistry) -> PlannerOutput:
    """The plan with every rule applied; UnknownToolError or ToolUnavailableError for a tool the query insists on."""
    query, gap = inputs.query, inputs.gap
    # A reference that is given is used, whatever the model wrote, unless the question itself refuses it.
    has_reference = inputs.has_reference and not refuses_reference(query)
    rules: list[Callable[[PlannerOutput], PlannerOutput]] = [
        lambda p: _match_choices(p, inputs.choices),
        lambda p: _match_reference(p, has_reference),
        _match_source,
        lambda p: _keep_only_named_tool(p, query, gap, tools),
        lambda p: _use_required_tool(p, tools, has_reference),
        lambda p: answer_gap(p, gap) if gap or inputs.replan_history else p,
        _match_source,
    ]
    for rule in rules:
        plan = _logged(plan, rule(plan))
    return plan


def answer_gap(plan: PlannerOutput, gap: Gap | None) -> PlannerOutput:
    """The plan, extended by what the last one failed to provide; without a known gap everything is looked at again."""
    scope = [] if plan.query_scope == GLOBAL else list(plan.query_scope)
    known = {name.casefold() for name in scope}
    scope += [name for name in (gap.objects if gap else ()) if name.casefold() not in {*known, GLOBAL.casefold()}]
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


def _match_reference(plan: PlannerOutput, has_reference: bool) -> PlannerOutput:
    return plan.model_copy(update={"reference_mode": "Full-Reference" if has_reference else "No-Reference"})


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
    words = [_plain(word) for word in re.findall(r"[A-Za-z0-9_+\-]+", query)]
    spoken = {*words, *(first + second for first, second in pairwise(words))}
    # "TOPIQ" names both TOPIQ_FR and TOPIQ_NR.
    return _plain(tool) in spoken or _plain(re.sub(r"_(?:FR|NR)$", "", tool)) in spoken


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]", "", name).casefold()


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


def known_name(name: str, tools: ToolRegistry) -> str:
    """The registry's spelling of a tool's name; UnknownToolError if it has none."""
    same = next((known for known in tools.names() if _plain(known) == _plain(name)), None)
    return same or tools.get(name).name


def _with_flags(plan: PlannerOutput, **changes: bool) -> PlannerOutput:
    return plan.model_copy(update={"plan": plan.plan.model_copy(update=changes)})


def _logged(before: PlannerOutput, after: PlannerOutput) -> PlannerOutput:
    for name in PlannerOutput.model_fields:
        old, new = getattr(before, name), getattr(after, name)
        if old != new:
            logger.info("plan corrected: %s was %s, is now %s", name, _short(old), _short(new))
    return after


def _short(value: object) -> object:
    return value.model_dump() if isinstance(value, PlanControlFlags) else value
