"""The tools of a pass: which one measures which distortion, and what they say when they are run."""

from __future__ import annotations

import contextvars
import logging
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from agenticiqa.errors import ToolUnavailableError, UnknownToolError
from agenticiqa.nodes.context import NodeContext, report
from agenticiqa.nodes.reply_normalisation import Distortions, known_name, object_in_scope
from agenticiqa.state import OVERALL, PlannerOutput, Region, ToolExecutionLog, canonical_category
from agenticiqa.tools.tool import ToolCard
from agenticiqa.vlm_client.tasks import ToolOffer

logger = logging.getLogger("agenticiqa.nodes.executor")
ToolScores = dict[str, dict[str, tuple[str, float]]]
_THREADS = 4


@dataclass(frozen=True)
class Pick:
    """A tool chosen for one distortion of one object; `fallback` when it stands in, `note` then says for what."""

    object_name: str
    distortion: str
    tool: str
    fallback: bool = False
    note: str = ""


def offers(context: NodeContext, targets: Distortions) -> tuple[ToolOffer, ...]:
    """The tools that can measure these targets here, the best for the first target first."""
    suitable = [card for _, distortion in _pairs(targets) for card in _suitable(context, distortion)]
    return tuple(
        ToolOffer(name=card.name, reference=card.reference, strengths=card.strengths, description=card.variant)
        for card in {card.name: card for card in suitable}.values()
    )


def required_picks(tool: str, targets: Distortions) -> list[Pick]:
    """The one tool the query insists on, for every target."""
    return [Pick(name, distortion, tool) for name, distortion in _pairs(targets)]


def complete_picks(
    context: NodeContext,
    plan: PlannerOutput,
    chosen: Mapping[str, Mapping[str, str]],
    targets: Distortions,
    avoided: Collection[str] = (),
    *,
    again: bool = True,
) -> list[Pick]:
    """One pick per target: the chosen tool if it can run, else the most suitable one, flagged as fallback.

    Tools to be `avoided` were tried already; they are taken only if there is no other, and not even then unless
    `again` is set: a target without another tool then has no pick.
    """
    wanted = {
        (object_in_scope(name, plan), str(canonical_category(distortion))): tool
        for name, by_distortion in chosen.items()
        for distortion, tool in by_distortion.items()
    }
    picks = [_pick(context, *pair, wanted.get(pair), avoided, again) for pair in _pairs(targets)]
    found = [pick for pick in picks if pick is not None]
    if not found and again:
        raise ToolUnavailableError("no calibrated tool can run on this image; see `agenticiqa tools`")
    return found


def _pick(
    context: NodeContext, name: str, distortion: str, wanted: str | None, avoided: Collection[str], again: bool
) -> Pick | None:
    known, problem, level = None, "no tool was chosen", logging.INFO
    if wanted is not None:
        known, problem = _usable_name(context, wanted)
        if known is not None and known not in avoided:
            return Pick(name, distortion, known)
        level = logging.WARNING if problem else logging.INFO
        problem = problem or f"{known} was tried already"
    suitable = _suitable(context, distortion) or _suitable(context, OVERALL)
    untried = [card.name for card in suitable if card.name not in avoided]
    if not untried and not again:
        return None
    if not suitable and known is not None:
        return Pick(name, distortion, known)
    if not suitable:
        logger.warning("%s on %s: %s, and no tool can stand in", distortion, name, problem)
        return None
    stand_in = (untried or [suitable[0].name])[0]
    logger.log(level, "%s on %s: %s; %s stands in", distortion, name, problem, stand_in)
    return Pick(name, distortion, stand_in, fallback=True, note=f"stands in: {problem}")


def as_mapping(picks: list[Pick]) -> dict[str, dict[str, str]]:
    """The picks as object → distortion → tool."""
    mapping: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for pick in picks:
        mapping[pick.object_name][pick.distortion] = pick.tool
    return dict(mapping)


def _suitable(context: NodeContext, distortion: str) -> list[ToolCard]:
    return context.parts.tools.suitable(distortion, context.reference is not None)


def _usable_name(context: NodeContext, wanted: str) -> tuple[str | None, str]:
    """The registry's name of the tool, or what keeps it from running here."""
    tools = context.parts.tools
    try:
        name = known_name(wanted, tools)
    except UnknownToolError as error:
        return None, str(error)
    reason = tools.available(name)
    if reason is not None:
        return None, f"{name} is not available: {reason}"
    if tools.card(name).reference == "FR" and context.reference is None:
        return None, f"{name} needs a reference image"
    return name, ""


def _pairs(targets: Distortions) -> Iterator[tuple[str, str]]:
    return ((name, distortion) for name, distortions in targets.items() for distortion in distortions)


def run_tools(
    context: NodeContext, picks: list[Pick], regions: Mapping[str, Region | None], *, substitute: bool = True
) -> list[ToolExecutionLog]:
    """The logs of all runs, failed ones included, in the order of the picks."""
    kinds = as_mapping([pick for pick in picks if pick.distortion != OVERALL])
    # One job per tool and object: its further distortions are then answered from the registry's memory.
    jobs: dict[tuple[str, str], list[Pick]] = defaultdict(list)
    for pick in picks:
        jobs[pick.object_name, pick.tool].append(pick)

    def work(job: list[Pick]) -> list[tuple[Pick, list[ToolExecutionLog]]]:
        return [
            (
                pick,
                _run(context, pick, regions.get(pick.object_name), list(kinds.get(pick.object_name, ())), substitute),
            )
            for pick in job
        ]

    if len(jobs) == 1:
        logs = dict(work(picks))
    else:
        with ThreadPoolExecutor(max_workers=min(_THREADS, len(jobs)) or 1) as pool:
            futures = [pool.submit(contextvars.copy_context().run, work, job) for job in jobs.values()]
            logs = dict(done for future in futures for done in future.result())
    return [entry for pick in picks for entry in logs[pick]]


def _run(
    context: NodeContext, pick: Pick, region: Region | None, kinds: list[str], substitute: bool
) -> list[ToolExecutionLog]:
    about = {"object_name": pick.object_name, "distortion": pick.distortion}
    # The distortions of an object, equally likely, are what the calibration may condition on.
    likely = {kind: 1 / len(kinds) for kind in kinds} or None
    try:
        logs = context.parts.tools.execute_with_fallback(
            pick.tool, context.test, context.reference, region, likely, substitute=substitute, **about
        )
    except Exception as error:  # a tool of a third party may fail in any way, and the others must go on
        failure = report(f"{pick.tool} on {pick.object_name}", error)
        failed = {"tool_name": pick.tool, "execution_time": 0.0, "error": failure, **about}
        logs = [ToolExecutionLog.model_validate(failed)]
    notes = [pick.note] if pick.note else []
    return [
        log.model_copy(update={"fallback": log.fallback or pick.fallback, "notes": notes + log.notes}) for log in logs
    ]


def scores_of(logs: list[ToolExecutionLog]) -> ToolScores:
    """The calibrated scores by object and distortion; of several runs for one place the last counts."""
    scores: ToolScores = {}
    for log in logs:
        if log.normalized_score is not None:
            scores.setdefault(log.object_name, {})[log.distortion] = (log.tool_name, log.normalized_score)
    return scores


def failures_of(logs: list[ToolExecutionLog]) -> str | None:
    """One sentence naming every tool that failed; None when all gave a number."""
    failed = dict.fromkeys(f"{log.tool_name} on {log.object_name}: {log.error}" for log in logs if log.error)
    return "; ".join(failed) or None
