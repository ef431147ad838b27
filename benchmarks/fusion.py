"""What the fused score adds to its parts: tool-only, model-only and fused, with the weights chosen by cross-validation.

    python -m benchmarks.fusion --tid DIR [--biq DIR] [--limit N]
    python -m benchmarks.fusion --recorded FILE | --simulate SCORES     (see benchmarks/recorded_fusion.py)

Tools whose evidence is inside the model's do not vote; tool-only is their score all the same.
Runs the whole agent on rated pictures, keeps the level probabilities and the votes of the tools, then fuses them with
every pair of eta and temperature. The weights used for a picture are chosen on the other folds; pictures of one
photograph stay in one fold. The last line is what `pipeline.fusion_weights` should hold.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np

from agenticiqa import Assessor
from agenticiqa.config import ROLES, load_settings
from agenticiqa.embedded.client import PerceptionClient
from agenticiqa.embedded.combined_models import ShippedPerception
from agenticiqa.evaluation.statistics import srcc
from agenticiqa.parts import build_parts
from agenticiqa.score_fusion import ScoreFusion
from agenticiqa.state import LEVEL_SCORES
from benchmarks.recorded_fusion import read_answers, report_recorded, report_simulated

ETAS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
TEMPERATURES = (0.5, 0.75, 1.0, 1.5, 2.0)
FOLDS = 5
ALLOWED_LOSS = 0.005
BACKEND = "builtin.perception"
PLAIN = {BACKEND: {mode: {"eta": 1.0, "temperature": 1.0} for mode in ("Full-Reference", "No-Reference")}}

Weights = tuple[float, float]


@dataclass(frozen=True)
class Rated:
    """A picture with its opinion, the photograph it was made from and its reference, if it is to be used."""

    source: str
    path: Path
    opinion: float
    photograph: str
    reference: Path | None = None


@dataclass(frozen=True)
class Votes:
    """What the agent had to fuse for one picture."""

    rated: Rated
    beliefs: dict[int, float]
    tools: tuple[float, ...]
    tool_only: float | None

    def fused(self, weights: Weights) -> float:
        """The fused score with this eta and temperature."""
        eta, temperature = weights
        sharpened = {level: max(p, 1e-9) ** (1 / temperature) for level, p in self.beliefs.items()}
        total = sum(sharpened.values())
        return ScoreFusion(eta=eta).fuse_scores(self.tools, {level: p / total for level, p in sharpened.items()})


def main() -> None:
    """Prints the table per source and reference mode, and the weights to set."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--tid", type=Path)
    options.add_argument("--biq", type=Path)
    options.add_argument("--limit", type=int, default=300, help="pictures per source")
    options.add_argument("--seed", type=int, default=5)
    options.add_argument("--recorded", type=Path, help="answers of a hosted model")
    options.add_argument("--images", type=Path, help="the pictures of --recorded, where it has no column aiqa_nr")
    options.add_argument("--simulate", type=Path, help="scores of AIQA_NR beside which models are simulated")
    given = options.parse_args()
    if given.recorded:
        report_recorded(read_answers(given.recorded, given.images))
        return
    if given.simulate:
        report_simulated(given.simulate)
        return
    assessor = assessor_not_fitted_on_tid2013()
    sources = [tid2013(given.tid, True), tid2013(given.tid, False)] if given.tid else []
    sources += [biq2021(given.biq)] if given.biq else []
    chosen: dict[str, Weights] = {}
    by_mode: dict[str, list[list[Votes]]] = {"Full-Reference": [], "No-Reference": []}
    for pictures in sources:
        votes = [votes_of(assessor, rated) for rated in sample(list(pictures), given.limit, given.seed)]
        by_mode["Full-Reference" if votes[0].rated.reference else "No-Reference"].append(votes)
    for mode, groups in by_mode.items():
        if groups:
            chosen[mode] = report(mode, groups, given.seed)
    print(json.dumps({BACKEND: {mode: {"eta": e, "temperature": t} for mode, (e, t) in chosen.items()}}))


def assessor_not_fitted_on_tid2013() -> Assessor:
    """The agent with equal weights, whose full-reference judgement has seen no opinion of TID2013."""
    eyes = ShippedPerception("research", pairs="open")
    parts = build_parts(load_settings(overrides={"pipeline": {"fusion_weights": PLAIN}}))
    return Assessor(parts=replace(parts, vlm_clients={role: PerceptionClient(eyes) for role in ROLES}))


def votes_of(assessor: Assessor, rated: Rated) -> Votes:
    """The level probabilities and the votes of one run of the agent."""
    found = assessor.assess(rated.path, reference=rated.reference)
    beliefs = {LEVEL_SCORES[letter]: (found.level_probabilities or {})[letter] for letter in LEVEL_SCORES}
    votes = {reading.tool: reading.calibrated for reading in found.tools if reading.voted}
    return Votes(rated, beliefs, tuple(score for score in votes.values() if score is not None), found.tool_score)


def report(mode: str, groups: Sequence[Sequence[Votes]], seed: int) -> Weights:
    """Prints one line per source; gives the weights chosen on all pictures of this mode."""
    final = best_weights(groups)
    print(f"\n{mode}: eta {final[0]}, temperature {final[1]}; loss is that of the out-of-fold choice, then of this one")
    print(
        f"{'source':12}{'pictures':>10}{'tool-only':>11}{'model-only':>12}{'out-of-fold':>13}{'fused':>8}{'losses':>16}"
    )
    for votes in groups:
        opinions = [vote.rated.opinion for vote in votes]
        model = srcc([model_only(vote) for vote in votes], opinions)
        shown = [vote.tool_only for vote in votes]
        tool = float("nan") if None in shown else srcc([score for score in shown if score is not None], opinions)
        held_out = srcc(out_of_fold(votes, groups, seed), opinions)
        fused = srcc([vote.fused(final) for vote in votes], opinions)
        losses = [float(np.nanmax([model, tool])) - score for score in (held_out, fused)]
        verdict = "" if losses[1] <= ALLOWED_LOSS else "  too much"
        name, count = votes[0].rated.source, len(votes)
        print(
            f"{name:12}{count:10}{tool:11.3f}{model:12.3f}{held_out:13.3f}{fused:8.3f}{losses[0]:8.3f}{losses[1]:8.3f}{verdict}"
        )
    return final


def out_of_fold(votes: Sequence[Votes], groups: Sequence[Sequence[Votes]], seed: int) -> list[float]:
    """Every picture fused with weights chosen on the other folds of all sources."""
    fold = folds([vote for group in groups for vote in group], seed)
    weights = [
        best_weights([[vote for vote in group if fold[vote.rated.photograph] != number] for group in groups])
        for number in range(FOLDS)
    ]
    return [vote.fused(weights[fold[vote.rated.photograph]]) for vote in votes]


def best_weights(groups: Sequence[Sequence[Votes]]) -> Weights:
    """The pair with the highest mean correlation over the sources; of near equals the one that changes least."""
    return max(product(ETAS, TEMPERATURES), key=lambda weights: (_rounded_srcc(groups, weights), *_mildness(weights)))


def _rounded_srcc(groups: Sequence[Sequence[Votes]], weights: Weights) -> float:
    # Differences below a few thousandths are noise: the plainer choice is taken.
    return round(_mean_srcc(groups, weights) / ALLOWED_LOSS) * ALLOWED_LOSS


def _mildness(weights: Weights) -> tuple[float, float]:
    eta, temperature = weights
    return -abs(float(np.log(temperature))), -eta


def folds(votes: Sequence[Votes], seed: int) -> dict[str, int]:
    """A fold for every photograph."""
    names = sorted({vote.rated.photograph for vote in votes})
    return dict(zip(names, np.random.default_rng(seed).permutation(len(names)) % FOLDS, strict=True))


def model_only(vote: Votes) -> float:
    """The expected level."""
    return sum(level * p for level, p in vote.beliefs.items())


def sample(pictures: list[Rated], limit: int, seed: int) -> list[Rated]:
    """At most `limit` of the pictures, by chance."""
    order = np.random.default_rng(seed).permutation(len(pictures))[:limit]
    return [pictures[index] for index in sorted(order)]


def tid2013(folder: Path, with_reference: bool) -> Iterator[Rated]:
    """The part of TID2013, with or without the use of its references."""
    from training.opinions import read_tid2013

    for pair in read_tid2013(folder):
        reference = pair.reference if with_reference else None
        yield Rated("tid2013", pair.distorted, pair.opinion, pair.reference.stem, reference)


def biq2021(folder: Path) -> Iterator[Rated]:
    """The test split of BIQ2021."""
    from training.biq2021 import read_photographs

    for photograph in read_photographs(folder):
        if photograph.split == "test":
            yield Rated("biq2021", folder / "Images" / photograph.name, photograph.opinion, photograph.name)


def _mean_srcc(groups: Sequence[Sequence[Votes]], weights: Weights) -> float:
    return float(
        np.mean(
            [srcc([v.fused(weights) for v in group], [v.rated.opinion for v in group]) for group in groups if group]
        )
    )


if __name__ == "__main__":
    main()
