"""How well full-reference scores agree with people: every single tool, plain combinations, and the agent's judgement.

    python -m benchmarks.accuracy_fr --data DIR [--cache FOLDER] [--json FILE]

Everything fitted on TID2013 is refitted for each photograph without it, by the code in `training/`, and the
predictions are pooled. Rows say what they were fitted on; only those with nothing of TID2013 may stand beside
published figures across data sets. Needs scikit-learn. `--cache` keeps the measured pairs for the next run.
"""

from __future__ import annotations

import argparse
import itertools
import json
import logging
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from agenticiqa.evaluation.statistics import agreement, bootstrap, paired_bootstrap, plcc, srcc
from agenticiqa.perception.full_reference import STUDENT
from agenticiqa.perception.full_reference_features import HIGHER_IS_BETTER
from agenticiqa.perception.full_reference_judgement import level_probabilities
from agenticiqa.perception.full_reference_weights import FullReferenceModel, OpenModel, Prediction, load_model
from agenticiqa.score_fusion import ScoreFusion
from agenticiqa.state import LEVEL_SCORES, LevelLetter
from agenticiqa.tools.fitting import evaluate, fit_curve
from training.fr_data import Pairs, read_tid
from training.fr_extract import extract_tid
from training.fr_fit import RECIPE, WITHOUT_DETECTION, Recipe, fit_pair_model
from training.fr_train import fit_rated, leave_one_photograph_out, told_of_consensus

Floats = npt.NDArray[np.float64]
Fold = Callable[[Pairs, Pairs], Floats]
NOTHING, FOLDS = "nothing of TID2013", "TID2013, other photographs"
LEAST_STEP = 0.3


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
    options.add_argument("--json", type=Path)
    given = options.parse_args()
    # Fusing without any voting tool is what is measured here, 720 times.
    logging.getLogger("agenticiqa.score_fusion").setLevel(logging.ERROR)
    pairs, opinions = measured(given.data, given.cache)
    opened = load_model("open").opened
    judged = held_out_judgements(pairs, opened)
    rows = [*single_tools(pairs), *combinations(pairs), *agents(pairs, opened, judged)]
    figures = [print_row(row, pairs, opinions) for row in rows]
    checks = print_checks(pairs, opinions, rows, judged)
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


def held_out(pairs: Pairs, fold: Fold) -> Floats:
    """Scores of every photograph's pairs by a fit on the other photographs."""
    scores = np.zeros(len(pairs))
    for out in leave_one_photograph_out(pairs):
        scores[out] = fold(pairs.rows(~out), pairs.rows(out))
    return scores


def held_out_judgements(pairs: Pairs, opened: OpenModel) -> list[tuple[Prediction, int]]:
    """What AIQA_FR says of each pair when refitted without its photograph, with the photographs it then rests on."""
    found: dict[int, tuple[Prediction, int]] = {}
    for out in leave_one_photograph_out(pairs):
        rated = fit_rated(pairs.rows(~out), opened, None)
        predicted = FullReferenceModel(opened, rated).predict_rows(pairs.features[out])
        found |= {int(row): (one, rated.clusters) for row, one in zip(np.flatnonzero(out), predicted, strict=True)}
    return [found[row] for row in range(len(pairs))]


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
        Row("all tools, calibrated, mean", FOLDS, held_out(pairs, calibrated_mean)),
        Row("all tools, ridge", FOLDS, held_out(pairs, ridge)),
    ]


def agents(pairs: Pairs, opened: OpenModel, judged: list[tuple[Prediction, int]]) -> list[Row]:
    """The judgement without detection, with it, with the true kind, from nothing of TID2013, and as fused level."""
    told = told_of_consensus(pairs, opened)

    def fitted(recipe: Recipe, truth: bool = False) -> Floats:
        def fold(train: Pairs, test: Pairs) -> Floats:
            model = fit_pair_model(train, recipe)
            known = (test.kind[:, None] == np.array(model.recognise.kinds)).astype(np.float64) if truth else None
            return model.score(test.features, known)

        return held_out(told, fold)

    levels = [level_probabilities(one.score, one.spread) for one, _ in judged]
    return [
        Row("zero-shot AIQA_FR", NOTHING, opened.consensus.score(pairs.features, pairs.names)),
        Row("agent without detection", FOLDS, fitted(WITHOUT_DETECTION)),
        Row("agent with detection: AIQA_FR", FOLDS, np.array([one.score for one, _ in judged])),
        Row("agent with the true kind (ceiling)", FOLDS, fitted(RECIPE, truth=True)),
        # With the embedded backend nothing else votes: the metrics and AIQA_FR are inside its beliefs already.
        Row("agent's fused score, embedded backend", FOLDS, np.array([_fused(level) for level in levels])),
    ]


def _fused(levels: dict[LevelLetter, float]) -> float:
    beliefs = {LEVEL_SCORES[letter]: share for letter, share in levels.items()}
    return ScoreFusion().fuse_scores([], beliefs)


def print_row(row: Row, pairs: Pairs, opinions: Floats) -> dict[str, object]:
    """One line: rank correlation with interval over photographs, the other figures, what was fitted."""
    found = agreement(row.scores, opinions)
    interval = bootstrap(srcc, row.scores, opinions, clusters=pairs.group)
    plain = plcc(row.scores, opinions)
    print(
        f"{row.name:38s} SRCC {found.srcc:.4f} [{interval.low:.3f}, {interval.high:.3f}]  PLCC {found.plcc:.4f} "
        f"(unfitted {plain:.4f})  KRCC {found.krcc:.4f}  RMSE {found.rmse:.3f}  fitted on: {row.fitted_on}"
    )
    return {"name": row.name, "fitted_on": row.fitted_on, "srcc": found.srcc, "low": interval.low,
            "high": interval.high, "plcc": found.plcc, "krcc": found.krcc, "rmse": found.rmse}  # fmt: skip


def print_checks(
    pairs: Pairs, opinions: Floats, rows: list[Row], judged: list[tuple[Prediction, int]]
) -> dict[str, object]:
    """Gain over the best single tool, order of levels, kinds recognised, coverage of the intervals."""
    scores = {row.name: row.scores for row in rows}
    best = max(pairs.metric_names, key=lambda name: srcc(scores[name], opinions))
    gain = paired_bootstrap(srcc, scores["agent with detection: AIQA_FR"], scores[best], opinions, clusters=pairs.group)
    right, steps = order(scores["agent with detection: AIQA_FR"], pairs, opinions)
    kinds = np.mean([next(iter(one.kinds)) == kind for (one, _), kind in zip(judged, pairs.kind, strict=True)])
    inside, width, constant = coverage(pairs, judged)
    print(f"gain over {best}: {gain.value:+.4f} [{gain.low:+.4f}, {gain.high:+.4f}] (paired, photographs resampled)")
    print(f"adjacent levels with MOS {LEAST_STEP} apart ordered rightly: {right:.1%} of {steps}")
    print(f"kinds recognised: {kinds:.1%} of {len(pairs)}")
    print(
        f"95 % intervals hold {inside:.1%} with mean width {width:.2f} (constant width of the opinions: {constant:.2f})"
    )
    return {"best": best, "gain": gain.value, "gain_low": gain.low, "gain_high": gain.high, "order": right,
            "order_pairs": steps, "kinds": float(kinds), "coverage": inside, "width": width}  # fmt: skip


def order(scores: Floats, pairs: Pairs, opinions: Floats) -> tuple[float, int]:
    """Share of neighbouring levels of one ladder, clearly apart in opinion, that the scores put in the same order."""
    right = total = 0
    ladder = np.char.add(pairs.group, pairs_type(pairs))
    for name in np.unique(ladder):
        rows = np.flatnonzero(ladder == name)
        rows = rows[np.argsort(pairs.level[rows])]
        for one, other in itertools.pairwise(rows):
            step = opinions[one] - opinions[other]
            if abs(step) >= LEAST_STEP:
                total += 1
                right += int((scores[one] - scores[other]) * step > 0)
    return right / total, total


def pairs_type(pairs: Pairs) -> npt.NDArray[np.str_]:
    """The ladder a pair belongs to: TID2013's contrast type goes both ways."""
    return np.where(np.char.startswith(pairs.kind, "contrast"), "contrast", pairs.kind)


def coverage(pairs: Pairs, judged: list[tuple[Prediction, int]]) -> tuple[float, float, float]:
    """Share of opinions inside the 95 % intervals, their mean width, and the width a constant interval needs."""
    half = np.array([STUDENT.get(clusters - 1, 1.96) * one.spread for one, clusters in judged])
    score = np.array([one.score for one, _ in judged])
    low, high = np.maximum(1, score - half), np.minimum(5, score + half)
    inside = (low <= pairs.score) & (pairs.score <= high)
    constant = np.quantile(pairs.score, 0.975) - np.quantile(pairs.score, 0.025)
    return float(inside.mean()), float((high - low).mean()), float(constant)


if __name__ == "__main__":
    main()
