"""How well both models together find made damage and leave hard negatives alone, from kept features.

    python -m benchmarks.detection_joined --cache DIR [--terms research] [--parts made_held_31 made_held_33] [--tid tid]

DIR holds what `training.detect_pictures camera|hard --split held` wrote, and TID2013's part measured the same way. Both
models are asked and joined as the product does; the rules on measurements are left out. Nothing of it was trained on.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agenticiqa.embedded.distortions.distortion_detector import join_opinions
from agenticiqa.embedded.distortions.distortion_model import load_distortion_model
from agenticiqa.embedded.distortions.flaw_categories import CATEGORY_OF, ByFlaw, by_category
from agenticiqa.embedded.distortions.light_features import light_traces
from agenticiqa.embedded.distortions.photograph_model import load_photograph_model
from agenticiqa.embedded.distortions.tile_features import cut_tiles, tile_traces
from agenticiqa.state import DISTORTION_CATEGORIES
from agenticiqa.tools.synthetic.kinds import KINDS
from agenticiqa.weights import WeightSet
from benchmarks.detection import TID_CATEGORY, VISIBLE, average_precision, report_tid
from training.detect_extract import read_recipe
from training.detect_photographs import NETWORK, kind_losses, read_part

Floats = npt.NDArray[np.float64]
Part = dict[str, npt.NDArray[Any]]
MODERATE = 1.5


@dataclass(frozen=True)
class Judged:
    """Probability and strength of every category, a row per picture; `alone` is the model of made damage by itself."""

    probability: Floats
    strength: Floats
    alone: Floats


def judge(part: Part, terms: WeightSet) -> Judged:
    """What is found in every picture of a file."""
    photographs, damage = load_photograph_model(f"flaws_{terms}"), load_distortion_model(f"distortions_{terms}")
    blank = np.zeros((64, 64, 3), np.uint8)
    names = tuple(light_traces(blank) | tile_traces(cut_tiles(blank)))
    found, alone = [], []
    for n in range(len(part["traces"])):
        network = [part[name][n] for name in NETWORK]
        flaws = photographs.judge(np.concatenate([*network, part["traces"][n], part["seen"][n]]).astype(np.float32))
        made = damage.judge(np.concatenate([*network[:2], part["traces"][n]]).astype(np.float32))
        seen = dict(zip(names, map(float, part["seen"][n]), strict=True))
        estimates = join_opinions(flaws, made, seen, {}, flaws.gate)
        found.append([(_likeliest(each.category, estimates), each.strength) for each in by_category(estimates)])
        alone.append(made.presence)
    values = np.array(found, np.float64)
    return Judged(values[:, :, 0], values[:, :, 1], np.array(alone, np.float64))


def _likeliest(category: str, estimates: ByFlaw) -> float:
    """The probability of a category before it is settled: precision is about its order alone."""
    return max(each.probability for flaw, each in estimates.items() if CATEGORY_OF[flaw] == category)


def mean_precision(probability: Floats, recipes: npt.NDArray[np.str_]) -> tuple[float, list[float]]:
    """The mean over categories, and each; damage nobody sees counts neither way."""
    parts = [read_recipe(str(recipe)) for recipe in recipes]
    losses = kind_losses()
    found = []
    for c, category in enumerate(DISTORTION_CATEGORIES):
        own = [[losses[kind][level - 1] for kind, level in part if KINDS[kind].category == category] for part in parts]
        loss = np.array([max(each, default=0.0) for each in own])
        told = np.array([not each for each in own]) | (loss >= VISIBLE)
        found.append(average_precision(probability[told, c], loss[told] >= VISIBLE))
    return float(np.mean(found)), found


def report_made(parts: list[tuple[Part, Judged]]) -> None:
    """Precision on damaged and clean views, and false alarms on clean and hard ones."""
    world, recipe, hard = (np.concatenate([part[name] for part, _ in parts]) for name in ("world", "recipe", "hard"))
    probability, strength, alone = (
        np.concatenate([getattr(judged, name) for _, judged in parts]) for name in ("probability", "strength", "alone")
    )
    # A file of hard negatives has clean views of its own, which would change the share of damage.
    first = np.arange(len(world)) < len(parts[0][0]["world"])
    kinds = (world == "kinds") & first
    for name, values in (("joined", probability), ("made damage alone", alone)):
        mean, each = mean_precision(values[kinds], recipe[kinds])
        print(f"held out, {name}: {int(kinds.sum())} pictures, mAP {mean:.3f} " + _by_category(np.array(each)))
    for name, chosen in (("hard negatives", hard != ""), ("clean views", (world == "kinds") & (recipe == "clean"))):
        alarms = strength[chosen] >= MODERATE
        print(f"false alarms, {int(chosen.sum())} {name}: {int(alarms.any(axis=1).sum())} pictures, ", end="")
        print(_by_category(alarms.mean(axis=0)))


def _by_category(values: Floats) -> str:
    return ", ".join(f"{name} {value:.3f}" for name, value in zip(DISTORTION_CATEGORIES, values, strict=True))


def main() -> None:
    """All figures, printed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--tail", type=Path, default=Path("src/agenticiqa/weights/tail_research.onnx"))
    parser.add_argument("--terms", choices=("research", "open"), default="research")
    parser.add_argument("--parts", nargs="+", default=["made_held_31", "made_held_33"])
    parser.add_argument("--tid", help="the file of TID2013's part; not looked at unless named")
    given = parser.parse_args()
    parts = [read_part(given.cache, name, given.tail) for name in given.parts]
    report_made([(part, judge(part, given.terms)) for part in parts])
    if given.tid:
        part = read_part(given.cache, given.tid, given.tail)
        judged = judge(part, given.terms)
        kinds = np.array([str(recipe).partition(":")[0] for recipe in part["recipe"]])
        chosen = np.isin(kinds, list(TID_CATEGORY))
        for name, values in (("joined", judged.probability), ("made damage alone", judged.alone)):
            report_tid(f"TID2013 part, {name}", values, kinds, chosen)


if __name__ == "__main__":
    main()
