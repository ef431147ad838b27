"""Fusion with recorded or simulated answers of a hosted model: model alone, AIQA_NR alone, fused, with intervals.

    python -m benchmarks.fusion --recorded FILE [--images DIR]
    python -m benchmarks.fusion --simulate SCORES

FILE is a table with `image`, `opinion` and either `score` (1 to 5) or the level probabilities `A` to `E`; a column
`aiqa_nr` spares measuring the pictures in DIR. SCORES is what `training.fit_learned_tools --scores` writes: on it,
models of rank correlation .6 to .9 are simulated, and η from the tool's known error stands beside the paper's η = 1.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from agenticiqa.embedded.quality.quality_model import load_quality_model
from agenticiqa.evaluation.statistics import srcc
from agenticiqa.images import load_image
from agenticiqa.score_fusion import ScoreFusion, eta_for
from agenticiqa.tools.calibration import packaged_calibrations
from agenticiqa.values import level_probabilities

Values = npt.NDArray[np.float64]
LETTERS = "EDCBA"
SCORE_ERROR = 0.5
"""The spread of beliefs around a model's bare score."""
TARGETS = (0.6, 0.7, 0.8, 0.9)
DRAWS = 400
ALLOWED_LOSS = 0.005
STATED = 0.7
"""The share of its true error that a simulated model admits."""


@dataclass(frozen=True)
class Answers:
    """Opinions, level probabilities (levels 1 to 5) and AIQA_NR's scores of the same pictures."""

    opinions: Values
    beliefs: Values
    tool: Values

    def model_only(self) -> Values:
        """The expected level."""
        return np.asarray(self.beliefs @ np.arange(1, 6), np.float64)

    def fused(self, eta: float) -> Values:
        """The product's own fusion."""
        fusion = ScoreFusion(eta=eta)
        rows = zip(self.tool, self.beliefs, strict=True)
        return np.array([fusion.fuse_scores([float(t)], dict(enumerate(map(float, p), 1))) for t, p in rows])


@dataclass(frozen=True)
class Agreement:
    """Rank correlations with their 95 % intervals."""

    model: tuple[float, float, float]
    tool: tuple[float, float, float]
    fused: tuple[float, float, float]

    @property
    def loss(self) -> float:
        """By how much the fused score is worse than the better part; negative when it is better than both."""
        return max(self.model[0], self.tool[0]) - self.fused[0]


def known_eta() -> float:
    """η from AIQA_NR's known error."""
    return eta_for(packaged_calibrations()["AIQA_NR"].overall.spread)


def agreement(answers: Answers, eta: float, seed: int = 0) -> Agreement:
    """How well each part and the fusion agree with the opinions."""
    parts = (answers.model_only(), answers.tool, answers.fused(eta))
    return Agreement(*(_with_interval(scores, answers.opinions, seed) for scores in parts))


def read_answers(path: Path, images: Path | None = None) -> Answers:
    """The table, with AIQA_NR measured where the table has no column for it."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    if "A" in rows[0]:
        beliefs = [[float(row[letter]) for letter in LETTERS] for row in rows]
    else:
        beliefs = [beliefs_around(float(row["score"])) for row in rows]
    measured = [float(row["aiqa_nr"]) if row.get("aiqa_nr") else _measured(row["image"], images) for row in rows]
    shares = np.array(beliefs)
    return Answers(
        np.array([float(row["opinion"]) for row in rows]), shares / shares.sum(1, keepdims=True), np.array(measured)
    )


def beliefs_around(score: float) -> list[float]:
    """What a model that says only a score from 1 to 5 is taken to believe of the five levels."""
    return levels_upwards(score, SCORE_ERROR)


def levels_upwards(score: float, error: float) -> list[float]:
    """Probabilities of levels 1 to 5."""
    return list(level_probabilities(score, error).values())[::-1]


def simulated(scores: Path, target: float, seed: int = 0) -> Answers:
    """Answers of a model that agrees with the opinions this well and is surer of itself than it should be."""
    with scores.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    opinions = np.array([float(row["opinion"]) for row in rows])
    noise = np.random.default_rng(seed).standard_normal(len(opinions)) * opinions.std()
    noisy = _noisy(opinions, noise, target)
    # A model that knows little stays near the middle: its scores spread as far as they agree with the opinions.
    reach = float(np.corrcoef(noisy, opinions)[0, 1]) * opinions.std()
    said = np.clip(opinions.mean() + reach * (noisy - noisy.mean()) / noisy.std(), 1, 5)
    error = max(0.35, STATED * float(np.sqrt(np.mean((said - opinions) ** 2))))
    beliefs = np.array([levels_upwards(float(score), error) for score in said])
    return Answers(opinions, beliefs, np.array([float(row["aiqa_nr"]) for row in rows]))


def write_answers(path: Path, answers: Answers) -> None:
    """The answers as a table that `read_answers` reads."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["image", "opinion", *LETTERS, "aiqa_nr"])
        for number, row in enumerate(zip(answers.opinions, answers.beliefs, answers.tool, strict=True)):
            writer.writerow([f"{number}.jpg", row[0], *row[1], row[2]])


def report_recorded(answers: Answers, say: Callable[[str], None] = print) -> Agreement:
    """Prints the three lines for recorded answers."""
    eta = known_eta()
    found = agreement(answers, eta)
    say(f"{len(answers.opinions)} pictures; rank correlation with the opinions, 95 % interval")
    for name, line in (
        ("model alone", found.model),
        ("AIQA_NR alone", found.tool),
        (f"fused, η {eta:.2f}", found.fused),
    ):
        say(f"{name:16}{line[0]:8.3f}   {line[1]:.3f} to {line[2]:.3f}")
    say(f"loss against the better part {found.loss:.3f}" + ("" if found.loss <= ALLOWED_LOSS else ": too much"))
    return found


def report_simulated(scores: Path, seeds: Sequence[int] = range(5), say: Callable[[str], None] = print) -> None:
    """Prints, per simulated model, its parts and the fusion with η from the known error, its multiples, and η = 1."""
    known = known_eta()
    etas = {f"η {known:.2f}": known, "half": known / 2, "double": 2 * known, "η 1": 1.0}
    say(f"{'model':>8}{'alone':>8}{'AIQA_NR':>9}" + "".join(f"{name:>9}" for name in etas) + f"{'loss':>8}")
    for target in TARGETS:
        runs = [simulated(scores, target, seed) for seed in seeds]
        model, tool = (float(np.mean([srcc(part(run), run.opinions) for run in runs]))
                       for part in (Answers.model_only, lambda run: run.tool))  # fmt: skip
        fused = [float(np.mean([srcc(run.fused(eta), run.opinions) for run in runs])) for eta in etas.values()]
        say(
            f"{target:8.1f}{model:8.3f}{tool:9.3f}"
            + "".join(f"{f:9.3f}" for f in fused)
            + f"{max(model, tool) - fused[0]:8.3f}"
        )


def _noisy(opinions: Values, noise: Values, target: float) -> Values:
    low, high = 0.0, 10.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if srcc(opinions + middle * noise, opinions) > target else (low, middle)
    return np.asarray(opinions + low * noise, np.float64)


def _with_interval(scores: Values, opinions: Values, seed: int) -> tuple[float, float, float]:
    random = np.random.default_rng(seed)
    drawn = (random.integers(0, len(scores), len(scores)) for _ in range(DRAWS))
    values = [srcc(scores[index], opinions[index]) for index in drawn]
    low, high = np.percentile(values, [2.5, 97.5])
    return srcc(scores, opinions), float(low), float(high)


def _measured(name: str, images: Path | None) -> float:
    if images is None:
        raise SystemExit("the table has no column aiqa_nr; name the folder of its pictures with --images")
    return load_quality_model("research").judge(load_image(images / name)).score
