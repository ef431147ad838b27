"""Pair features of TID2013's part and of synthetic pairs, written to the cache for the full-reference fits.

`tid` measures every pair of the part; `synthetic` makes ladders of damage on clean photographs, round
after round over all kinds, and saves after each round, so that it can be stopped at any time.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from agenticiqa.backbone.features import load_backbone
from agenticiqa.perception.full_reference_features import PairFeatures, measure_pair
from agenticiqa.tools.distort import KINDS, LEVELS, distort
from training.pictures import read_pixels, resize
from training.sources import Scene, list_scenes

Pixels = npt.NDArray[np.uint8]
HEIGHT, WIDTH = 320, 480


def extract_tid(folder: Path, target: Path) -> None:
    """Features, metrics and opinions of every pair of TID2013's part."""
    backbone = load_backbone()
    with (folder / "scores.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    references = {name: read_pixels(folder / "reference" / name) for name in {row["reference"] for row in rows}}
    found = [
        measure_pair(read_pixels(folder / "distorted" / row["distorted"]), references[row["reference"]], backbone)
        for row in rows
    ]
    save(
        target,
        found,
        group=[row["reference"] for row in rows],
        kind=[f"tid{int(row['distortion_type']):02d}" for row in rows],
        level=[int(row["level"]) for row in rows],
        mos=[float(row["mos"]) for row in rows],
        mos_std=[float(row["mos_std"]) for row in rows],
    )


def extract_synthetic(scenes: list[Scene], target: Path, rounds: int, seed: int) -> None:
    """Features of full ladders of every kind, one view each, saved after every round."""
    backbone = load_backbone()
    found: list[PairFeatures] = []
    group: list[str] = []
    kind_of: list[str] = []
    level_of: list[int] = []
    for scene, kind, number in ladders(scenes, rounds, seed):
        clean = wide_view(scene, number)
        if clean is not None:
            for level in LEVELS:
                found.append(measure_pair(distort(clean, kind, level, number), clean, backbone))
                group.append(scene.photograph)
                kind_of.append(kind)
                level_of.append(level)
        if number % len(KINDS) == len(KINDS) - 1:
            save(target, found, group=group, kind=kind_of, level=level_of)
            print(target.name, len(found), flush=True)


def ladders(scenes: list[Scene], rounds: int, seed: int) -> Iterator[tuple[Scene, str, int]]:
    """Scene, kind and running number: every kind once per round, the scenes dealt out in random order."""
    random = np.random.default_rng(seed)
    number = 0
    deck: list[int] = []
    for _ in range(rounds):
        for kind in random.permutation(list(KINDS)):
            deck = deck or list(map(int, random.permutation(len(scenes))))
            yield scenes[deck.pop()], str(kind), number
            number += 1


def wide_view(scene: Scene, number: int) -> Pixels | None:
    """A clean view of the photograph, scaled down at random so that grain and blocks of its file vanish."""
    pixels = read_pixels(Path(scene.photograph))
    if pixels.shape[0] > pixels.shape[1]:
        pixels = pixels.transpose(1, 0, 2)
    smallest = max(HEIGHT / pixels.shape[0], WIDTH / pixels.shape[1])
    if smallest > 1:
        return None
    random = np.random.default_rng((number, 9))
    factor = smallest * float((0.87 / smallest) ** random.random()) if smallest < 0.87 else 1.0
    height, width = max(HEIGHT, round(pixels.shape[0] * factor)), max(WIDTH, round(pixels.shape[1] * factor))
    pixels = pixels if factor == 1.0 else resize(pixels, height, width)
    top, left = int(random.integers(height - HEIGHT + 1)), int(random.integers(width - WIDTH + 1))
    return np.ascontiguousarray(pixels[top : top + HEIGHT, left : left + WIDTH])


def save(target: Path, found: list[PairFeatures], **columns: list[str] | list[int] | list[float]) -> None:
    """One archive of plain arrays, replaced whole."""
    arrays: dict[str, Any] = {name: np.array(column) for name, column in columns.items()}
    arrays["names"] = np.array(found[0].names)
    arrays["features"] = np.array([list(pair.values.values()) for pair in found], np.float32)
    arrays["metric_names"] = np.array(list(found[0].metrics))
    arrays["metrics"] = np.array([list(pair.metrics.values()) for pair in found], np.float64)
    part = target.with_suffix(".part.npz")
    np.savez(part, **arrays)
    part.replace(target)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["tid", "open", "research"])
    parser.add_argument("--data", type=Path, help="folder of tid2013-part")
    parser.add_argument("--bsds", type=Path)
    parser.add_argument("--imagenet", type=Path)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=16)
    parser.add_argument("--seed", type=int, default=9)
    given = parser.parse_args()
    cv2.setNumThreads(1)
    given.cache.mkdir(parents=True, exist_ok=True)
    if given.what == "tid":
        extract_tid(given.data, given.cache / "tid.npz")
    else:
        chosen = [s for s in list_scenes(given.bsds, given.imagenet, 6) if s.terms == given.what and s.split == "train"]
        once = list({scene.photograph: scene for scene in chosen}.values())
        extract_synthetic(once, given.cache / f"{given.what}-{given.seed}.npz", given.rounds, given.seed)
