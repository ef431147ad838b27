"""How well full-reference scores agree with people, what they are worth outside, and how they do in the field.

    python -m benchmarks.accuracy_fr --data DIR [--cache FOLDER] [--free FOLDER] [--json FILE]

Everything fitted on TID2013 is refitted for each photograph without it, and for each kind of damage without it, by the
code in `training/`; the predictions are pooled. Rows say what they were fitted on; only those with nothing of TID2013
may stand beside published figures across data sets. `--cache` keeps the measured pairs for the next run. `--free` adds
the checks on whole photographs (`benchmarks.fr_field`) and the speed.
"""

from __future__ import annotations

import argparse
import itertools
import json
import logging
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from agenticiqa.embedded.full_reference.consensus import MEMBERS
from agenticiqa.embedded.full_reference.pair_features import HIGHER_IS_BETTER
from agenticiqa.embedded.full_reference.pair_model import (
    CONSENSUS_NAMES,
    FullReferenceModel,
    OpenModel,
    Prediction,
    load_model,
)
from agenticiqa.evaluation.statistics import bootstrap, fit_logistic, krcc, paired_bootstrap, plcc, rmse, srcc
from agenticiqa.score_fusion import ScoreFusion
from agenticiqa.state import LEVEL_SCORES, LevelLetter
from agenticiqa.tools.curve_fitting import evaluate, fit_curve
from agenticiqa.values import level_probabilities
from agenticiqa.weights import read_arrays
from benchmarks.fr_field import field_checks
from training.fr_data import Pairs, read_tid
from training.fr_extract import extract_tid
from training.fr_fit import WITHOUT_DETECTION
from training.fr_train import (
    COVERED,
    UNRATED,
    fit_basic,
    held_out,
    joint_spread,
    ladder_of,
    leave_one_kind_out,
    leave_one_photograph_out,
)

Floats = npt.NDArray[np.float64]
Fold = Callable[[Pairs, Pairs], Floats]
NOTHING, FOLDS = "nothing of TID2013", "TID2013, other photographs"
LEAST_STEP = 0.3
AGENT = "agent with detection: AIQA_FR"


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    name: str
    fitted_on: str
    scores: Floats


def main() -> None:
    """Prints the table and the checks; writes the figures as JSON if asked."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--data", type=Path, required=True)
    options.add_argument("--cache", type=Path)
    options.add_argument("--free", type=Path)
    options.add_argument("--photographs", type=int, default=30)
    options.add_argument("--json", type=Path)
    given = options.parse_args()
    # Fusing without any voting tool is what is measured here, 720 times.
    logging.getLogger("agenticiqa.score_fusion").setLevel(logging.ERROR)
    pairs, opinions = measured(given.data, given.cache)
    made = shipped_field_pairs()
    opened = load_model("open").opened
    judged = held_out(pairs, opened, made, leave_one_photograph_out(pairs))
    rows = [*single_tools(pairs), *combinations(pairs), *agents(pairs, opened, made, judged)]
    figures = [print_row(row, pairs, opinions) for row in rows]
    checks = print_checks(pairs, opinions, rows, judged)
    checks |= print_kinds_left_out(pairs, opinions, opened, made, rows, judged)
    checks |= print_made_left_out(pairs, opened, made)
    if given.free:
        checks |= field_checks(given.free, given.photographs, given.cache / "ladders" if given.cache else None)
        # In a process of its own, whose peak of memory is the judgement's.
        subprocess.run([sys.executable, "-m", "benchmarks.fr_speed", "--sizes"], check=True)
    if given.json:
        given.json.write_text(json.dumps({"rows": figures, "checks": checks}, indent=2) + "\n")


def measured(data: Path, cache: Path | None) -> tuple[Pairs, Floats]:
    """The pairs' features, measured now unless the cache has them, and the mean opinions as published."""
    with tempfile.TemporaryDirectory() as scratch:
        target = (cache or Path(scratch)) / "tid.npz"
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            extract_tid(data, target)
        return read_tid(target), np.load(target)["mos"]


def shipped_field_pairs() -> Pairs:
    """The made pairs, read back from the shipped weights, which hold their features."""
    rated, stored = load_model("research").rated, read_arrays("fr_research.npz")
    assert rated is not None
    model, own = rated.model, rated.model.reach <= 2 * UNRATED
    features = (model.machine.support * model.standardise.scale + model.standardise.centre)[own]
    places = [place for place, name in enumerate(model.names) if name not in CONSENSUS_NAMES]
    names = tuple(model.names[place] for place in places)
    count = len(features)
    metrics = [name for name in names if name.startswith("metric.")]
    return Pairs(
        names=names,
        features=features[:, places],
        metric_names=tuple(name.removeprefix("metric.") for name in metrics),
        metrics=features[:, [model.names.index(name) for name in metrics]],
        group=stored["made_group"],
        kind=stored["made_kind"],
        source=stored["made_source"],
        level=np.zeros(count, np.int_),
        score=np.full(count, np.nan),
    )


def by_fold(pairs: Pairs, fold: Fold) -> Floats:
    """Scores of every photograph's pairs by a fit on the other photographs."""
    scores = np.zeros(len(pairs))
    for out in leave_one_photograph_out(pairs):
        scores[out] = fold(pairs.rows(~out), pairs.rows(out))
    return scores


def single_tools(pairs: Pairs) -> list[Row]:
    """Each metric as it is, turned so that more is better."""
    signs = {name: 1 if HIGHER_IS_BETTER[name] else -1 for name in pairs.metric_names}
    return [Row(name, NOTHING, signs[name] * pairs.metric(name)) for name in pairs.metric_names]


def combinations(pairs: Pairs) -> list[Row]:
    """What can be had from the same tools without an agent."""

    def calibrated_mean(train: Pairs, test: Pairs) -> Floats:
        total = np.zeros(len(test))
        for name in train.metric_names:
            curve = fit_curve(train.metric(name), train.score, increasing=HIGHER_IS_BETTER[name])
            total += evaluate(curve, test.metric(name))
        return total / len(train.metric_names)

    def ridge(train: Pairs, test: Pairs) -> Floats:
        columns = [train.names.index(f"metric.{name}") for name in train.metric_names]
        x, z = train.features[:, columns], test.features[:, columns]
        centre, scale = x.mean(0), x.std(0)
        x, z = (x - centre) / scale, (z - centre) / scale
        weights = np.linalg.solve(x.T @ x + np.eye(x.shape[1]), x.T @ (train.score - train.score.mean()))
        return np.asarray(z @ weights, np.float64)

    return [
        Row("all tools, calibrated, mean", FOLDS, by_fold(pairs, calibrated_mean)),
        Row("all tools, ridge", FOLDS, by_fold(pairs, ridge)),
    ]


def agents(pairs: Pairs, opened: OpenModel, made: Pairs, judged: list[Prediction]) -> list[Row]:
    """The judgement without detection, with it, from nothing of TID2013, and as fused level."""
    blind = held_out(pairs, opened, made, leave_one_photograph_out(pairs), WITHOUT_DETECTION)
    levels = [level_probabilities(one.score, 0.3) for one in judged]
    return [
        Row("zero-shot AIQA_FR", NOTHING, opened.consensus.score(pairs.features, pairs.names)),
        Row("agent without detection", FOLDS, np.array([one.score for one in blind])),
        Row(AGENT, FOLDS, np.array([one.score for one in judged])),
        # With the embedded backend nothing else votes: the metrics and AIQA_FR are inside its beliefs already.
        Row("agent's fused score, embedded backend", FOLDS, np.array([_fused(level) for level in levels])),
    ]


def _fused(levels: dict[LevelLetter, float]) -> float:
    beliefs = {LEVEL_SCORES[letter]: share for letter, share in levels.items()}
    return ScoreFusion().fuse_scores([], beliefs)


def print_row(row: Row, pairs: Pairs, opinions: Floats) -> dict[str, object]:
    """One line: rank correlation with interval over photographs, the other figures, what was fitted."""
    fitted = fit_logistic(row.scores, opinions)(row.scores)
    ranks, error = krcc(row.scores, opinions), rmse(fitted, opinions)
    linear = plcc(fitted, opinions)
    interval = bootstrap(srcc, row.scores, opinions, clusters=pairs.group)
    plain = plcc(row.scores, opinions)
    print(
        f"{row.name:38s} SRCC {interval.value:.4f} [{interval.low:.3f}, {interval.high:.3f}]  PLCC {linear:.4f} "
        f"(unfitted {plain:.4f})  KRCC {ranks:.4f}  RMSE {error:.3f}  fitted on: {row.fitted_on}"
    )
    return {"name": row.name, "fitted_on": row.fitted_on, "srcc": interval.value, "low": interval.low,
            "high": interval.high, "plcc": linear, "krcc": ranks, "rmse": error}  # fmt: skip


def print_checks(pairs: Pairs, opinions: Floats, rows: list[Row], judged: list[Prediction]) -> dict[str, object]:
    """Gain over the best single tool, order of levels, kinds recognised."""
    scores = {row.name: row.scores for row in rows}
    best = max(pairs.metric_names, key=lambda name: srcc(scores[name], opinions))
    gain = paired_bootstrap(srcc, scores[AGENT], scores[best], opinions, clusters=pairs.group)
    right, steps = order(scores[AGENT], pairs, opinions)
    kinds = np.mean([next(iter(one.kinds)) == kind for one, kind in zip(judged, pairs.kind, strict=True)])
    print(f"gain over {best}: {gain.value:+.4f} [{gain.low:+.4f}, {gain.high:+.4f}] (paired, photographs resampled)")
    print(f"adjacent levels with MOS {LEAST_STEP} apart ordered rightly: {right:.1%} of {steps}")
    print(f"kinds recognised: {kinds:.1%} of {len(pairs)}")
    return {"best": best, "gain": gain.value, "gain_low": gain.low, "gain_high": gain.high, "order": right,
            "order_pairs": steps, "kinds": float(kinds)}  # fmt: skip


def print_kinds_left_out(
    pairs: Pairs, opinions: Floats, opened: OpenModel, made: Pairs, rows: list[Row], judged: list[Prediction]
) -> dict[str, object]:
    """Each kind absent from what is fitted on opinions: rank correlation within it beside the best single tool's."""
    kinds = ladder_of(pairs)
    outside = held_out(pairs, opened, made, leave_one_kind_out(pairs))
    scores = np.array([one.score for one in outside])
    tools = {row.name: within_kinds(row.scores, kinds, opinions) for row in rows if row.name in pairs.metric_names}
    best = max(tools, key=lambda name: float(np.mean(list(tools[name].values()))))
    own = within_kinds(scores, kinds, opinions)
    short = {kind: own[kind] - tools[best][kind] for kind in own}
    worst = sorted(short, key=lambda kind: short[kind])[:3]
    mean, beside = (float(np.mean(list(each.values()))) for each in (own, tools[best]))
    inside, width, constant = coverage(pairs, judged, outside)
    print(
        f"leave-one-kind-out: mean SRCC {mean:.4f} beside {best} {beside:.4f} ({mean - beside:+.4f}, limit -.01); "
        f"worst {min(own.values()):.3f} ({min(own, key=lambda kind: own[kind])}); shortest of {best} by kind "
        + ", ".join(f"{kind} {short[kind]:+.3f}" for kind in worst)
        + " (limit -.03)"
    )
    print(
        f"  95 % intervals there hold {inside:.1%} (93 to 97), mean width {width:.2f} "
        f"(constant width of the opinions: {constant:.2f})"
    )
    return {
        "loko": mean,
        "loko_best": best,
        "loko_beside": beside,
        "loko_short": short,
        "coverage": inside,
        "width": width,
    }


def within_kinds(scores: Floats, kinds: npt.NDArray[np.str_], opinions: Floats) -> dict[str, float]:
    """Rank correlation within each kind of damage."""
    return {str(kind): srcc(scores[kinds == kind], opinions[kinds == kind]) for kind in np.unique(kinds)}


def print_made_left_out(pairs: Pairs, opened: OpenModel, made: Pairs) -> dict[str, object]:
    """Each coder and enlargement absent from every fit: agreement with the tools' consensus beside the best tool's."""
    figures: dict[str, object] = {}
    for source in ("webp", "avif", "heic", "enlarged"):
        out = made.source == source
        fitted = FullReferenceModel(opened, fit_basic(pairs, opened, made.rows(~out)))
        predicted = fitted.predict_rows(made.features[out])
        ranks = {name: _ranked(made.rows(out), name) for name in MEMBERS}
        yardstick = np.mean(list(ranks.values()), axis=0)
        best = max(ranks, key=lambda name: srcc(ranks[name], yardstick))
        own, beside = srcc(np.array([one.score for one in predicted]), yardstick), srcc(ranks[best], yardstick)
        print(
            f"{source} left out of the pairs, {out.sum()} pairs: SRCC with the tools' consensus {own:.4f} "
            f"beside {best} {beside:.4f}"
        )
        figures[f"without.{source}"] = own
    return figures


def _ranked(pairs: Pairs, name: str) -> Floats:
    # The features hold losses: the lower the better, whatever the metric.
    return np.argsort(np.argsort(-pairs.column(f"metric.{name}"))).astype(np.float64)


def order(scores: Floats, pairs: Pairs, opinions: Floats) -> tuple[float, int]:
    """Share of neighbouring levels of one ladder, clearly apart in opinion, that the scores put in the same order."""
    right = total = 0
    ladder = np.char.add(pairs.group, ladder_of(pairs))
    for name in np.unique(ladder):
        rows = np.flatnonzero(ladder == name)
        rows = rows[np.argsort(pairs.level[rows])]
        for one, other in itertools.pairwise(rows):
            step = opinions[one] - opinions[other]
            if abs(step) >= LEAST_STEP:
                total += 1
                right += int((scores[one] - scores[other]) * step > 0)
    return right / total, total


def coverage(pairs: Pairs, judged: list[Prediction], outside: list[Prediction]) -> tuple[float, float, float]:
    """Share of opinions inside the 95 % intervals of kinds left out, their mean width, and a constant interval's.

    The factor of each kind's intervals is the one that fits the other kinds.
    """
    known = float(np.sqrt(np.mean((np.array([one.score for one in judged]) - pairs.score) ** 2)))
    score, strange = (np.array([getattr(one, name) for one in outside]) for name in ("score", "strange"))
    error = np.abs(score - pairs.score)
    half = np.zeros(len(pairs))
    for out in leave_one_kind_out(pairs):
        beyond = float(np.sqrt((strange * error**2)[~out].sum() / strange[~out].sum()))
        spread = joint_spread(strange, known, beyond)
        half[out] = np.quantile(error[~out] / spread[~out], COVERED) * spread[out]
    low, high = np.maximum(1, score - half), np.minimum(5, score + half)
    inside = (low <= pairs.score) & (pairs.score <= high)
    constant = np.quantile(pairs.score, 0.975) - np.quantile(pairs.score, 0.025)
    return float(inside.mean()), float((high - low).mean()), float(constant)


if __name__ == "__main__":
    main()
