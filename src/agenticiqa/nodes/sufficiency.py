"""The replanning rule: whether the evidence suffices, what is missing if not, and whether that leads to a new plan."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from agenticiqa.state import (
    DEFAULT_MAX_REPLAN_ITERATIONS,
    GLOBAL,
    OVERALL,
    AgenticIQAState,
    ExecutorOutput,
    Gap,
    PlannerOutput,
)
from agenticiqa.tools.registry import ToolRegistry

SEVERE = ("severe", "extreme")
KEY_SEVERITIES = ("moderate", *SEVERE)
HIGH_SCORE = 4.0
LOW_SCORE = 2.0
NO_SCORES = "No tool scores available"
Scope = list[str] | Literal["Global"]
logger = logging.getLogger("agenticiqa.nodes.summarizer")


def should_replan(
    executor_output: ExecutorOutput, query_scope: Scope, plan: PlannerOutput | None = None
) -> tuple[bool, str]:
    """Whether a new plan is needed, and the first gap found in a sentence; only clear gaps count."""
    gap = first_gap(executor_output, query_scope, plan)
    return gap is not None, gap.reason if gap else ""


def first_gap(
    evidence: ExecutorOutput, query_scope: Scope, plan: PlannerOutput | None = None, tools: ToolRegistry | None = None
) -> Gap | None:
    """The gravest gap in the evidence.

    In this order: objects without analysis, no scores, key distortions without a score, contradiction, uncertainty.
    A plan that asked for no tools is not blamed for their absence. With the `tools`, one contradicts only what it sees.
    """
    return next(_gaps(evidence, query_scope, plan, tools), None)


def _gaps(
    evidence: ExecutorOutput, query_scope: Scope, plan: PlannerOutput | None, tools: ToolRegistry | None
) -> Iterator[Gap]:
    objects: set[str] = {GLOBAL} if query_scope == GLOBAL else {*query_scope}
    yield from _analysis_gaps(evidence, objects)
    if plan is None or plan.plan.tool_execution:
        yield from _score_gaps(evidence, objects)
    yield from contradictions(evidence, tools)
    for doubt in evidence.uncertainties:
        yield Gap(kind="uncertainty", reason=f"Uncertain evidence: {doubt}")


def contradictions(evidence: ExecutorOutput, tools: ToolRegistry | None = None) -> Iterator[Gap]:
    """Where analysis and scores cannot both be right; a tool contradicts no finding of a damage it does not see."""
    scores = evidence.quality_scores or {}
    for name, entries in (evidence.distortion_analysis or {}).items():
        for entry in entries:
            measured = scores.get(name, {})
            tool, score = measured.get(entry.type) or measured.get(OVERALL) or ("", 0.0)
            sees = tools is None or tools.may_contradict(tool, entry.type)
            if entry.severity in SEVERE and score > HIGH_SCORE and sees:
                seen = f"{entry.severity} {entry.type} on {name}"
                yield Gap(
                    kind="contradiction",
                    reason=f"Contradictory evidence: {seen} but {tool} scores {score:.1f}",
                    objects=(name,),
                    distortions=(entry.type,),
                    tools=(tool,),
                    score=score,
                )
    for name, found in _found(evidence).items():
        low = {tool: score for tool, score in scores.get(name, {}).values() if score < LOW_SCORE}
        if low and not found:
            said = " and ".join(f"{tool} scores {score:.1f}" for tool, score in low.items())
            yield Gap(
                kind="contradiction",
                reason=f"Contradictory evidence: no distortion found on {name} but {said}",
                objects=(name,),
                tools=tuple(low),
                score=min(low.values()),
            )


def _analysis_gaps(evidence: ExecutorOutput, objects: set[str]) -> Iterator[Gap]:
    failed = evidence.distortion_analysis is None and "distortion_analysis" in evidence.errors
    if evidence.distortion_analysis or failed:
        missing = sorted(objects - set(evidence.distortion_analysis or {}))
        if missing:
            # Written like a set, as the specification prints it, but in a fixed order.
            listed = "{" + ", ".join(repr(name) for name in missing) + "}"
            yield Gap(kind="missing_analysis", reason=f"Missing analysis for {listed}", objects=tuple(missing))


def _score_gaps(evidence: ExecutorOutput, objects: set[str]) -> Iterator[Gap]:
    if not evidence.quality_scores:
        failed = tuple(dict.fromkeys(log.tool_name for log in evidence.tool_logs))
        yield Gap(kind="no_scores", reason=NO_SCORES, tools=failed)
        return
    for name in sorted(objects - set(evidence.quality_scores)):
        yield Gap(kind="missing_scores", reason=_missing_scores(name), objects=(name,))
    for name, entries in (evidence.distortion_analysis or {}).items():
        for entry in entries:
            measured = evidence.quality_scores.get(name, {})
            if measured and entry.severity in KEY_SEVERITIES and not {entry.type, OVERALL} & set(measured):
                yield _not_measured(evidence, name, entry.type)


def _not_measured(evidence: ExecutorOutput, name: str, distortion: str) -> Gap:
    logs = (log for log in evidence.tool_logs if (log.object_name, log.distortion) == (name, distortion))
    tools = tuple(dict.fromkeys(log.tool_name for log in logs))
    failed = f" ({', '.join(tools)} gave no score)" if tools else ""
    return Gap(
        kind="missing_scores",
        reason=_missing_scores(name, f"{distortion} was not measured{failed}"),
        objects=(name,),
        distortions=(distortion,),
        tools=tools,
    )


def _missing_scores(object_name: str, details: str = "") -> str:
    place = object_name if object_name == GLOBAL else f"{object_name} region"
    return f"Missing tool scores for {place}" + (f": {details}" if details else "")


def _found(evidence: ExecutorOutput) -> dict[str, bool]:
    """Per object that was looked at, whether any distortion was found there."""
    found = {name: bool(kinds) for name, kinds in (evidence.distortion_set or {}).items()}
    for name, entries in (evidence.distortion_analysis or {}).items():
        found[name] = any(entry.severity != "none" for entry in entries) if entries else found.get(name, False)
    return found


@dataclass(frozen=True)
class Decision:
    """The gap in the evidence, if any, and why it does not lead to a new plan, if it does not."""

    gap: Gap | None = None
    ended_by: str = ""

    @property
    def needs_replan(self) -> bool:
        return self.gap is not None and not self.ended_by

    def notes(self) -> list[str]:
        """What the reasoning has to say of it."""
        said = f"{self.ended_by};" if self.ended_by else "Answered with a"
        return [f"{said} remaining gap: {self.gap.reason}"] if self.gap else []


def decide(
    evidence: ExecutorOutput,
    plan: PlannerOutput | None,
    state: AgenticIQAState,
    deterministic: bool,
    tools: ToolRegistry | None = None,
) -> Decision:
    """The decision for this pass; the limit is compared with the count the pass began with."""
    gap = first_gap(evidence, plan.query_scope, plan, tools) if plan else None
    if plan is None or gap is None:
        return Decision()
    if gap.objects and set(gap.objects) <= set(absent_from(evidence)):
        logger.info("%s: not in the picture, so that no further plan is asked for", ", ".join(gap.objects))
        return Decision(gap, "A new plan would not find it")
    limit = replan_limit(state)
    if state.get("iteration_count", 0) >= limit:
        logger.warning("Max replanning iterations (%d) reached", limit)
        return Decision(gap, f"Max replanning iterations ({limit}) reached")
    if state.get("repeated"):
        logger.info("the new plan would have repeated the last pass: no further plan is asked for")
        return Decision(gap, "A new plan would have repeated the same requests")
    # The planner has answered this very gap, and it is still there: the same inputs would give the same evidence.
    if deterministic and state.get("gap") == gap:
        logger.info("the new plan changed nothing for a deterministic backend: no further plan is asked for")
        return Decision(gap, "A new plan changed nothing and the backend is deterministic")
    if deterministic and tools is not None and not _has_untried_tool(gap, plan, state, tools):
        logger.info("no tool is left to ask about the contradiction, and the backend is deterministic")
        return Decision(gap, "No other tool can settle it")
    return Decision(gap)


def absent_from(evidence: ExecutorOutput) -> list[str]:
    """The things that were looked for and are not in the picture: of them there is no evidence."""
    found = (evidence.distortion_set, evidence.distortion_analysis, evidence.quality_scores)
    evidenced = {GLOBAL, *(name for each in found for name in each or {})}
    return [name for name, region in evidence.regions.items() if region is None and name not in evidenced]


def _has_untried_tool(gap: Gap, plan: PlannerOutput, state: AgenticIQAState, tools: ToolRegistry) -> bool:
    """Whether a tool that sees what a contradiction is about was not tried on it yet; true of other gaps."""
    if gap.kind != "contradiction":
        return True
    tried_tools = tried_on(state.get("tried_tools") or {}, gap)
    has_reference = plan.reference_mode == "Full-Reference"
    return any(
        card.name not in tried_tools and tools.may_contradict(card.name, kind)
        for kind in gap.distortions or (OVERALL,)
        for card in tools.suitable(kind, has_reference)
    )


def tried_on(tried_tools: Mapping[str, Sequence[str]], gap: Gap) -> set[str]:
    """The tools that were tried in this run on what the gap is about, those the gap names included."""
    tried = set(gap.tools)
    for place, names in tried_tools.items():
        name, _, kind = place.rpartition("/")
        if name in gap.objects and (not gap.distortions or kind in (*gap.distortions, OVERALL)):
            tried.update(names)
    return tried


def replan_limit(state: AgenticIQAState) -> int:
    """The run's limit; 0 stays 0, and only a missing one is the default."""
    limit = state.get("max_replan_iterations")
    return DEFAULT_MAX_REPLAN_ITERATIONS if limit is None else limit
