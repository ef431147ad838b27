"""Pair features of TID2013's part and of synthetic pairs, written to the cache for the full-reference fits.

`tid` measures every pair of the part; `ladders` makes damage of known strength, `field` pairs as they occur today and
`coders` quality ladders, of every second free photograph. They save after each photograph, so that they can be stopped
at any time.
"""

from __future__ import annotations

import argparse
import csv
import itertools
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from agenticiqa.embedded.full_reference.pair_features import PairFeatures, measure_pair
from agenticiqa.embedded.trunk import load_backbone
from agenticiqa.tools.synthetic.kinds import KINDS, LEVELS, distort
from training.fr_field import LADDERS, encode, field_damage, training_photographs
from training.pictures import read_pixels, resize

Pixels = npt.NDArray[np.uint8]
# Height and width of the clean views: as large as the rated pictures, and large enough to be seen in parts.
SMALL, LARGE = (384, 384), (640, 800)
KINDS_EACH = 3
CODERS_FOLDER = "coders"
LADDER_CODERS = ("jpeg", "jpeg2000", "webp", "avif")
# Megapixels of the photographs whose quality ladders are measured.
HALF = 0.5


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


def extract_ladders(photographs: list[Path], target: Path, seed: int) -> None:
    """Features of ladders of three kinds on a clean view of each photograph, saved after every photograph."""
    backbone = load_backbone()
    random = np.random.default_rng(seed)
    rounds = -(-KINDS_EACH * len(photographs) // len(KINDS))
    kinds = [str(kind) for _ in range(rounds) for kind in random.permutation(list(KINDS))]
    found: list[PairFeatures] = []
    rows: list[tuple[str, str, str, int]] = []
    for number, path in enumerate(photographs):
        clean = crop(read_pixels(path), SMALL, 0.87, random)
        for kind, level in itertools.product(kinds[KINDS_EACH * number : KINDS_EACH * (number + 1)], LEVELS):
            found.append(measure_pair(distort(clean, kind, level, number), clean, backbone))
            rows.append((path.name, kind, "ladder", level))
        save_made(target, found, rows)


def extract_field(photographs: list[Path], target: Path) -> None:
    """Features of pairs as in the field, 16 of each photograph, saved after every photograph."""
    backbone = load_backbone()
    found: list[PairFeatures] = []
    rows: list[tuple[str, str, str, int]] = []
    for number, path in enumerate(photographs):
        random = np.random.default_rng(number)
        clean = crop(read_pixels(path), LARGE, 1.0, random)
        for kind, source, step, damage in field_damage(random):
            found.append(measure_pair(damage(clean), clean, backbone))
            rows.append((path.name, kind, source, step))
        save_made(target, found, rows)


def extract_coders(photographs: list[Path], folder: Path, megapixels: float | None = HALF) -> None:
    """Features of quality ladders of four coders on whole photographs, one file each; those there are stay.

    The photographs are shrunk to that many megapixels; None takes them as they are, at every second quality.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for path in photographs:
        target = coder_file(path, folder)
        if target.exists():
            continue
        whole = read_pixels(path)
        clean = whole if megapixels is None else shrunk(whole, megapixels)
        steps = [(coder, step) for coder in LADDER_CODERS for step in LADDERS[coder][:: 2 if megapixels is None else 1]]
        found = [measure_pair(encode(clean, coder, step), clean, load_backbone()) for coder, step in steps]
        save_made(target, found, [(path.name, coder, coder, int(step)) for coder, step in steps])


def coder_file(photograph: Path, folder: Path) -> Path:
    """Where the ladders of a photograph are kept."""
    return folder / f"{photograph.parent.name}-{photograph.stem}.npz"


def shrunk(pixels: Pixels, megapixels: float) -> Pixels:
    """The photograph at this size; one that is smaller stays as it is."""
    factor = min(1.0, float(np.sqrt(megapixels * 1e6 / (pixels.shape[0] * pixels.shape[1]))))
    return np.asarray(cv2.resize(pixels, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA), np.uint8)


def save_made(target: Path, found: list[PairFeatures], rows: list[tuple[str, str, str, int]]) -> None:
    """Made pairs with photograph, kind, source and level."""
    group, kind, source, level = (list(column) for column in zip(*rows, strict=True))
    save(target, found, group=group, kind=kind, source=source, level=level)
    print(target.name, len(found), flush=True)


def crop(photograph: Pixels, size: tuple[int, int], most: float, random: np.random.Generator) -> Pixels:
    """A clean view of the photograph, scaled down at random so that grain and blocks of its file vanish."""
    if photograph.shape[0] > photograph.shape[1]:
        photograph = photograph.transpose(1, 0, 2)
    height, width = size
    smallest = max(height / photograph.shape[0], width / photograph.shape[1])
    factor = max(smallest, min(most, smallest * float((most / smallest) ** random.random())))
    rows, columns = max(height, round(photograph.shape[0] * factor)), max(width, round(photograph.shape[1] * factor))
    scaled = resize(photograph, rows, columns)
    top, left = int(random.integers(rows - height + 1)), int(random.integers(columns - width + 1))
    return np.ascontiguousarray(scaled[top : top + height, left : left + width])


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
    parser.add_argument("what", choices=["tid", "ladders", "field", "coders"])
    parser.add_argument("--data", type=Path, help="folder of tid2013-part")
    parser.add_argument("--free", type=Path, help="folder of the free photographs")
    parser.add_argument("--photographs", type=int, default=27, help="how many of them")
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=9)
    given = parser.parse_args()
    cv2.setNumThreads(1)
    given.cache.mkdir(parents=True, exist_ok=True)
    if given.what == "tid":
        extract_tid(given.data, given.cache / "tid.npz")
    else:
        chosen = training_photographs(given.free)[: given.photographs]
        if given.what == "coders":
            extract_coders(chosen, given.cache / CODERS_FOLDER)
        elif given.what == "ladders":
            extract_ladders(chosen, given.cache / "ladders.npz", given.seed)
        else:
            extract_field(chosen, given.cache / "field.npz")
