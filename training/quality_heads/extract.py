"""Statistics of everything the heads of the quality model are fitted on, made once into a cache outside the repository.

    python -m training.quality_heads.extract WHAT --cache DIR [--biq2021 DIR] [--bsds DIR --imagenet DIR] [--free DIR]

WHAT is one of
  rated      every photograph of BIQ2021 whole
  copies     one copy of each that people would judge alike: cut, resized, without colour, lightly re-encoded
  spoilt     ladders of camera-made damage on rated photographs
  synthetic  ladders and mixtures on clean views of BSDS500 and the ImageNet sample
  open       the rated crops of free photographs (`free_ratings.csv`), ladders and mixtures on more of their crops

`<what>.csv` says of each row how the picture was made; the array beside it holds the pooled statistics of trunk,
research tail and open tail. A stopped run leaves whole rows and may be used as it is.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from agenticiqa.embedded.trunk import load_backbone, load_tail
from agenticiqa.tools.synthetic.kinds import KINDS, LEVELS, mix
from training.biq2021 import Photograph, read_photographs
from training.clusters import find_clusters, folds_of, thumbnails
from training.labels import measure
from training.opinions import TID2013_KINDS
from training.pictures import Pixels, read_pixels, resize
from training.quality_heads.free import crop_of, list_free, read_ratings
from training.quality_heads.ladders import KINDS as CAMERA_KINDS
from training.quality_heads.ladders import rewrite, share_left, spoil
from training.sources import SIDE, Scene, list_scenes, view

Row = tuple[Any, ...]
WIDTH = 544 + 2 * 1024
FOLDS = 10
SEED = 6
SPOILT_PHOTOGRAPHS, SPOILT_HELD = 500, 90
IMAGENET_VIEWS = 400
# Kinds that known failures are made of are drawn more often.
WEIGHTS = {"dark": 2, "flat": 2, "enlarged": 2, "jpeg": 3, "motion": 1.5, "noise": 2, "cast": 1.5}
# TID2013's contrast changes go both ways.
USUAL_KINDS = [kind for kind in TID2013_KINDS if kind != "contrast"] + ["contrast_down", "contrast_up"]
COMMONEST = ("gaussian_blur", "jpeg", "white_noise")
COLUMNS = {
    "copies": ("row", "grey", "quality", "scale"),
    "spoilt": ("row", "fold", "kind", "level", "seed", "left"),
    "synthetic": (
        "photograph", "scaled_to", "top", "left", "split", "recipe", "seed", "group", "mdsi", "gmsd", "distance",
    ),
    "open": ("photograph", "number", "recipe", "seed", "group", "rating", "left", "mdsi", "gmsd", "distance"),
}  # fmt: skip


def extract_rated(biq2021: Path, cache: Path) -> None:
    """Statistics of every photograph at 512 × 512; rows already there are kept."""
    photographs, path = read_photographs(biq2021), cache / "rated_statistics.npy"
    if not path.exists():
        np.lib.format.open_memmap(path, "w+", np.float32, (len(photographs), WIDTH)).flush()
    rows = np.lib.format.open_memmap(path, "r+")
    for row, photograph in enumerate(photographs):
        if not rows[row].any():
            rows[row] = describe(read_square(biq2021, photograph))


def describe(pixels: Pixels) -> np.ndarray:
    """Statistics of trunk, research tail and open tail at exactly the size given."""
    maps, pooled = load_backbone().run(pixels)
    return np.concatenate([pooled, *(load_tail(terms).features(maps[-1]).pooled for terms in ("research", "open"))])


def read_square(biq2021: Path, photograph: Photograph) -> Pixels:
    """The photograph at 512 × 512; eleven of BIQ2021's are smaller than the rest."""
    pixels = read_pixels(biq2021 / "Images" / photograph.name)
    return pixels if pixels.shape[:2] == (512, 512) else resize(pixels, 512, 512)


def rated_folds(biq2021: Path, cache: Path) -> np.ndarray:
    """A fold for each training photograph, twins together; fold 0 is in no fit of the networks."""
    path = cache / "biq2021_clusters.npy"
    photographs = read_photographs(biq2021)
    if not path.exists():
        np.save(path, find_clusters(thumbnails([biq2021 / "Images" / p.name for p in photographs])))
    count = sum(p.split == "train" for p in photographs)
    return folds_of(np.load(path)[:count], FOLDS, SEED)


def make_copies(biq2021: Path) -> Iterator[tuple[Pixels, Row]]:
    """One copy of every training photograph that keeps its opinion, in random order."""
    photographs = [p for p in read_photographs(biq2021) if p.split == "train"]
    random = np.random.default_rng(61)
    for row in random.permutation(len(photographs)):
        pixels = read_square(biq2021, photographs[row])
        scale = float(random.choice([1, 1, random.uniform(0.63, 1)]))
        if scale < 1:
            side = max(SIDE, int(512 * scale))
            pixels = resize(pixels, side, side)
        pixels = cut(pixels, random)
        grey = bool(random.random() < 0.4)
        pixels = without_colour(pixels) if grey else pixels
        quality = int(random.choice(np.array([0, random.integers(72, 97)])))
        pixels = rewrite(pixels, quality) if quality else pixels
        mirrored = random.random() < 0.5
        yield np.ascontiguousarray(pixels[:, ::-1] if mirrored else pixels), (row, int(grey), quality, round(scale, 3))


def make_spoilt(biq2021: Path, folds: np.ndarray) -> Iterator[tuple[Pixels, Row]]:
    """Seventeen pictures of each photograph drawn: itself, three ladders, and itself rewritten as a fine file."""
    photographs = [p for p in read_photographs(biq2021) if p.split == "train"]
    random = np.random.default_rng(62)
    taught = random.permutation(np.nonzero(folds != 0)[0])[:SPOILT_PHOTOGRAPHS]
    held = random.permutation(np.nonzero(folds == 0)[0])[:SPOILT_HELD]
    names = list(CAMERA_KINDS)
    weights = np.array([WEIGHTS.get(name, 1) for name in names], float)
    for row in [*taught, *held]:
        first = cut(read_square(biq2021, photographs[row]), random)
        first = without_colour(first) if random.random() < 0.15 else first
        seed, last = int(random.integers(1 << 30)), int(random.choice(np.array([0, 0, random.integers(80, 97)])))
        yield first, (row, folds[row], "none", 0, seed, 1)
        for kind in map(str, random.choice(names, 3, replace=False, p=weights / weights.sum())):
            for level in LEVELS:
                pixels = spoil(first, kind, level, seed)
                is_file = kind in ("jpeg", "webp", "twice")
                pixels = rewrite(pixels, last) if last and not is_file else pixels
                yield pixels, (row, folds[row], kind, level, seed, share_left(kind, level))
        yield rewrite(first, int(random.integers(78, 93))), (row, folds[row], "rewritten", 0, seed, 0.99)


def make_synthetic(bsds: Path, imagenet: Path) -> Iterator[tuple[Pixels, Row]]:
    """Ladders mostly of the kinds viewers were asked about elsewhere, one mixture and the clean view of each scene."""
    random = np.random.default_rng(63)
    for group, scene in enumerate(_scenes(bsds, imagenet, random)):
        clean = view(scene)
        if clean is None or clean.shape != (SIDE, SIDE, 3):
            continue
        seed = int(random.integers(1 << 30))
        for parts in _recipes(scene, group, random):
            pixels = mix(clean, parts, seed)
            recipe = "+".join(f"{kind}:{level}" for kind, level in parts) or "clean"
            about = (scene.photograph, scene.scaled_to, *scene.offset, scene.split, recipe, seed, group)
            yield pixels, (*about, *(round(value, 6) for value in measure(clean, pixels)))


def _scenes(bsds: Path, imagenet: Path, random: np.random.Generator) -> list[Scene]:
    scenes = [s for s in list_scenes(bsds, imagenet, SEED) if s.terms == "research"]
    kept_apart = [s for s in scenes if s.split == "train" and Path(s.photograph).parent.name == "val"]
    clean = [s for s in scenes if s not in kept_apart and not s.scaled_to]
    others = [s for s in scenes if s.scaled_to and s.split == "train"]
    others = [others[i] for i in np.random.default_rng(5).permutation(len(others))][:IMAGENET_VIEWS]
    clean = [clean[i] for i in random.permutation(len(clean))]
    return [scene for pair in zip(clean, others, strict=False) for scene in pair] + clean[len(others) :]


def _recipes(scene: Scene, group: int, random: np.random.Generator) -> list[tuple[tuple[str, int], ...]]:
    rest = [kind for kind in KINDS if kind not in USUAL_KINDS]
    kinds = [str(kind) for kind in random.choice(USUAL_KINDS, 2 if scene.scaled_to else 4, replace=False)]
    kinds.append(str(random.choice(rest)))
    if scene.scaled_to:
        kinds = list(dict.fromkeys([COMMONEST[group % 3], *kinds]))
    ladders = [((kind, level),) for kind in kinds for level in LEVELS]
    first, second = map(str, random.choice(list(KINDS), 2, replace=False))
    levels = random.integers(1, 5, 2)
    return [(), *ladders, ((first, int(levels[0])), (second, int(levels[1])))]


def make_open(free: Path) -> Iterator[tuple[Pixels, Row]]:
    """The rated crops, then a round of further crops with two camera ladders, a synthetic one and four mixtures."""
    photographs = list_free(free)
    for rated in read_ratings():
        about = (rated.photograph, rated.number, rated.recipe, rated.seed)
        yield rated.pixels(photographs), (*about, -1, rated.rating, -1, 0, 0, 0)
    random, names, group = np.random.default_rng(71), list(CAMERA_KINDS), 0
    for number in random.permutation(len(photographs)):
        clean = crop_of(photographs[number], random)
        if clean.std() < 14:
            continue
        seed, last = int(random.integers(1 << 30)), int(random.integers(80, 97))
        view_of = (photographs[number].name, number)
        yield rewrite(clean, last), (*view_of, "clean", seed, group, -1, 1, 0, 0, 0)
        for kind in map(str, random.choice(names, 2, replace=False)):
            for level in LEVELS:
                pixels = rewrite(spoil(clean, kind, level, seed), last)
                yield (
                    pixels,
                    (
                        *view_of,
                        f"cam_{kind}:{level}",
                        seed,
                        group,
                        -1,
                        share_left(kind, level),
                        *measure(clean, pixels),
                    ),
                )
        kind = str(random.choice(USUAL_KINDS))
        for level in LEVELS:
            pixels = mix(clean, ((kind, level),), seed)
            yield pixels, (*view_of, f"{kind}:{level}", seed, group, -1, -1, *measure(clean, pixels))
        for _ in range(4):
            yield _mixture(clean, names, seed, last, random, view_of, group)
        group += 1


def _mixture(
    clean: Pixels, names: list[str], seed: int, last: int, random: np.random.Generator, about: Row, group: int
) -> tuple[Pixels, Row]:  # fmt: skip
    chosen = sorted(random.choice(len(names), int(random.integers(2, 4)), replace=False))
    parts = [(names[i], int(random.choice(LEVELS, p=[0.25, 0.3, 0.25, 0.15, 0.05]))) for i in chosen]
    pixels, left = clean, 1.0
    for kind, level in parts:
        pixels, left = spoil(pixels, kind, level, seed), left * share_left(kind, level)
    recipe = "+".join(f"cam_{kind}:{level}" for kind, level in parts)
    return rewrite(pixels, last), (*about, recipe, seed, group, -1, left, 0, 0, 0)


def cut(pixels: Pixels, random: np.random.Generator) -> Pixels:
    """A random square of the training size."""
    top, left = (int(random.integers(0, side - SIDE + 1)) for side in pixels.shape[:2])
    return np.ascontiguousarray(pixels[top : top + SIDE, left : left + SIDE])


def without_colour(pixels: Pixels) -> Pixels:
    """A black and white copy."""
    return np.repeat(np.asarray(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY), np.uint8)[..., None], 3, 2)


def write(name: str, columns: tuple[str, ...], pictures: Iterator[tuple[Pixels, Row]], cache: Path, limit: int) -> None:
    """Statistics of the pictures, row by row as they are made."""
    rows = np.lib.format.open_memmap(cache / f"{name}_statistics.npy", "w+", np.float32, (limit, WIDTH))
    with (cache / f"{name}.csv").open("w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream)
        table.writerow(columns)
        for row, (pixels, about) in zip(range(limit), pictures, strict=False):
            rows[row] = describe(pixels)
            table.writerow(about)


def main() -> None:
    """Extract one kind of material."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("rated", "copies", "spoilt", "synthetic", "open"))
    parser.add_argument("--cache", type=Path, required=True)
    for source in ("biq2021", "bsds", "imagenet", "free"):
        parser.add_argument(f"--{source}", type=Path, default=Path("none"))
    parser.add_argument("--limit", type=int, default=12_000, help="how many pictures at most")
    given = parser.parse_args()
    cv2.setNumThreads(1)
    if given.what == "rated":
        extract_rated(given.biq2021, given.cache)
        return
    makers: dict[str, Callable[[], Iterator[tuple[Pixels, Row]]]] = {
        "copies": lambda: make_copies(given.biq2021),
        "spoilt": lambda: make_spoilt(given.biq2021, rated_folds(given.biq2021, given.cache)),
        "synthetic": lambda: make_synthetic(given.bsds, given.imagenet),
        "open": lambda: make_open(given.free),
    }
    write(given.what, COLUMNS[given.what], makers[given.what](), given.cache, given.limit)


if __name__ == "__main__":
    main()
