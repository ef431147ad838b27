"""Pair features for telling damage apart with the original at hand: plain statistics of the difference.

Their names are stored with the fitted model and looked up in what the full-reference judgement measures anyway.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np

from agenticiqa.embedded.full_reference.difference_statistics import grid_statistics, residual_statistics
from agenticiqa.embedded.full_reference.visible_error import visible_error
from agenticiqa.tools.metrics.planes import opponent_planes
from agenticiqa.tools.synthetic.kinds import mix
from training.detect_extract import OPEN_TIMES, SAVE_EVERY, draw_parts, gather_scenes
from training.pictures import Pixels
from training.sources import SIDE, Scene, view

PER_SCENE = {"train": 4, "held": 4}
# How often a pair shows no damage, one kind, two and three; mixtures are what is hard, so training has more of them.
COUNTS = {"train": (0.04, 0.36, 0.36, 0.24), "held": (0.06, 0.66, 0.2, 0.08)}


def measure_difference(test: Pixels, reference: Pixels) -> dict[str, float]:
    """The part of the pair's measurements that needs neither networks nor metrics."""
    return (
        residual_statistics(test, reference)
        | grid_statistics(test, reference)
        | visible_error(opponent_planes(test), opponent_planes(reference))
    )


def list_pairs(scenes: list[Scene], split: str, seed: int) -> Iterator[tuple[Scene, str, Pixels, Pixels]]:
    """Scene, recipe, damaged and clean view: up to three kinds of damage, seldom none."""
    random = np.random.default_rng((seed, split == "held"))
    chosen = [scene for scene in scenes if scene.split == split]
    for scene in itertools.chain.from_iterable(_views(chosen[n], random) for n in random.permutation(len(chosen))):
        clean = view(scene)
        if clean is None or clean.shape != (SIDE, SIDE, 3):
            continue
        for _ in range(PER_SCENE[split]):
            parts = draw_parts(int(random.choice((0, 1, 2, 3), p=COUNTS[split])), random)
            recipe = "+".join(f"{kind}:{level}" for kind, level in parts) or "clean"
            yield scene, recipe, mix(clean, parts, int(random.integers(1 << 30))), clean


def _views(scene: Scene, random: np.random.Generator) -> list[Scene]:
    """The scene, and for training more views of a free photograph: there are few, and they are large."""
    if scene.split == "held" or scene.terms != "open":
        return [scene]
    return [replace(scene, offset=(float(random.random()), float(random.random()))) for _ in range(OPEN_TIMES)]


def extract(pairs: Iterator[tuple[Scene, str, Pixels, Pixels]], target: Path) -> None:
    """Measure the pairs, saving as it goes."""
    rows, notes, names = [], [], []
    for number, (scene, recipe, damaged, clean) in enumerate(pairs, start=1):
        found = measure_difference(damaged, clean)
        names = list(found)
        rows.append(list(found.values()))
        notes.append((scene.photograph, scene.terms, recipe))
        if number % SAVE_EVERY == 0:
            _save(target, rows, notes, names)
    _save(target, rows, notes, names)


def borrow_ladders(files: list[Path], target: Path) -> None:
    """The ladders that were measured for the full-reference judgement, in the columns used here."""
    parts = [np.load(path) for path in files]
    blank = np.zeros((SIDE, SIDE, 3), np.uint8)
    names = list(measure_difference(blank, blank))
    columns = [list(parts[0]["names"]).index(name) for name in names]
    rows = [[float(value) for value in row[columns]] for part in parts for row in part["features"]]
    labels = [zip(part["group"], part["kind"], part["level"], strict=True) for part in parts]
    notes = [(str(group), "open", f"{kind}:{level}") for part in labels for group, kind, level in part]
    _save(target, rows, notes, names)


def _save(target: Path, rows: list[list[float]], notes: list[tuple[str, str, str]], names: list[str]) -> None:
    part = target.with_suffix(".part.npz")
    photograph, terms, recipe = (np.array(column) for column in zip(*notes, strict=True))
    features = np.array(rows, np.float32)
    hard = np.full(len(rows), "")
    np.savez(
        part, features=features, photograph=photograph, terms=terms, recipe=recipe, hard=hard, names=np.array(names)
    )
    part.replace(target)
    print(target.name, len(rows), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["train", "held", "ladders"])
    parser.add_argument("--bsds", type=Path)
    parser.add_argument("--imagenet", type=Path)
    parser.add_argument("--free", type=Path, help="the further free photographs, instead of the others")
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--limit", type=int, default=100_000, help="how many pairs at most")
    given = parser.parse_args()
    cv2.setNumThreads(1)
    destination = given.cache / f"detect_pairs_{given.what}_{given.seed}.npz"
    if given.what == "ladders":
        borrow_ladders(sorted((given.cache / "fr").glob("open*.npz")), destination)
        raise SystemExit
    found = list_pairs(gather_scenes(given.bsds, given.imagenet, given.free), given.what, given.seed)
    extract(itertools.islice(found, given.limit), destination)
