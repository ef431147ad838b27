"""Features of the pictures the distortion model is fitted and tested on, written to the cache.

`train` and `held` make clean views, single damage, mixtures and hard negatives from the photographs of that
split; `ladders` and `ladders_held` add traces to the pictures of the synthetic set; `tid` measures TID2013's
part, for testing only.
All of them save as they go and can be stopped at any time.
"""

from __future__ import annotations

import argparse
import csv
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from agenticiqa.embedded.distortions.feature_vector import measure_traces
from agenticiqa.embedded.trunk import Backbone, load_backbone, to_working_size
from agenticiqa.tools.synthetic.kinds import KINDS, mix
from training.detect_negatives import MAKERS, is_kept_for_testing, subject_of
from training.pictures import Pixels, read_pixels
from training.sources import SIDE, Scene, list_free_scenes, list_scenes, view

SAVE_EVERY = 500
TID_TYPES = (1, 2, 5, 6, 8, 10, 11, 16, 17, 18, 19, 22)
# How many of each a photograph of the split gives, on average; the synthetic set has more damage of every kind.
SHARES = {
    "train": {"clean": 0.8, "single": 4.0, "mixture": 1.5, "hard": 0.7},
    "held": {"clean": 0.4, "single": 0.0, "mixture": 0.0, "hard": 0.75},
}
OPEN_TIMES = 4


@dataclass(frozen=True)
class Sample:
    """One picture: its photograph and terms, the recipe of its damage, and the name of its kind if it is hard."""

    photograph: str
    terms: str
    recipe: str
    hard: str
    pixels: Pixels


def gather_scenes(bsds: Path, imagenet: Path, free: Path | None) -> list[Scene]:
    """The views of the usual photographs, or of the further free ones where their folder is given."""
    return list_free_scenes(free, 6) if free else list_scenes(bsds, imagenet, 6)


def list_samples(scenes: list[Scene], split: str, seed: int) -> Iterator[Sample]:
    """The pictures of a split in random order of photographs."""
    random = np.random.default_rng((seed, split == "held"))
    for index in random.permutation(len(scenes)):
        scene = scenes[int(index)]
        kept = is_kept_for_testing(scene.photograph)
        if (scene.split == "held" or kept) != (split == "held"):
            continue
        times = OPEN_TIMES if scene.terms == "open" and split == "train" else 1
        for what, share in SHARES[split].items():
            for _ in range(int(times * share + random.random())):
                sample = _sample(scene, what, random)
                if sample is not None and (not kept or what in ("clean", "hard")):
                    yield sample


def _sample(scene: Scene, what: str, random: np.random.Generator) -> Sample | None:
    """One picture from a fresh view; a hard subject is hard as it is."""
    moved = replace(scene, offset=(float(random.random()), float(random.random())))
    if scene.scaled_to and random.random() < 0.5:
        moved = replace(moved, scaled_to=int(random.integers(SIDE, 480)))
    clean = view(moved)
    if clean is None or clean.shape != (SIDE, SIDE, 3):
        return None
    subject = subject_of(scene.photograph)
    if subject and what in ("clean", "hard"):
        return Sample(scene.photograph, scene.terms, "clean", f"photograph: {subject}", clean)
    if what == "hard":
        name = str(random.choice(list(MAKERS)))
        return Sample(scene.photograph, scene.terms, "clean", name, MAKERS[name](clean, random))
    parts = {"clean": [], "single": draw_parts(1, random), "mixture": draw_parts(int(random.integers(2, 4)), random)}[
        what
    ]
    recipe = "+".join(f"{kind}:{level}" for kind, level in parts) or "clean"
    return Sample(scene.photograph, scene.terms, recipe, "", mix(clean, parts, int(random.integers(1 << 30))))


def draw_parts(count: int, random: np.random.Generator) -> list[tuple[str, int]]:
    """Kinds of different categories with their levels; categories are equally likely."""
    categories = sorted({kind.category for kind in KINDS.values()})
    chosen = random.choice(categories, count, replace=False)
    kinds = [str(random.choice([k.name for k in KINDS.values() if k.category == category])) for category in chosen]
    return [(kind, int(random.integers(1, 6))) for kind in kinds]


def extract_samples(samples: Iterator[Sample], target: Path) -> None:
    """Features and recipes of a split's own pictures."""
    backbone, rows, notes = load_backbone(), [], []
    for number, sample in enumerate(samples, start=1):
        rows.append(look(sample.pixels, backbone))
        notes.append((sample.photograph, sample.terms, sample.recipe, sample.hard))
        if number % SAVE_EVERY == 0:
            save(target, rows, notes)
    save(target, rows, notes)


def extract_ladders(cache: Path, name: str, split: str, target: Path, seed: int, limit: int) -> None:
    """Traces of the synthetic set's pictures of a split, joined to the features already cached."""
    pooled, half = (np.load(cache / f"{name}_{part}.npy", mmap_mode="r") for part in ("pooled", "pooled_half"))
    with (cache / f"{name}.csv").open() as stream:
        table = [row for row in csv.DictReader(stream) if row.get("distance")]
    wanted = [n for n, row in enumerate(table) if row["split"] == split and not is_kept_for_testing(row["photograph"])]
    rows, notes = [], []
    for number, index in enumerate(np.random.default_rng(seed).permutation(wanted)[:limit], start=1):
        row = table[index]
        scene = Scene(row["photograph"], int(row["scaled_to"]), (float(row["top"]), float(row["left"])), "research", "")
        clean = view(scene)
        if clean is None:
            continue
        traces = _traces(mix(clean, read_recipe(row["recipe"]), int(row["seed"])))
        rows.append(
            np.concatenate([pooled[index, :544], half[index, :544], np.array(list(traces.values()))]).astype(np.float32)
        )
        notes.append((row["photograph"], row["terms"], row["recipe"], ""))
        if number % SAVE_EVERY == 0:
            save(target, rows, notes)
    save(target, rows, notes)


def extract_tid(folder: Path, target: Path) -> None:
    """TID2013's part: the tested types at levels 3 to 5, and the references."""
    backbone, rows, notes = load_backbone(), [], []
    with (folder / "scores.csv").open() as stream:
        for row in csv.DictReader(stream):
            if int(row["distortion_type"]) in TID_TYPES and int(row["level"]) >= 3:
                rows.append(look(read_pixels(folder / "distorted" / row["distorted"]), backbone))
                notes.append((row["reference"], "research", f"tid{int(row['distortion_type']):02d}:{row['level']}", ""))
    for path in sorted((folder / "reference").iterdir()):
        rows.append(look(read_pixels(path), backbone))
        notes.append((path.name, "research", "clean", ""))
    save(target, rows, notes)


def look(pixels: Pixels, backbone: Backbone) -> npt.NDArray[np.float32]:
    """What the model is shown of one picture."""
    features = backbone.features(pixels)
    traces = np.array(list(_traces(pixels).values()))
    return np.concatenate([features.pooled, features.pooled_half, traces]).astype(np.float32)


def _traces(pixels: Pixels) -> Mapping[str, float]:
    return measure_traces(pixels, to_working_size(pixels)[0])


def read_recipe(recipe: str) -> list[tuple[str, int]]:
    """The (kind, level) pairs of a recipe."""
    if recipe == "clean":
        return []
    return [(kind, int(level)) for kind, level in (part.split(":") for part in recipe.split("+"))]


def save(target: Path, rows: list[npt.NDArray[np.float32]], notes: list[tuple[str, str, str, str]]) -> None:
    """One archive of plain arrays, replaced whole."""
    part = target.with_suffix(".part.npz")
    photograph, terms, recipe, hard = (np.array(column) for column in zip(*notes, strict=True))
    np.savez(part, features=np.array(rows), photograph=photograph, terms=terms, recipe=recipe, hard=hard)
    part.replace(target)
    print(target.name, len(rows), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["train", "held", "ladders", "ladders_held", "tid"])
    parser.add_argument("--bsds", type=Path)
    parser.add_argument("--imagenet", type=Path)
    parser.add_argument("--free", type=Path, help="the further free photographs, instead of the others")
    parser.add_argument("--tid2013", type=Path)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--name", default="synthetic", help="the synthetic set to add traces to")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--limit", type=int, default=100_000, help="how many pictures at most")
    given = parser.parse_args()
    cv2.setNumThreads(1)
    destination = given.cache / f"detect_{given.what}_{given.seed}.npz"
    if given.what == "tid":
        extract_tid(given.tid2013, destination)
    elif given.what.startswith("ladders"):
        split = "held" if given.what == "ladders_held" else "train"
        extract_ladders(given.cache, given.name, split, destination, given.seed, given.limit)
    else:
        samples = list_samples(gather_scenes(given.bsds, given.imagenet, given.free), given.what, given.seed)
        extract_samples(itertools.islice(samples, given.limit), destination)
