"""Model outputs recorded elsewhere, joined to pictures by name: fusion studied with a real model, calling none.

Two-level logits become p = σ((good − poor) / T) and Binomial(4, p) over the levels 1 to 5, marked `two-level`;
five-level log-probabilities become softmax(log p / T). T and the weight η of the tools are chosen on one half of the
contents; every figure is of the other half.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from agenticiqa.errors import DatasetError
from agenticiqa.evaluation.datasets.manifest import read_rows
from agenticiqa.evaluation.evidence import Evidence
from agenticiqa.evaluation.methods import Chosen, Cost, Method, best_tool, mean_of_all
from agenticiqa.evaluation.ratings import Row, rate
from agenticiqa.evaluation.samples import RatedSet
from agenticiqa.evaluation.statistics import Resampling, Values, require_scipy, srcc
from agenticiqa.score_fusion import ScoreFusion
from agenticiqa.tools.registry import ToolRegistry

Form = Literal["two-level", "five-level"]
LEVELS = np.arange(1, 6, dtype=np.float64)
ETAS = (0.0, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
# Of weights that rank the fitting half equally well, to this precision, the smallest is taken.
_AS_GOOD = 5e-4
_NAMES = ("image", "name", "img_path", "image_path", "filename")
_FIVE = {
    "1": 1, "2": 2, "3": 3, "4": 4, "5": 5, "e": 1, "d": 2, "c": 3, "b": 4, "a": 5,
    "bad": 1, "poor": 2, "fair": 3, "good": 4, "excellent": 5,
}  # fmt: skip


@dataclass(frozen=True)
class Recorded:
    """Log-values per picture, by lower-case file name: (good, poor), or levels 1 to 5."""

    form: Form
    values: dict[str, tuple[float, ...]]

    def table(self, names: Sequence[str]) -> Values:
        """The log-values of these pictures, one row each, NaN where none were recorded."""
        width = 2 if self.form == "two-level" else 5
        rows = [self.values.get(_plain(name), (math.nan,) * width) for name in names]
        return np.array(rows, np.float64).reshape(len(names), width)


@dataclass(frozen=True)
class Choice:
    temperature: float
    eta: float
    fitted_on: int
    fitted_groups: tuple[str, ...]


def read_recorded(path: Path) -> Recorded:
    """The outputs in a CSV, JSON or JSON Lines file; DatasetError says what is missing."""
    rows = read_rows(path)
    flat = [_flat(row) for row in rows]
    key = next((name for name in _NAMES if flat and name in flat[0]), None)
    if key is None:
        raise DatasetError(f"{path}: needs a column with the picture's name: {', '.join(_NAMES)}")
    columns = {_FIVE[name]: name for name in flat[0] if name in _FIVE}
    if set(columns) == {2, 4}:
        form: Form = "two-level"
        order = [columns[4], columns[2]]
    elif set(columns) == set(range(1, 6)):
        form, order = "five-level", [columns[level] for level in range(1, 6)]
    else:
        raise DatasetError(f"{path}: needs `good` and `poor`, or all five levels; it has {', '.join(flat[0])}")
    return Recorded(form, _by_name(flat, key, order, path))


def level_probabilities(values: Values, form: Form, temperature: float = 1.0) -> Values:
    """Probabilities of the levels 1 to 5, one row a picture."""
    if form == "five-level":
        scaled = values / temperature
        weights = np.exp(scaled - scaled.max(1, keepdims=True))
        return np.asarray(weights / weights.sum(1, keepdims=True), np.float64)
    # Half of tanh cannot overflow, as exp would.
    good = 0.5 * (1 + np.tanh((values[:, :1] - values[:, 1:]) / (2 * temperature)))
    ways = np.array([math.comb(4, k) for k in range(5)], np.float64)
    return np.asarray(ways * good ** np.arange(5) * (1 - good) ** np.arange(4, -1, -1), np.float64)


def fuse(tool_means: Values, probabilities: Values, eta: float) -> Values:
    """The fused score of every picture by the product's own formula; without a tool mean it is the model's."""
    fusion = ScoreFusion(eta=eta)
    return np.array(
        [
            fusion.fuse_scores([] if math.isnan(mean) else [float(mean)], dict(enumerate(row.tolist(), 1)))
            for mean, row in zip(tool_means, probabilities, strict=True)
        ]
    )


def split_half(clusters: Sequence[str], seed: int = 0) -> npt.NDArray[np.bool_]:
    """Which pictures are for fitting: those of a seeded half of the contents, so that no content is on both sides."""
    names = np.unique(np.asarray(clusters))
    chosen = np.random.default_rng(seed).permutation(names)[: len(names) // 2]
    return np.isin(np.asarray(clusters), chosen)


def choose(values: Values, form: Form, tools: Values, common: Values, fitting: npt.NDArray[np.bool_],
           clusters: Sequence[str]) -> Choice:  # fmt: skip
    """Temperature by the likelihood of the opinions, then η by rank correlation, both on the fitting half."""
    temperature = fit_temperature(values[fitting], form, common[fitting])
    beliefs = level_probabilities(values[fitting], form, temperature)
    ranked = [(srcc(fuse(tools[fitting], beliefs, eta), common[fitting]), eta) for eta in ETAS]
    best = max(value for value, _ in ranked)
    eta = min(eta for value, eta in ranked if value >= best - _AS_GOOD)
    groups = tuple(sorted({cluster for cluster, inside in zip(clusters, fitting, strict=True) if inside}))
    return Choice(temperature, eta, int(fitting.sum()), groups)


def fit_temperature(values: Values, form: Form, common: Values) -> float:
    """The temperature under which the opinions, shared between their two nearest levels, are likeliest."""
    require_scipy()
    from scipy.optimize import minimize_scalar

    below = np.clip(np.floor(common), 1, 4)
    rows, wanted = np.arange(len(common)), np.zeros((len(common), 5))
    wanted[rows, below.astype(int) - 1] = 1 - (common - below)
    wanted[rows, below.astype(int)] = common - below

    def loss(log_temperature: float) -> float:
        probabilities = level_probabilities(values, form, math.exp(log_temperature))
        return float(-(wanted * np.log(np.maximum(probabilities, 1e-12))).sum(1).mean())

    found = minimize_scalar(loss, bounds=(math.log(0.05), math.log(50)), method="bounded")
    return math.exp(float(found.x))


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with what is nested under `logits` or `logprobs` beside the rest, names without `logit_`."""
    nested = [row[key] for key in ("logits", "logprobs") if isinstance(row.get(key), Mapping)]
    merged = {**row, **{str(name): value for inner in nested for name, value in inner.items()}}
    return {str(name).lower().removeprefix("logit_").removeprefix("logprob_"): value for name, value in merged.items()}


def _by_name(
    rows: Sequence[Mapping[str, Any]], key: str, order: Sequence[str], path: Path
) -> dict[str, tuple[float, ...]]:
    found: dict[str, tuple[float, ...]] = {}
    for row in rows:
        if not row.get(key):
            raise DatasetError(f"{path}: a row lacks the picture's name ({key}): {dict(row)}")
        try:
            numbers = tuple(float(row[level]) for level in order)
        except (KeyError, TypeError, ValueError):
            raise DatasetError(f"{path}: a row lacks a number for {', '.join(order)}: {dict(row)}") from None
        if any(math.isnan(number) or number == math.inf for number in numbers):
            raise DatasetError(f"{path}: log-values must be numbers below infinity: {dict(row)}")
        name = _plain(str(row[key]))
        if found.setdefault(name, numbers) != numbers:
            raise DatasetError(f"{path}: two rows say different things of {name}; keep one row for each file name")
    return found


def _plain(name: str) -> str:
    return name.replace("\\", "/").rpartition("/")[2].lower()


@dataclass(frozen=True)
class RecordedStudy:
    """The rows of the held-out half, what was chosen on the other, and how many pictures had outputs."""

    form: str
    rows: list[Row]
    choice: Choice
    joined: int
    held_out: int


def study_recorded(
    recorded: Recorded, rated: RatedSet, evidence: Evidence, tools: ToolRegistry, sampling: Resampling
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
    mean = mean_of_all(rest, tools)
    fitting = split_half(part.clusters, sampling.seed)
    choice = choose(values[known], recorded.form, mean.scores, part.common, fitting, part.clusters)
    beliefs = level_probabilities(values[known], recorded.form, choice.temperature)
    held = ~fitting
    methods = [
        Method("fused", f"fused, η = {choice.eta:g}", fuse(mean.scores, beliefs, choice.eta), Cost()),
        Method("recorded model", f"recorded model alone ({recorded.form})", beliefs @ LEVELS, Cost()),
        replace(mean, note=""),
        best_tool(rest, part.opinions, tools, among=fitting),
    ]
    shown = [replace(method, scores=method.scores[held], cost=Cost(seconds=None)) for method in methods]
    unseen = replace(part, samples=tuple(np.array(part.samples, object)[held]))
    rows = rate(shown, unseen, sampling, against=shown[0])
    return RecordedStudy(recorded.form, rows, choice, int(known.sum()), int(held.sum()))
