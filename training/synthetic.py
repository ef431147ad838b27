"""The synthetic set: clean views, ladders of one kind of damage, and mixtures, with their labels' raw measures.

Written to the cache: `<terms>.csv` (view, kind, level, seed and measures: enough to make every
picture again) and one feature row per picture, in the same order.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from agenticiqa.tools.distort import KINDS, LEVELS, mix
from training.labels import measure
from training.pictures import Pixels, halve
from training.sources import SIDE, Scene, list_scenes, view
from training.trunk import StartNetwork, open_start_network

COLUMNS = ("photograph", "scaled_to", "top", "left", "terms", "split", "recipe", "seed", "mdsi", "gmsd", "distance")
LADDERS = {"research": 2, "open": 4}
# Every photograph of the ImageNet sample gets these three, so that the finest steps are learned on many subjects.
COMMONEST = ("gaussian_blur", "jpeg", "white_noise")


@dataclass(frozen=True)
class Picture:
    """One damaged view: the (kind, level) parts applied in turn, none for a clean one."""

    scene: Scene
    parts: tuple[tuple[str, int], ...]
    seed: int


def list_pictures(scenes: list[Scene], seed: int) -> Iterator[list[Picture]]:
    """For each view: itself, full ladders of some kinds, one mixture."""
    random = np.random.default_rng(seed)
    names = list(KINDS)
    for scene in scenes:
        grain = int(random.integers(1 << 30))
        pictures = [Picture(scene, (), grain)]
        drawn = random.choice(names, LADDERS[scene.terms], replace=False)
        for kind in drawn if scene.terms == "open" or scene.scaled_to == 0 else COMMONEST:
            pictures += [Picture(scene, ((str(kind), level),), grain) for level in LEVELS]
        first, second = random.choice(names, 2, replace=False)
        levels = random.integers(1, 5, 2)
        pictures.append(Picture(scene, ((str(first), int(levels[0])), (str(second), int(levels[1]))), grain))
        yield pictures


def extract(bsds: Path, imagenet: Path, cache: Path, terms: str, seed: int) -> None:
    """Write the list and the features of every picture made under the given terms."""
    scenes = list_scenes(bsds, imagenet, seed)
    groups = [g for g in list_pictures(scenes, seed) if g[0].scene.terms == terms]
    count = sum(map(len, groups))
    network, row = open_start_network(cache), 0
    arrays = {
        "pooled": np.lib.format.open_memmap(cache / f"{terms}_pooled.npy", "w+", np.float32, (count, 1568)),
        "pooled_half": np.lib.format.open_memmap(cache / f"{terms}_pooled_half.npy", "w+", np.float32, (count, 1568)),
        "stage5": np.lib.format.open_memmap(cache / f"{terms}_stage5.npy", "w+", np.float16, (count, 112, 20, 20)),
    }
    with (cache / f"{terms}.csv").open("w", newline="") as stream:
        table = csv.writer(stream)
        table.writerow(COLUMNS)
        for pictures in groups:
            clean = view(pictures[0].scene)
            if clean is None or clean.shape != (SIDE, SIDE, 3):
                continue
            for picture in pictures:
                damaged = mix(clean, picture.parts, picture.seed)
                _keep(arrays, row, network, damaged)
                table.writerow(_describe(picture, measure(clean, damaged)))
                row += 1
            stream.flush()


def _keep(arrays: dict[str, np.memmap], row: int, network: StartNetwork, pixels: Pixels) -> None:
    whole = network.run(pixels)
    arrays["pooled"][row], arrays["stage5"][row] = whole[-1], whole[4]
    arrays["pooled_half"][row] = network.run(halve(pixels))[-1]


def _describe(picture: Picture, measures: tuple[float, float, float]) -> list[object]:
    scene = picture.scene
    recipe = "+".join(f"{kind}:{level}" for kind, level in picture.parts) or "clean"
    numbers = [f"{value:.6f}" for value in measures]
    return [scene.photograph, scene.scaled_to, *scene.offset, scene.terms, scene.split, recipe, picture.seed, *numbers]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bsds", type=Path, required=True)
    parser.add_argument("--imagenet", type=Path, required=True)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--terms", choices=("research", "open"), required=True)
    parser.add_argument("--seed", type=int, default=6)
    given = parser.parse_args()
    extract(given.bsds, given.imagenet, given.cache, given.terms, given.seed)
