"""Running the chosen tools side by side and keeping what is a number."""

from __future__ import annotations

import contextvars
from collections import defaultdict
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

from agenticiqa.images import LoadedImage
from agenticiqa.nodes.context import report
from agenticiqa.nodes.tool_selection import Pick
from agenticiqa.state import OVERALL, Region, ToolExecutionLog
from agenticiqa.tools.registry import ToolRegistry

Scores = dict[str, dict[str, tuple[str, float]]]
_THREADS = 4


def run_tools(
    picks: list[Pick],
    tools: ToolRegistry,
    test: LoadedImage,
    reference: LoadedImage | None,
    regions: Mapping[str, Region | None],
    *,
    substitute: bool = True,
) -> list[ToolExecutionLog]:
    """The logs of all runs, failed ones included, in the order of the picks."""
    kinds = _kinds(picks)
    # One job per tool and object: its further distortions are then answered from the registry's memory.
    jobs: dict[tuple[str, str], list[Pick]] = defaultdict(list)
    for pick in picks:
        jobs[pick.object_name, pick.tool].append(pick)

    def work(job: list[Pick]) -> list[tuple[Pick, list[ToolExecutionLog]]]:
        return [(pick, _run(pick, tools, test, reference, regions, kinds, substitute)) for pick in job]

    with ThreadPoolExecutor(max_workers=min(_THREADS, len(jobs)) or 1) as pool:
        futures = [pool.submit(contextvars.copy_context().run, work, job) for job in jobs.values()]
        logs = {pick: entries for future in futures for pick, entries in future.result()}
    return [entry for pick in picks for entry in logs[pick]]


def scores_of(logs: list[ToolExecutionLog]) -> Scores:
    """The calibrated scores by object and distortion; of several runs for one place the last counts."""
    scores: Scores = {}
    for log in logs:
        if log.normalized_score is not None:
            scores.setdefault(log.object_name, {})[log.distortion] = (log.tool_name, log.normalized_score)
    return scores


def failures_of(logs: list[ToolExecutionLog]) -> str | None:
    """One sentence naming every tool that failed; None when all gave a number."""
    failed = dict.fromkeys(f"{log.tool_name} on {log.object_name}: {log.error}" for log in logs if log.error)
    return "; ".join(failed) or None


def _run(
    pick: Pick,
    tools: ToolRegistry,
    test: LoadedImage,
    reference: LoadedImage | None,
    regions: Mapping[str, Region | None],
    kinds: Mapping[str, Mapping[str, float]],
    substitute: bool,
) -> list[ToolExecutionLog]:
    try:
        logs = tools.execute_with_fallback(
            pick.tool,
            test,
            reference,
            regions.get(pick.object_name),
            kinds.get(pick.object_name),
            object_name=pick.object_name,
            distortion=pick.distortion,
            substitute=substitute,
        )
    except Exception as error:  # a tool of a third party may fail in any way, and the others must go on
        logs = [_failed(pick, report(f"{pick.tool} on {pick.object_name}", error))]
    fallback, notes = pick.fallback, [pick.note] if pick.note else []
    return [log.model_copy(update={"fallback": log.fallback or fallback, "notes": notes + log.notes}) for log in logs]


def _failed(pick: Pick, error: str) -> ToolExecutionLog:
    return ToolExecutionLog.model_validate(
        {
            "tool_name": pick.tool,
            "object_name": pick.object_name,
            "distortion": pick.distortion,
            "execution_time": 0.0,
            "error": error,
        }
    )


def _kinds(picks: list[Pick]) -> dict[str, dict[str, float]]:
    """The distortions of each object, equally likely: what the calibration may condition on."""
    found: dict[str, list[str]] = defaultdict(list)
    for pick in picks:
        if pick.distortion != OVERALL and pick.distortion not in found[pick.object_name]:
            found[pick.object_name].append(pick.distortion)
    return {name: dict.fromkeys(kinds, 1 / len(kinds)) for name, kinds in found.items() if kinds}
