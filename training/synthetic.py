"""The synthetic set: clean views, ladders of one kind of damage, and mixtures, with their labels' raw measures.

Written to the cache: `<terms>.csv` (view, kind, level, seed and measures: enough to make every
picture again) and one row of features and of grain per picture, in the same order. The validation
photographs of BSDS500 go to `research_apart`: networks and kernels never see them, so that the last
correction of the score can be fitted on what they make of new photographs.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from agenticiqa.tools.synthetic.kinds import KINDS, LEVELS, mix
from training.labels import measure
from training.pictures import Pixels, halve
from training.sources import SIDE, Scene, list_free_scenes, list_scenes, view
from training.trunk import StartNetwork, open_start_network

COLUMNS = ("photograph", "scaled_to", "top", "left", "terms", "split", "recipe", "seed", "mdsi", "gmsd", "distance")
LADDERS = {"research": 2, "open": 4}
# The ImageNet sample, the photographs kept apart and the further free ones get these, so that the finest steps are
# learned on many subjects.
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
        drawn = [str(kind) for kind in random.choice(names, LADDERS[scene.terms], replace=False)]
        for kind in _kinds(scene, drawn):
            pictures += [Picture(scene, ((kind, level),), grain) for level in LEVELS]
        yield [*pictures, _mixture(scene, random, grain)]


def list_free_pictures(scenes: list[Scene], seed: int) -> Iterator[list[Picture]]:
    """For each further free view: itself, ladders of one of the commonest kinds and of two others, two mixtures."""
    random = np.random.default_rng(seed)
    for number, scene in enumerate(scenes):
        grain = int(random.integers(1 << 30))
        common = COMMONEST[number % len(COMMONEST)]
        others = random.choice([kind for kind in KINDS if kind != common], 2, replace=False)
        ladders = [Picture(scene, ((str(kind), level),), grain) for kind in (common, *others) for level in LEVELS]
        yield [Picture(scene, (), grain), *ladders, *(_mixture(scene, random, grain) for _ in range(2))]


def is_apart(scene: Scene) -> bool:
    """Whether networks and kernels must not see this photograph although it is not held out."""
    return scene.terms == "research" and scene.split == "train" and Path(scene.photograph).parent.name == "val"


def _kinds(scene: Scene, drawn: list[str]) -> list[str]:
    if is_apart(scene):
        return list(dict.fromkeys([*COMMONEST, *drawn]))
    return drawn if scene.terms == "open" or scene.scaled_to == 0 else list(COMMONEST)


def _mixture(scene: Scene, random: np.random.Generator, grain: int) -> Picture:
    first, second = random.choice(list(KINDS), 2, replace=False)
    levels = random.integers(1, 5, 2)
    return Picture(scene, ((str(first), int(levels[0])), (str(second), int(levels[1]))), grain)


def extract(name: str, groups: list[list[Picture]], cache: Path) -> None:
    """Write the list and the features of every picture in the groups."""
    count = sum(map(len, groups))
    network, row = open_start_network(cache), 0
    arrays = {
        "pooled": np.lib.format.open_memmap(cache / f"{name}_pooled.npy", "w+", np.float32, (count, 1568)),
        "stage5": np.lib.format.open_memmap(cache / f"{name}_stage5.npy", "w+", np.float16, (count, 112, 20, 20)),
    }
    if name in LADDERS:
        # Only the detectors look at the half size.
        half = np.lib.format.open_memmap(cache / f"{name}_pooled_half.npy", "w+", np.float32, (count, 1568))
        arrays["pooled_half"] = half
    with (cache / f"{name}.csv").open("w", newline="") as stream:
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
    if "pooled_half" in arrays:
        arrays["pooled_half"][row] = network.run(halve(pixels))[-1]


def _describe(picture: Picture, measures: tuple[float, float, float]) -> list[object]:
    scene = picture.scene
    recipe = "+".join(f"{kind}:{level}" for kind, level in picture.parts) or "clean"
    numbers = [f"{value:.6f}" for value in measures]
    return [scene.photograph, scene.scaled_to, *scene.offset, scene.terms, scene.split, recipe, picture.seed, *numbers]


def _groups(name: str, bsds: Path, imagenet: Path, free: Path, seed: int) -> list[list[Picture]]:
    if name == "open_more":
        return list(list_free_pictures(list_free_scenes(free, seed), seed))
    listed = list(list_pictures(list_scenes(bsds, imagenet, seed), seed))
    terms, apart = name.removesuffix("_apart"), name.endswith("_apart")
    return [g for g in listed if g[0].scene.terms == terms and is_apart(g[0].scene) == apart]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bsds", type=Path, default=Path("none"))
    parser.add_argument("--imagenet", type=Path, default=Path("none"))
    parser.add_argument("--free", type=Path, default=Path("none"))
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--name", choices=("research", "research_apart", "open", "open_more"), required=True)
    parser.add_argument("--seed", type=int, default=6)
    given = parser.parse_args()
    extract(given.name, _groups(given.name, given.bsds, given.imagenet, given.free, given.seed), given.cache)
