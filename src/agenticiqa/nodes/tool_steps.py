"""The tools of a pass: which one measures which distortion, and what they say when they are run."""

from __future__ import annotations

import contextvars
import logging
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from agenticiqa.errors import ToolUnavailableError, UnknownToolError
from agenticiqa.images import LoadedImage
from agenticiqa.nodes.context import report
from agenticiqa.nodes.reply_normalisation import Distortions, known_name, object_in_scope
from agenticiqa.state import OVERALL, PlannerOutput, Region, ToolExecutionLog, canonical_category
from agenticiqa.tools.registry import ToolRegistry
from agenticiqa.tools.tool import ToolCard
from agenticiqa.vlm_client.tasks import ToolOffer

logger = logging.getLogger("agenticiqa.nodes.executor")
Scores = dict[str, dict[str, tuple[str, float]]]
_THREADS = 4


@dataclass(frozen=True)
class Pick:
    """A tool chosen for one distortion of one object; `fallback` when it stands in, `note` then says for what."""

    object_name: str
    distortion: str
    tool: str
    fallback: bool = False
    note: str = ""


Job = list[Pick]
Done = tuple[Pick, list[ToolExecutionLog]]


def offers(targets: Distortions, tools: ToolRegistry, has_reference: bool) -> tuple[ToolOffer, ...]:
    """The tools that can measure these targets here, the best for the first target first."""
    cards: dict[str, ToolCard] = {}
    for _, distortion in _pairs(targets):
        cards.update({card.name: card for card in tools.suitable(distortion, has_reference) if card.name not in cards})
    return tuple(
        ToolOffer(name=card.name, reference=card.reference, strengths=card.strengths, description=card.variant)
        for card in cards.values()
    )


def required_picks(tool: str, targets: Distortions) -> list[Pick]:
    """The one tool the query insists on, for every target."""
    return [Pick(name, distortion, tool) for name, distortion in _pairs(targets)]


def complete_picks(
    chosen: Mapping[str, Mapping[str, str]],
    targets: Distortions,
    plan: PlannerOutput,
    tools: ToolRegistry,
    has_reference: bool,
    avoided: Collection[str] = (),
    *,
    again: bool = True,
) -> list[Pick]:
    """One pick per target: the chosen tool if it can run, else the most suitable one, flagged as fallback.

    Tools to be `avoided` have spoken already; they are taken only if there is no other, and not even then unless
    `again` is set: a target without another tool then has no pick.
    """
    wanted = {
        (object_in_scope(name, plan), str(canonical_category(distortion))): tool
        for name, by_distortion in chosen.items()
        for distortion, tool in by_distortion.items()
    }
    picks = [
        _pick(name, key, wanted.get((name, key)), tools, has_reference, avoided, again) for name, key in _pairs(targets)
    ]
    found = [pick for pick in picks if pick is not None]
    if not found and again:
        raise ToolUnavailableError("no calibrated tool can run on this image; see `agenticiqa tools`")
    return found


def as_mapping(picks: list[Pick]) -> dict[str, dict[str, str]]:
    """The picks as object → distortion → tool."""
    mapping: dict[str, dict[str, str]] = {}
    for pick in picks:
        mapping.setdefault(pick.object_name, {})[pick.distortion] = pick.tool
    return mapping


def _pick(
    name: str,
    distortion: str,
    wanted: str | None,
    tools: ToolRegistry,
    has_reference: bool,
    avoided: Collection[str],
    again: bool,
) -> Pick | None:
    known, problem, level = None, "no tool was chosen", logging.INFO
    if wanted is not None:
        known, problem = _usable_name(wanted, tools, has_reference)
        if known is not None and known not in avoided:
            return Pick(name, distortion, known)
        level = logging.WARNING if problem else logging.INFO
        problem = problem or f"{known} has spoken already"
    suitable = tools.suitable(distortion, has_reference) or tools.suitable(OVERALL, has_reference)
    left = [card for card in suitable if card.name not in avoided]
    if not left and not again:
        return None
    suitable = left or suitable
    if not suitable and known is not None:
        return Pick(name, distortion, known)
    if not suitable:
        logger.warning("%s on %s: %s, and no tool can stand in", distortion, name, problem)
        return None
    logger.log(level, "%s on %s: %s; %s stands in", distortion, name, problem, suitable[0].name)
    return Pick(name, distortion, suitable[0].name, fallback=True, note=f"stands in: {problem}")


def _usable_name(wanted: str, tools: ToolRegistry, has_reference: bool) -> tuple[str | None, str]:
    try:
        name = known_name(wanted, tools)
    except UnknownToolError as error:
        return None, str(error)
    reason = tools.available(name)
    if reason is not None:
        return None, f"{name} is not available: {reason}"
    if tools.card(name).reference == "FR" and not has_reference:
        return None, f"{name} needs a reference image"
    return name, ""


def _pairs(targets: Distortions) -> Iterator[tuple[str, str]]:
    return ((name, distortion) for name, distortions in targets.items() for distortion in distortions)


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

    def work(job: Job) -> list[Done]:
        return [(pick, _run(pick, tools, test, reference, regions, kinds, substitute)) for pick in job]

    logs = dict(_in_threads(work, list(jobs.values())))
    return [entry for pick in picks for entry in logs[pick]]


def _in_threads(work: Callable[[Job], list[Done]], jobs: list[Job]) -> list[Done]:
    """What came of all jobs; a single one needs no thread of its own."""
    if len(jobs) == 1:
        return work(jobs[0])
    with ThreadPoolExecutor(max_workers=min(_THREADS, len(jobs)) or 1) as pool:
        futures = [pool.submit(contextvars.copy_context().run, work, job) for job in jobs]
        return [done for future in futures for done in future.result()]


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
