"""Recorded outputs set beside the tools: model alone, tools alone and both fused, on the half nothing was fitted on."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from agenticiqa.errors import DatasetError
from agenticiqa.evaluation.evidence import Evidence
from agenticiqa.evaluation.methods import Chosen, Cost, Method, best_tool, calibrated_tools, mean_of_tools
from agenticiqa.evaluation.ratings import Row, Sampling, rate
from agenticiqa.evaluation.recorded import (
    Choice,
    Recorded,
    choose,
    expected_level,
    fuse,
    level_probabilities,
    split_half,
)
from agenticiqa.evaluation.resampling import Values
from agenticiqa.evaluation.samples import RatedSet
from agenticiqa.tools.registry import ToolRegistry

_FREE = Cost(seconds=None)


@dataclass(frozen=True)
class RecordedStudy:
    """The rows of the held-out half, what was chosen on the other, and how many pictures had outputs."""

    form: str
    rows: list[Row]
    choice: Choice
    joined: int
    held_out: int


def study_recorded(
    recorded: Recorded, rated: RatedSet, evidence: Evidence, tools: ToolRegistry, sampling: Sampling
) -> RecordedStudy:
    """Fused, model-alone and tools-alone rows; DatasetError when no picture's name matches."""
    values = recorded.table([sample.name for sample in rated.samples])
    known: Chosen = np.asarray(np.isfinite(values).any(1))
    if known.sum() < 10:
        raise DatasetError(f"only {known.sum()} of {len(known)} pictures have recorded outputs; check their names")
    chosen = np.flatnonzero(known)
    part = replace(rated, samples=tuple(rated.samples[row] for row in chosen))
    if len(set(part.clusters)) < 2:
        raise DatasetError("all pictures with recorded outputs are of one content; two are needed, one for each half")
    rest = [evidence[row] for row in chosen]
    means = mean_of_tools(calibrated_tools(rest, tools), len(rest))
    fitting = split_half(part.clusters, sampling.seed)
    choice = choose(values[known], recorded.form, means, part.common, fitting, part.clusters)
    beliefs = level_probabilities(values[known], recorded.form, choice.temperature)
    held = ~fitting
    methods = [
        Method("fused", f"fused, η = {choice.eta:g}", fuse(means, beliefs, choice.eta), _FREE),
        Method("recorded model", f"recorded model alone ({recorded.form})", expected_level(beliefs), _FREE),
        Method("all-tools-mean", "mean of all tools", means, _FREE),
        _best_on(fitting, rest, part.opinions, tools),
    ]
    shown = [replace(method, scores=method.scores[held]) for method in methods]
    unseen = replace(part, samples=tuple(np.array(part.samples, object)[held]))
    rows = rate(shown, unseen, sampling, against=shown[0])
    return RecordedStudy(recorded.form, rows, choice, int(known.sum()), int(held.sum()))


def _best_on(fitting: Chosen, evidence: Evidence, opinions: Values, tools: ToolRegistry) -> Method:
    """The tool that is best on the fitting half."""
    best = best_tool(evidence, opinions, tools, among=fitting)
    if best is None:
        return Method("best-tool", "best single tool", np.full(len(evidence), np.nan), _FREE, "no tool runs here")
    title = f"best single tool ({best.name}, chosen on the fitting half)"
    return replace(best, name="best-tool", title=title, cost=_FREE)
