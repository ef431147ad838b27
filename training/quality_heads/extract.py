"""Statistics and stage-five maps of every rated picture, at the one working size, into a cache outside the repository.

    python -m training.quality_heads.extract --data DATA --cache CACHE [--part 0 --parts 1]

A part appends to three files: `index<part>.csv` says which picture each row is and where its map lies,
`stats<part>.f32` holds the pooled statistics of trunk, research tail and open tail, `maps<part>.f16` the maps after
stage five. Pictures come in an order in which any beginning is a fair sample of every source: fold 0 of BIQ2021 first,
sources side by side. A stopped run goes on where it stopped.
"""

from __future__ import annotations

import argparse
import csv
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from agenticiqa.embedded.trunk import WORKING_PIXELS, load_backbone, load_tail, resize
from agenticiqa.images import load_image
from training.rated_maps import fold_of
from training.rated_sources import SOURCES, RatedPicture, Values

Floats = npt.NDArray[np.float32]
WIDTH = 544 + 2 * 1024
SEED = 7


@dataclass(frozen=True)
class Statistics:
    """One source as far as it is extracted: statistics, opinions, folds, and what its pictures are called."""

    rows: Floats
    opinions: Values
    folds: npt.NDArray[np.intp]
    names: npt.NDArray[np.str_]


def extract(data: Path, cache: Path, part: int, parts: int) -> None:
    """Describe every picture of this part that is not there yet."""
    cache.mkdir(parents=True, exist_ok=True)
    known = {(source, int(row)) for path in cache.glob("index*.csv") for source, row, *_ in _read(path)}
    backbone, tails = load_backbone(), [load_tail("research"), load_tail("open")]
    names = (f"index{part}.csv", f"stats{part}.f32", f"maps{part}.f16")
    with (
        (cache / names[0]).open("a", newline="") as index,
        (cache / names[1]).open("ab") as stats,
        (cache / names[2]).open("ab") as maps,
    ):
        for source, row, picture in _order(data, cache.parent)[part::parts]:
            if (source, row) in known:
                continue
            pixels = load_image(str(picture.path)).pixels
            scale = np.sqrt(WORKING_PIXELS / (pixels.shape[0] * pixels.shape[1]))
            stages, pooled = backbone.run(resize(pixels, scale))
            seen = np.concatenate([pooled, *(tail.features(stages[-1]).pooled for tail in tails)])
            places = stats.tell(), maps.tell()
            stats.write(seen.astype(np.float32).tobytes())
            maps.write(stages[-1].astype(np.float16).tobytes())
            csv.writer(index).writerow([source, row, *places, *stages[-1].shape[1:], *pixels.shape[:2]])
            for file in (stats, maps, index):
                file.flush()


def _read(path: Path) -> list[list[str]]:
    with path.open(newline="") as lines:
        return list(csv.reader(lines))


def _order(data: Path, cache: Path) -> list[tuple[str, int, RatedPicture]]:
    """All pictures, the sources side by side."""
    placed: list[tuple[float, str, int, RatedPicture]] = []
    for name, read in SOURCES.items():
        pictures = read(data)
        order = np.random.default_rng(SEED).permutation(len(pictures))
        if name == "biq2021":
            order = order[np.argsort(fold_of(name, data, cache, pictures)[order] != 0, kind="stable")]
        placed += [((place + 0.5) / len(order), name, int(row), pictures[row]) for place, row in enumerate(order)]
    return [entry[1:] for entry in sorted(placed, key=lambda entry: entry[:2])]


def load_statistics(data: Path, cache: Path) -> dict[str, Statistics]:
    """Every source as far as it is in the cache."""
    found = {}
    entries = [(row, path) for path in sorted(cache.glob("index*.csv")) for row in _read(path)]
    stats = {path.name: np.fromfile(path, np.float32).reshape(-1, WIDTH) for path in cache.glob("stats*.f32")}
    for name, read in SOURCES.items():
        pictures = read(data)
        own = [(int(row[1]), int(row[2]) // (4 * WIDTH), path) for row, path in entries if row[0] == name]
        rows = np.array([row for row, _, _ in own], np.intp)
        seen = np.array([stats[f"stats{path.stem.removeprefix('index')}.f32"][place] for _, place, path in own])
        opinions = np.array([picture.opinion for picture in pictures])[rows]
        names = np.array([pictures[row].content if name == "pcuid" else pictures[row].path.name for row in rows])
        found[name] = Statistics(seen, opinions, fold_of(name, data, cache.parent, pictures)[rows], names)
    return found


def main() -> None:
    """Extract one part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--part", type=int, default=0)
    parser.add_argument("--parts", type=int, default=1)
    given = parser.parse_args()
    cv2.setNumThreads(1)
    extract(given.data, given.cache, given.part, given.parts)


if __name__ == "__main__":
    main()
