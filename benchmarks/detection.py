"""How well distortions are found: held-out photographs, hard negatives, TID2013's part, measured units, time.

python -m benchmarks.detection --cache DIR [--terms research]

DIR holds what `training.detect_extract` (held, tid) and `training.detect_pairs` (held) wrote, the synthetic
set's list, and the pair features of TID2013's part. Nothing of it was trained on.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agenticiqa.embedded.distortions.distortion_model import DistortionModel, load_distortion_model
from agenticiqa.state import DISTORTION_CATEGORIES, SEVERITIES
from agenticiqa.tools.synthetic.kinds import KINDS
from agenticiqa.values import severity_of
from training.detect_extract import read_recipe
from training.detect_severity import Losses, category_losses, measure_losses

Floats = npt.NDArray[np.float64]
Table = dict[str, npt.NDArray[Any]]
COLUMNS = ("features", "recipe", "hard")
VISIBLE, MODERATE = 0.5, 2
TID_CATEGORY = {
    **dict.fromkeys(("tid01", "tid02", "tid05", "tid06", "tid19"), "Noise"),
    **dict.fromkeys(("tid10", "tid11"), "Compression"),
    **dict.fromkeys(("tid18", "tid22"), "Color distortions"),
    "tid08": "Blurs",
    "tid16": "Brightness change",
    "tid17": "Contrast",
}


def gather(cache: Path, *patterns: str) -> Table:
    """The extracted pictures of all matching files, column by column."""
    files = sorted(path for pattern in patterns for path in cache.glob(pattern) if ".part" not in path.name)
    parts = [np.load(path) for path in files]
    return {name: np.concatenate([part[name] for part in parts]) for name in COLUMNS}


def judge_all(model: DistortionModel, features: Floats) -> tuple[Floats, Floats, list[dict[str, float]]]:
    """Probabilities, strengths and kinds of every row."""
    opinions = [model.judge(row) for row in features.astype(np.float32)]
    return (
        np.array([opinion.presence for opinion in opinions]),
        np.array([opinion.strength for opinion in opinions]),
        [opinion.kinds for opinion in opinions],
    )


def average_precision(scores: Floats, truth: npt.NDArray[np.bool_]) -> float:
    """The mean precision at the rank of each true picture; equal scores share the worse rank."""
    order = np.argsort(-scores, kind="stable")
    hits = truth[order].cumsum()
    last_of_tie = np.searchsorted(-scores[order], -scores[order], side="right") - 1
    return float((hits[last_of_tie] / (last_of_tie + 1))[truth[order]].mean())


def quadratic_kappa(found: npt.NDArray[np.intp], truth: npt.NDArray[np.intp]) -> float:
    """Cohen's kappa with squared weights over the five severities."""
    table = np.zeros((5, 5))
    np.add.at(table, (truth, found), 1)
    apart = np.subtract.outer(np.arange(5), np.arange(5)) ** 2
    chance = np.outer(table.sum(1), table.sum(0)) / table.sum()
    return float(1 - (apart * table).sum() / (apart * chance).sum())


def severities(strengths: Floats) -> npt.NDArray[np.intp]:
    """Severity numbers, 0 to 4."""
    numbers = np.vectorize(lambda value: SEVERITIES.index(severity_of(value)))
    return np.asarray(numbers(strengths), np.intp)


def report_synthetic(name: str, model: DistortionModel, data: Table, losses: Losses) -> None:
    """Precision and severity on held-out photographs with made damage."""
    usual = data["hard"] == ""
    recipes = [read_recipe(str(recipe)) for recipe in data["recipe"][usual]]
    presence, strength, kinds = judge_all(model, data["features"][usual])
    truth = np.array([category_losses(recipe, losses) for recipe in recipes])
    damaged = np.array([[any(KINDS[k].category == c for k, _ in r) for c in DISTORTION_CATEGORIES] for r in recipes])
    precision, strict = [], []
    for c, category in enumerate(DISTORTION_CATEGORIES):
        told = ~damaged[:, c] | (truth[:, c] >= VISIBLE)
        precision.append(average_precision(presence[told, c], truth[told, c] >= VISIBLE))
        strict.append(average_precision(presence[:, c], damaged[:, c]))
        rows = damaged[:, c] | ~damaged.any(axis=1)
        kappa = quadratic_kappa(severities(strength[rows, c]), severities(truth[rows, c]))
        print(f"  {category:18} AP {precision[-1]:.3f}  all levels {strict[-1]:.3f}  severity kappa {kappa:.3f}")
    pairs = damaged | ~damaged.any(axis=1, keepdims=True)
    kappa = quadratic_kappa(severities(strength[pairs]), severities(truth[pairs]))
    everywhere = quadratic_kappa(severities(strength.ravel()), severities(truth.ravel()))
    print(f"{name}: {len(recipes)} pictures, mAP {np.mean(precision):.3f} (all levels {np.mean(strict):.3f}), ", end="")
    print(f"severity kappa {kappa:.3f} on damaged and clean, {everywhere:.3f} on all categories")
    report_kinds(recipes, kinds, losses)


def report_kinds(recipes: list[list[tuple[str, int]]], kinds: list[dict[str, float]], losses: Losses) -> None:
    """How often the kind with the most support in its category is the true one."""
    right = []
    for recipe, support in zip(recipes, kinds, strict=True):
        if len(recipe) == 1 and losses[recipe[0][0]][recipe[0][1] - 1] >= VISIBLE:
            own = {n: s for n, s in support.items() if KINDS[n].category == KINDS[recipe[0][0]].category}
            right.append(max(own, key=lambda n: own[n]) == recipe[0][0])
    print(f"  finer kind right within its category: {np.mean(right):.3f} of {len(right)}")


def report_false_alarms(model: DistortionModel, data: Table) -> None:
    """How often a clean or a hard picture is called moderate or worse."""
    clean = (data["recipe"] == "clean") & (data["hard"] == "")
    kinds = [("pristine", clean), ("hard negatives", data["hard"] != "")]
    kinds += [(f"  {name}", data["hard"] == name) for name in sorted(set(data["hard"]) - {""})]
    for name, chosen in kinds:
        _, strength, _ = judge_all(model, data["features"][chosen])
        alarms = (severities(strength) >= MODERATE).mean(axis=0)
        print(f"{name:28} {int(chosen.sum()):4d} pictures: " + "  ".join(f"{share:.3f}" for share in alarms))


def report_tid(name: str, presence: Floats, kinds: npt.NDArray[np.str_], chosen: npt.NDArray[np.bool_]) -> None:
    """Mean average precision over the categories TID2013's chosen types belong to."""
    categories = np.array([TID_CATEGORY.get(str(kind), "") for kind in kinds])
    found = {}
    for c, category in enumerate(DISTORTION_CATEGORIES):
        if (categories[chosen] == category).any():
            found[category] = average_precision(presence[chosen, c], categories[chosen] == category)
    print(f"{name}: {int(chosen.sum())} pictures, mAP {np.mean(list(found.values())):.3f} ", end="")
    print({category: round(value, 3) for category, value in found.items()})


def main() -> None:
    """All figures, printed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--terms", choices=("research", "open"), default="research")
    parser.add_argument("--skip-pairs", action="store_true", help="judge pictures alone only")
    parser.add_argument("--skip-tid", action="store_true", help="do not look at TID2013's part")
    given = parser.parse_args()
    losses = measure_losses(given.cache / "synthetic.csv")
    model = load_distortion_model(f"distortions_{given.terms}")
    held = gather(given.cache, "detect_held_*.npz", "detect_ladders_held_*.npz")
    report_synthetic("held out, picture alone", model, held, losses)
    print("false alarms, moderate or worse: " + ", ".join(DISTORTION_CATEGORIES))
    report_false_alarms(model, held)
    if given.skip_pairs:
        return
    pair = load_distortion_model(f"distortions_pair_{given.terms}")
    report_synthetic("held out, with reference", pair, gather(given.cache, "detect_pairs_held_*.npz"), losses)
    if not given.skip_tid:
        report_both_on_tid(given.cache, model, pair)


def report_both_on_tid(cache: Path, model: DistortionModel, pair: DistortionModel) -> None:
    """TID2013's part without and with the reference."""
    alone = np.load(cache / "detect_tid_7.npz")
    kinds = np.array([str(recipe).partition(":")[0] for recipe in alone["recipe"]])
    report_tid("TID2013 part, picture alone", judge_all(model, alone["features"])[0], kinds, kinds != "clean")
    both = np.load(cache / "fr" / "tid.npz")
    columns = [list(both["names"]).index(name) for name in pair.names]
    chosen = np.isin(both["kind"], list(TID_CATEGORY)) & (both["level"] >= 3)
    report_tid("TID2013 part, with reference", judge_all(pair, both["features"][:, columns])[0], both["kind"], chosen)


if __name__ == "__main__":
    main()
