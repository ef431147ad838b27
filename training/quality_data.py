"""The cached training material of the quality model, split by cluster and by photograph."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from agenticiqa.tools.synthetic.kinds import LEVELS
from training.biq2021 import read_photographs
from training.clusters import find_clusters, folds_of, thumbnails
from training.finetune import TRUNK_POOLED, Ladders, Photographs
from training.scales import standardised_scale
from training.spoilt import Ladder, list_ladders
from training.targets import label, read_table

FOLDS = 10
TABLES = {"research": ("research",), "open": ("open", "open_more"), "apart": ("research_apart",)}


@dataclass
class Rated:
    """BIQ2021's training photographs with statistics of all seven start stages, and a fold for each."""

    photographs: Photographs
    statistics: npt.NDArray[np.float32]
    raw_opinions: npt.NDArray[np.float64]
    folds: npt.NDArray[np.intp]
    present: npt.NDArray[np.bool_]


@dataclass
class Damaged:
    """Synthetic pictures with statistics of all seven start stages; rows of held-out photographs are not in ladders."""

    table: pd.DataFrame
    ladders: Ladders
    statistics: npt.NDArray[np.float32]
    training: npt.NDArray[np.bool_]


@dataclass
class Spoilt:
    """Rated photographs with damage added (`training.spoilt`): one row per picture, ladders from weak to severe."""

    maps: npt.NDArray[np.float16]
    statistics: npt.NDArray[np.float32]
    quality: npt.NDArray[np.float32]
    opinions: npt.NDArray[np.float32]
    photographs: npt.NDArray[np.intp]
    training: npt.NDArray[np.bool_]


def load_spoilt(cache: Path, rated: Rated, seed: int) -> Spoilt:
    """The ladders of rated photographs; those of fold 0 are not for training.

    Damage takes its share of whatever quality the photograph had: one people find poor has little left to lose.
    """
    ladders = list_ladders(len(rated.folds), seed)
    photographs = np.repeat([ladder.photograph for ladder in ladders], len(LEVELS))
    scale = standardised_scale("biq2021", rated.raw_opinions)
    before = np.interp(rated.photographs.opinions[photographs], scale["scale_from"], scale["scale_to"])
    left = (_spoilt_labels(cache, ladders) - 1) / 4
    quality = 1 + (before - 1) * np.minimum.accumulate(left.reshape(-1, len(LEVELS)), axis=1).ravel()
    maps, statistics = (np.load(cache / f"spoilt_{name}.npy", mmap_mode="r") for name in ("stage5", "pooled"))
    return Spoilt(
        maps, np.array(statistics), quality.astype(np.float32),
        np.interp(quality, scale["scale_to"], scale["scale_from"]).astype(np.float32),
        photographs, rated.present[photographs] & (rated.folds[photographs] != 0),
    )  # fmt: skip


def _spoilt_labels(cache: Path, ladders: list[Ladder]) -> npt.NDArray[np.float64]:
    """What the damage alone would leave of a clean photograph, along the curves of the clean ones' damage."""
    measures = np.load(cache / "spoilt_measures.npy")
    rows = pd.DataFrame(measures, columns=["mdsi", "gmsd", "distance"]).assign(
        kind=np.repeat([ladder.kind for ladder in ladders], len(LEVELS)),
        level=np.tile(LEVELS, len(ladders)), split="spoilt",
    )  # fmt: skip
    known = read_table(cache / "research.csv")
    return label(pd.concat([known, rows], ignore_index=True)).labels[len(known) :]


def load_rated(data: Path, cache: Path, seed: int) -> Rated:
    """Photographs whose features are in the cache; fold 0 is kept for calibration."""
    listed = [p for p in read_photographs(data) if p.split == "train"]
    opinions = np.array([p.opinion for p in listed])
    statistics = np.load(cache / "biq2021_pooled.npy", mmap_mode="r")[: len(listed)]
    maps = np.load(cache / "biq2021_stage5.npy", mmap_mode="r")[: len(listed)]
    present = np.asarray(statistics).any(1)
    folds = folds_of(_clusters(data, cache)[: len(listed)], FOLDS, seed)
    standard = ((opinions - opinions.mean()) / opinions.std()).astype(np.float32)
    rows = np.nonzero(present & (folds != 0))[0]
    kept = np.array(statistics)
    photographs = Photographs(maps, kept[:, :TRUNK_POOLED], standard, rows)
    return Rated(photographs, kept, opinions, folds, present)


def load_damaged(cache: Path, which: str) -> Damaged:
    """Synthetic pictures of the tables named in `TABLES`, labelled and grouped into ladders."""
    tables = [read_table(cache / f"{name}.csv") for name in TABLES[which]]
    table = pd.concat(tables, ignore_index=True)
    labelled = label(table)
    statistics, maps = (_joined(cache, which, part, tables) for part in ("pooled", "stage5"))
    groups = _groups(table, labelled.training)
    ladders = Ladders(maps, statistics[:, :TRUNK_POOLED], labelled.labels.astype(np.float32), groups)
    return Damaged(table, ladders, statistics, labelled.training)


def _joined(cache: Path, which: str, part: str, tables: list[pd.DataFrame]) -> npt.NDArray[Any]:
    parts = [
        np.load(cache / f"{name}_{part}.npy", mmap_mode="r")[: len(table)]
        for name, table in zip(TABLES[which], tables, strict=True)
    ]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _groups(table: pd.DataFrame, training: npt.NDArray[np.bool_]) -> list[npt.NDArray[np.intp]]:
    groups = []
    for _, scene in table[training].groupby(["photograph", "scaled_to"], sort=False):
        clean = scene.index[scene["kind"] == "clean"].to_numpy()
        for kind, rows in scene.groupby("kind", sort=False):
            if kind != "clean":
                ordered = rows.sort_values("level").index.to_numpy()
                groups.append(np.concatenate([clean, ordered]))
    return groups


def _clusters(data: Path, cache: Path) -> npt.NDArray[np.intp]:
    path = cache / "biq2021_clusters.npy"
    if not path.exists():
        paths = [data / "Images" / p.name for p in read_photographs(data)]
        np.save(path, find_clusters(thumbnails(paths)))
    return np.asarray(np.load(path))
