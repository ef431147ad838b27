"""Whether the evidence suffices to answer, and if not, what is missing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from agenticiqa.nodes.gaps import NO_SCORES, missing_analysis, missing_scores
from agenticiqa.state import GLOBAL, OVERALL, ExecutorOutput, PlannerOutput

SEVERE = ("severe", "extreme")
KEY_SEVERITIES = ("moderate", *SEVERE)
HIGH_SCORE = 4.0
LOW_SCORE = 2.0


def should_replan(
    executor_output: ExecutorOutput, query_scope: list[str] | Literal["Global"], plan: PlannerOutput | None = None
) -> tuple[bool, str]:
    """Whether a new plan is needed, and the first gap found; only clear gaps count.

    In this order: objects without analysis, no scores, key distortions without a score, contradiction, uncertainty.
    A plan that asked for no tools is not blamed for their absence.
    """
    reason = next(gaps(executor_output, query_scope, plan), "")
    return bool(reason), reason


def gaps(
    evidence: ExecutorOutput, query_scope: list[str] | Literal["Global"], plan: PlannerOutput | None = None
) -> Iterator[str]:
    """Every gap in the evidence, the gravest first."""
    objects: set[str] = {GLOBAL} if query_scope == GLOBAL else {*query_scope}
    yield from _analysis_gaps(evidence, objects)
    if plan is None or plan.plan.tool_execution:
        yield from _score_gaps(evidence, objects)
    yield from contradictions(evidence)
    for doubt in evidence.uncertainties:
        yield f"Uncertain evidence: {doubt}"


def contradictions(evidence: ExecutorOutput) -> Iterator[str]:
    """Where analysis and scores cannot both be right."""
    scores = evidence.quality_scores or {}
    for name, entries in (evidence.distortion_analysis or {}).items():
        for entry in entries:
            tool, score = scores.get(name, {}).get(entry.type, ("", 0.0))
            if entry.severity in SEVERE and score > HIGH_SCORE:
                yield f"Contradictory evidence: {entry.severity} {entry.type} on {name} but {tool} scores {score:.1f}"
    for name, found in _found(evidence).items():
        for tool, score in scores.get(name, {}).values():
            if not found and score < LOW_SCORE:
                yield f"Contradictory evidence: no distortion found on {name} but {tool} scores {score:.1f}"


def _analysis_gaps(evidence: ExecutorOutput, objects: set[str]) -> Iterator[str]:
    failed = evidence.distortion_analysis is None and "distortion_analysis" in evidence.errors
    if evidence.distortion_analysis or failed:
        missing = objects - set(evidence.distortion_analysis or {})
        if missing:
            yield missing_analysis(missing)


def _score_gaps(evidence: ExecutorOutput, objects: set[str]) -> Iterator[str]:
    if not evidence.quality_scores:
        yield NO_SCORES
        return
    for name in sorted(objects - set(evidence.quality_scores)):
        yield missing_scores(name)
    for name, entries in (evidence.distortion_analysis or {}).items():
        for entry in entries:
            measured = evidence.quality_scores.get(name, {})
            if measured and entry.severity in KEY_SEVERITIES and not {entry.type, OVERALL} & set(measured):
                yield missing_scores(name, f"{entry.type} was not measured{_failed_tool(evidence, name, entry.type)}")


def _failed_tool(evidence: ExecutorOutput, name: str, distortion: str) -> str:
    tools = [log.tool_name for log in evidence.tool_logs if (log.object_name, log.distortion) == (name, distortion)]
    return f" ({', '.join(tools)} gave no score)" if tools else ""


def _found(evidence: ExecutorOutput) -> dict[str, bool]:
    """Per object that was looked at, whether any distortion was found there."""
    found = {name: bool(kinds) for name, kinds in (evidence.distortion_set or {}).items()}
    for name, entries in (evidence.distortion_analysis or {}).items():
        found[name] = any(entry.severity != "none" for entry in entries) if entries else found.get(name, False)
    return found
