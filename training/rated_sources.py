"""Photographs and copies people rated: the sources the quality model is fitted on and chosen by.

Every source keeps pictures of one content in one group, so that folds never part them. Opinions stay on each source's
own scale; only their order within the source is used (`ranks`).
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.stats import norm, rankdata

from training.biq2021 import read_photographs
from training.sheets import read_sheet

Values = npt.NDArray[np.float64]


@dataclass(frozen=True)
class RatedPicture:
    """One picture, what people thought of it (higher is better), and the content it shares with others."""

    path: Path
    opinion: float
    content: str


def read_biq2021(data: Path) -> list[RatedPicture]:
    """The training split; near-duplicates are joined by `training.clusters` when folds are made."""
    photographs = [p for p in read_photographs(data / "biq2021") if p.split == "train"]
    return [RatedPicture(data / "biq2021" / "Images" / p.name, p.opinion, p.name) for p in photographs]


def read_mmp2k(data: Path) -> list[RatedPicture]:
    """2,000 macro photographs."""
    folder = data / "mmp2k" / "backend" / "server" / "image_base"
    with (data / "mmp2k-table" / "MMP-2k.csv").open(newline="", encoding="utf-8-sig") as lines:
        rows = [(Path(row["file_name"]).name, float(row["MOS"])) for row in csv.DictReader(lines) if row["MOS"]]
    return [RatedPicture(folder / name, opinion, name) for name, opinion in rows if (folder / name).exists()]


def read_fsqd(data: Path) -> list[RatedPicture]:
    """2,400 faces enlarged by six methods; one face is one content."""
    files = {path.name: path for path in (data / "fsqd" / "Images").rglob("*.png")}
    rows = _sheet(data / "fsqd" / "MOS.xlsx")
    return [RatedPicture(files[name], opinion, name[:3]) for name, opinion in rows if name in files]


def read_hecd(data: Path) -> list[RatedPicture]:
    """1,320 recoloured photographs; one scene is one content."""
    with (data / "hecd" / "Data" / "mean_zscores.csv").open(newline="", encoding="utf-8-sig") as lines:
        rows = [(row["Recolour File"], row["Mean zScore"], row["Ground Truth File"]) for row in csv.DictReader(lines)]
    return [RatedPicture(data / "hecd" / "HECDImages" / name, float(opinion), scene) for name, opinion, scene in rows]


def read_pcuid(data: Path) -> list[RatedPicture]:
    """297 underwater photographs; the number in a file's name is its row."""
    files = {"".join(filter(str.isdigit, path.stem)): path for path in (data / "pcuid").rglob("*.jpg")}
    rows = [(str(int(float(name))), opinion) for name, opinion in _sheet(data / "pcuid" / "MOS.xlsx")]
    return [RatedPicture(files[name], opinion, name) for name, opinion in rows if name in files]


def _sheet(path: Path) -> list[tuple[str, float]]:
    """Names and opinions of a spreadsheet's first two columns, below its heading."""
    return [(row[0], float(row[1])) for row in read_sheet(path)[1:] if len(row) > 1]


SOURCES: dict[str, Callable[[Path], list[RatedPicture]]] = {
    "biq2021": read_biq2021,
    "mmp2k": read_mmp2k,
    "fsqd": read_fsqd,
    "hecd": read_hecd,
    "pcuid": read_pcuid,
}


def ranks(opinions: Values) -> Values:
    """Opinions by their order alone, spread as a normal curve: what one source says, whatever its scale."""
    return np.asarray(norm.ppf((rankdata(opinions) - 0.5) / len(opinions)))
