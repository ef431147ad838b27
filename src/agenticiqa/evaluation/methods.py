"""The ways to score a picture that are compared: the agent, the agent with parts taken out, its tools, its model."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from agenticiqa.evaluation.evidence import Evidence
from agenticiqa.evaluation.runs import FULL, MODEL_ALONE, TOOLS, Found
from agenticiqa.evaluation.statistics import Values, srcc
from agenticiqa.tools.curve_fitting import evaluate
from agenticiqa.tools.registry import ToolRegistry

Chosen = npt.NDArray[np.bool_]
ABLATIONS = (
    MODEL_ALONE, "best-tool", "all-tools-mean", "no-planner", "no-detection", "no-fusion-weights", "no-replanning",
)  # fmt: skip
_RUNS = {"best-tool": TOOLS, "all-tools-mean": TOOLS, "no-fusion-weights": FULL}
EMBEDDED_BACKEND = "builtin.perception"
IDENTICAL = "identical by construction"
# Why an ablation cannot change anything when the embedded model does all the judging.
_BY_CONSTRUCTION = {
    MODEL_ALONE: "its tools are inside the embedded model's beliefs or weigh nothing beside them",
    "no-planner": "the embedded planner makes this very plan whenever quality is to be rated",
    "no-detection": "the embedded score is read from the picture, not from the findings",
    "no-replanning": "a deterministic backend would gather the same evidence again, so there is no new plan",
}


@dataclass(frozen=True)
class Cost:
    """What one picture costs on average; `seconds` as if nothing had been worked out before, `usd` None if unknown."""

    calls: float = 0.0
    tokens: float = 0.0
    seconds: float | None = None
    usd: float | None = 0.0


@dataclass(frozen=True)
class Method:
    """A way to score, with the score of every picture (NaN where there is none) and what it costs."""

    name: str
    title: str
    scores: Values
    cost: Cost
    note: str = ""


def runs_for(ablations: Sequence[str]) -> list[str]:
    """The runs these ablations need, the full agent and all tools included."""
    return list(dict.fromkeys([FULL, TOOLS, *(_RUNS.get(name, name) for name in ablations)]))


def methods_of(
    evidence: Evidence,
    opinions: Values,
    tools: ToolRegistry,
    ablations: Sequence[str],
    timings: dict[str, float],
    backend: str,
) -> list[Method]:
    """The agent first, then each ablation, in the order asked for."""
    full = _agent(FULL, "the agent", evidence, timings)
    made: dict[str, Callable[[], Method]] = {
        "best-tool": lambda: best_tool(evidence, opinions, tools),
        "all-tools-mean": lambda: mean_of_all(evidence, tools),
        "no-fusion-weights": lambda: _plain_mean(evidence, full),
    }
    found = [full]
    for name in ablations:
        if name in made:
            found.append(made[name]())
        else:
            method = _agent(name, name.replace("-", " "), evidence, timings)
            # Fusing sums in another order than the model's own mean: the last bits may differ.
            if np.allclose(method.scores, full.scores, rtol=0, atol=1e-9, equal_nan=True):
                reason = _BY_CONSTRUCTION.get(name) if backend == EMBEDDED_BACKEND else None
                note = f"{IDENTICAL}: {reason}" if reason else "the same score on every picture"
                method = replace(method, scores=full.scores, note=note)
            found.append(method)
    return found


def single_tools(evidence: Evidence, tools: ToolRegistry) -> list[Method]:
    """Every tool on its own, its raw value turned so that more is better."""
    names = list(dict.fromkeys(name for one in evidence for name in one[TOOLS].get("raw", {})))
    signs = {name: 1 if tools.card(name).higher_is_better else -1 for name in names}
    costs = {name: Cost(seconds=_seconds(name, evidence)) for name in names}
    return [Method(name, name, signs[name] * _raw(name, evidence), costs[name]) for name in names]


def mean_of_all(evidence: Evidence, tools: ToolRegistry) -> Method:
    """The mean of all voting tools, each from 1 to 5 by its overall curve."""
    scores = []
    seconds = 0.0
    for method in single_tools(evidence, tools):
        calibration = tools.calibration(method.name)
        if calibration is not None and tools.votes(method.name):
            raw = _raw(method.name, evidence)
            known = np.isfinite(raw)
            scores.append(np.full(len(raw), np.nan))
            scores[-1][known] = evaluate(calibration.overall, raw[known])
            seconds += method.cost.seconds or 0.0
    mean = np.full(len(evidence), np.nan)
    if scores:
        mean = np.asarray(np.ma.masked_invalid(np.stack(scores)).mean(0).filled(np.nan), np.float64)
    note = f"{len(scores)} tools, overall curves" if scores else "no calibrated tool runs"
    return Method("all-tools-mean", "mean of all tools", mean, Cost(seconds=seconds), note)


def best_tool(evidence: Evidence, opinions: Values, tools: ToolRegistry, among: Chosen | None = None) -> Method:
    """The tool that ranks these pictures best, or those `among` them; one without scores when no tool runs."""
    rows = np.ones(len(opinions), bool) if among is None else among
    singles = single_tools(evidence, tools)
    best = max(singles, key=lambda tool: _agreement(tool.scores[rows], opinions[rows]), default=None)
    title = "best single tool"
    if best is None:
        return Method("best-tool", title, np.full(len(evidence), np.nan), Cost(), "no tool runs here")
    if among is not None:
        return replace(best, name="best-tool", title=f"{title} ({best.name}, chosen on the fitting half)")
    note = f"{best.name}, chosen in hindsight on these very pictures, which favours it"
    return replace(best, name="best-tool", title=title, note=note)


def values_of(run: str, key: str, evidence: Evidence) -> Values:
    """One figure of a run for every picture, NaN where it is missing."""
    figures = [one.get(run, {}).get(key) for one in evidence]
    return np.array([math.nan if value is None else value for value in figures], np.float64)


def _agent(run: str, title: str, evidence: Evidence, timings: dict[str, float]) -> Method:
    # A run that broke off on a picture says nothing of what it cost.
    results = [one[run] for one in evidence if "cost" in one.get(run, {})]
    return Method(run, title, values_of(run, "score", evidence), _mean_cost(results, timings.get(run)))


def _plain_mean(evidence: Evidence, full: Method) -> Method:
    parts = np.stack([values_of(FULL, key, evidence) for key in ("model_score", "tool_score")])
    scores = np.asarray(np.ma.masked_invalid(parts).mean(0).filled(np.nan), np.float64)
    note = "half the model's score, half the mean of the tools the agent ran"
    return Method("no-fusion-weights", "no fusion weights", scores, full.cost, note)


def _raw(name: str, evidence: Evidence) -> Values:
    return np.array([one[TOOLS].get("raw", {}).get(name, math.nan) for one in evidence], np.float64)


def _seconds(name: str, evidence: Evidence) -> float:
    # What an earlier evaluation or the user's cache remembers takes no time; the median is hardly moved by a few such.
    taken = [one[TOOLS]["tool_seconds"][name] for one in evidence if name in one[TOOLS].get("tool_seconds", {})]
    return float(np.median(taken)) if taken else 0.0


def _agreement(scores: Values, opinions: Values) -> float:
    known = np.isfinite(scores)
    value = srcc(scores[known], opinions[known]) if known.sum() > 2 else math.nan
    return -2.0 if math.isnan(value) else value


def _mean_cost(results: Sequence[Found], seconds: float | None) -> Cost:
    if not results:
        return Cost(usd=None)
    count = len(results)
    prices = [result.get("cost") for result in results]
    timed = sum(result.get("seconds", 0.0) for result in results) / count
    return Cost(
        calls=sum(result.get("calls", 0) for result in results) / count,
        tokens=sum(result.get("tokens", 0) for result in results) / count,
        seconds=seconds if seconds is not None else timed,
        usd=None if None in prices else math.fsum(price for price in prices if price is not None) / count,
    )
