"""Stage-five maps of rated pictures with what people said of each: opinions by rank, and labelled flaws."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from training.biq2021 import read_photographs
from training.clusters import find_clusters, folds_of, thumbnails
from training.looks import FLAWS, read_looks
from training.rated_sources import SOURCES, RatedPicture, Values, ranks

CHANNELS = 112
MMP_FLAWS = ("out of focus", "underexposure", "noise and artifact", "overexposure", "motion blur")
MAGNITUDES = {"mild": 1.0, "medium": 2.0, "strong": 3.0}
BIQ_FOLDS, FOLDS, SEED = 10, 5, 6


@dataclass(frozen=True)
class RatedMaps:
    """One source: where each map lies, opinions by rank, flaws (NaN: nobody looked), and the rows that may teach."""

    files: list[npt.NDArray[np.float16]]
    places: list[tuple[int, int, int, int]]
    ranks: Values
    flaws: Values
    taught: npt.NDArray[np.intp]

    def map(self, row: int) -> npt.NDArray[np.float16]:
        """The map after stage five, channels first."""
        file, start, height, width = self.places[row]
        return self.files[file][start : start + CHANNELS * height * width].reshape(CHANNELS, height, width)


def load_rated_maps(data: Path, cache: Path, names: Iterable[str]) -> dict[str, RatedMaps]:
    """The sources as far as they are extracted."""
    numbers = sorted(int(path.stem.removeprefix("maps")) for path in cache.glob("maps*.f16"))
    files: list[npt.NDArray[np.float16]] = [
        np.memmap(cache / f"maps{number}.f16", np.float16, "r") for number in numbers
    ]
    found = {}
    for name in names:
        pictures = SOURCES[name](data)
        rows, places = [], []
        for file, number in enumerate(numbers):
            for source, row, _, offset, height, width, *_ in csv.reader((cache / f"index{number}.csv").open()):
                if source == name and int(offset) // 2 + CHANNELS * int(height) * int(width) <= len(files[file]):
                    rows.append(int(row))
                    places.append((file, int(offset) // 2, int(height), int(width)))
        opinions = np.array([pictures[row].opinion for row in rows])
        kept = np.nonzero(fold_of(name, data, cache.parent, pictures)[rows] != 0)[0]
        found[name] = RatedMaps(files, places, ranks(opinions), _flaws(name, data, pictures)[rows], kept)
    return found


def fold_of(name: str, data: Path, cache: Path, pictures: list[RatedPicture]) -> npt.NDArray[np.intp]:
    """A fold for every picture, near-duplicates and copies of one content together."""
    if name in ("fsqd", "hecd"):
        contents = np.unique([picture.content for picture in pictures], return_inverse=True)[1]
        return folds_of(contents.astype(np.intp), FOLDS, SEED)
    kept = cache / f"{name}_clusters.npy"
    if not kept.exists():
        np.save(kept, find_clusters(thumbnails(_all_paths(name, data, pictures))))
    clusters = np.load(kept)[: len(pictures)]
    return folds_of(clusters, BIQ_FOLDS if name == "biq2021" else FOLDS, SEED)


def _all_paths(name: str, data: Path, pictures: list[RatedPicture]) -> list[Path]:
    """The pictures, and BIQ2021's test split after them: a cluster may reach across."""
    if name != "biq2021":
        return [picture.path for picture in pictures]
    return [data / "biq2021" / "Images" / photograph.name for photograph in read_photographs(data / "biq2021")]


def _flaws(name: str, data: Path, pictures: list[RatedPicture]) -> Values:
    if name == "mmp2k":
        return _mmp_flaws(data, pictures)
    if name != "biq2021":
        return np.zeros((len(pictures), 0))
    looks = {look.image: [look.flaws[flaw] for flaw in FLAWS] for look in read_looks("train")}
    unknown = [np.nan] * len(FLAWS)
    return np.array([looks.get(picture.path.name, unknown) for picture in pictures])


def _mmp_flaws(data: Path, pictures: list[RatedPicture]) -> Values:
    """The magnitude of each labelled flaw, 0 where it is not named."""
    with (data / "mmp2k-table" / "MMP-2k.csv").open(newline="", encoding="utf-8-sig") as lines:
        told = {Path(row["file_name"]).name: row["distortion annotation"] for row in csv.DictReader(lines)}
    found = np.zeros((len(pictures), len(MMP_FLAWS)))
    for row, picture in enumerate(pictures):
        for flaw in json.loads(told[picture.path.name] or "[]"):
            if flaw["factor"] in MMP_FLAWS:
                column = MMP_FLAWS.index(flaw["factor"])
                found[row, column] = max(found[row, column], MAGNITUDES.get(flaw["magnitude"], 1.0))
    return found
