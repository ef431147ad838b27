"""The rated pictures of the ledger: where each source lies, its opinions, and which half it belongs to."""

from __future__ import annotations

import csv
import itertools
import re
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from PIL import Image

from agenticiqa.errors import UsageError
from agenticiqa.tools.synthetic.kinds import distort
from agenticiqa.tools.synthetic.ladder import photographs
from training.biq2021 import read_photographs
from training.opinions import on_common_scale
from training.sheets import read_sheet

Half = Literal["decide", "check"]
# Which opinions stand for 1 and 5, or the name of a map in training/scales.yaml.
Scale = tuple[float, float] | str | None
# Photographs of BIQ2021's test split without a twin in the training split, drawn once with seed 0.
BIQ2021_TEST = Path(__file__).with_name("biq2021_test.txt")

LADDERS = ("gaussian_blur", "jpeg", "white_noise")


@dataclass(frozen=True)
class Picture:
    """One rated picture; those of one cluster (a scene, an original) are drawn together in a bootstrap."""

    id: str
    path: Path
    opinion: float
    cluster: str
    reference: Path | None = None


@dataclass(frozen=True)
class Source:
    """Rated pictures; `scale` is which opinions stand for 1 and 5 of the common scale, None where none do."""

    name: str
    half: Half
    pictures: tuple[Picture, ...]
    scale: Scale = None

    def on_scale(self, opinions: Sequence[float]) -> list[float] | None:
        """Opinions from 1 to 5, where that has a meaning."""
        if self.scale is None:
            return None
        if isinstance(self.scale, str):
            return [float(value) for value in on_common_scale(self.scale, opinions)]
        low, high = self.scale
        return [1 + 4 * (value - low) / (high - low) for value in opinions]


class Data:
    """The folders given on the command line."""

    def __init__(self, folders: Iterable[Path]) -> None:
        self.folders = tuple(folders)

    def find(self, *names: str) -> Path:
        """The first of these that lies below one of the folders; raises UsageError."""
        found = (folder / name for name in names for folder in self.folders if (folder / name).exists())
        try:
            return next(found)
        except StopIteration:
            given = ", ".join(map(str, self.folders)) or "no folder"
            raise UsageError(
                f"{names[0]} is not below {given}; docs/benchmarks-field.md says where to get it"
            ) from None


def read_source(name: str, data: Data, whole: bool = False) -> Source:
    """A source by its name; what is recorded is often a fixed sample of it."""
    known = SOURCES[name]
    return Source(name, known.half, tuple(sample(known.read(data), None if whole else known.count)), known.scale)


def sample(pictures: Sequence[Picture], count: int | None) -> list[Picture]:
    """So many of the pictures in a fixed random order: a recording that was stopped early is a fair sample too."""
    ordered = sorted(pictures, key=lambda picture: picture.id)
    return [ordered[row] for row in np.random.default_rng(0).permutation(len(ordered))[:count]]


def read_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a table by the names of its columns."""
    with path.open(newline="", encoding="utf-8-sig") as lines:
        return list(csv.DictReader(lines))


def field_table(data: Data, name: str) -> list[dict[str, str]]:
    """A sample's table: opinions, people's ratings of attributes, a model's recorded scores."""
    return read_rows(data.find(f"field/{name}-200.csv", f"{name}-200.csv"))


def _field(name: str) -> Callable[[Data], list[Picture]]:
    def read(data: Data) -> list[Picture]:
        folder = data.find(f"field/test_data/{name}", f"test_data/{name}")
        rows = field_table(data, name)
        return [Picture(r["image"], folder / r["image"], float(r["mos"]), r["image"]) for r in rows]

    return read


def _tid2013(data: Data) -> list[Picture]:
    folder = data.find("tid2013-part")
    return [
        Picture(r["distorted"], folder / "distorted" / r["distorted"], float(r["mos"]), r["reference"],
                folder / "reference" / r["reference"])
        for r in read_rows(folder / "scores.csv")
    ]  # fmt: skip


def _avt(data: Data) -> list[Picture]:
    folder = data.find("avt/test_1")
    rows = [(r["image_name"], float(r["mos"])) for r in read_rows(folder / "mos_ci.csv")]
    listed = [(name, folder / "images" / f"{name}.png", mos) for name, mos in rows]
    return [Picture(name, path, mos, name.partition("_1frame")[0]) for name, path, mos in listed if path.exists()]


def _ai(data: Data) -> list[Picture]:
    folder = data.find("avt-ai", "ai")
    rows = read_rows(folder / "evaluation_quality_appeal" / "quality.csv")
    listed = [(r["image_key"], folder / "images" / f"{r['image_key']}.png", r) for r in rows]
    return [Picture(name, path, float(r["rating"]), r["prompt"]) for name, path, r in listed if path.exists()]


def _biq2021(split: str, listed: Path | None = None) -> Callable[[Data], list[Picture]]:
    def read(data: Data) -> list[Picture]:
        folder = data.find("biq2021")
        found = [p for p in read_photographs(folder) if p.split == split]
        if listed:
            names = set(listed.read_text(encoding="utf-8").splitlines())
            found = [p for p in found if p.name in names]
        return [Picture(p.name, folder / "Images" / p.name, p.opinion, p.name) for p in found]

    return read


def _mmp2k(data: Data) -> list[Picture]:
    table, folder = data.find("mmp2k-table/MMP-2k.csv"), data.find("mmp2k/backend/server/image_base")
    names = [(Path(r["file_name"]).name, float(r["MOS"])) for r in read_rows(table)]
    return [Picture(name, folder / name, mos, name) for name, mos in names if (folder / name).exists()]


def _fsqd(data: Data) -> list[Picture]:
    folder, found = data.find("fsqd"), []
    for name, mos in read_sheet(folder / "MOS.xlsx")[1:]:
        number, method, factor = Path(name).stem.split("_")
        path, original = folder / "Images" / method / factor / name, folder / "Labels" / f"{number}.png"
        if path.exists():
            found.append(Picture(name, path, float(mos), number, original if original.exists() else None))
    return found


def _hecd(data: Data) -> list[Picture]:
    folder, found = data.find("hecd"), []
    for row in read_rows(folder / "Data" / "mean_zscores.csv"):
        name, truth = row["Recolour File"], row["Ground Truth File"]
        path, original = folder / "HECDImages" / name, folder / "HECDImages" / truth
        if path.exists():
            found.append(Picture(name, path, float(row["Mean zScore"]), truth, original))
    return found


def _pcuid(data: Data) -> list[Picture]:
    folder = data.find("pcuid")
    opinions = {int(float(row[0])): float(row[1]) for row in read_sheet(folder / "MOS.xlsx")[1:]}
    numbered = {int(re.sub(r"\D", "", path.stem)): path for path in sorted(folder.glob("300-*/*"))}
    return [Picture(str(n), path, opinions[n], str(n)) for n, path in numbered.items() if n in opinions]


def ladders(data: Data) -> list[Picture]:
    """Bundled photographs, clean and damaged by three levels of three kinds: all that needs no outside data.

    People did not rate them; that the stronger of two levels of a kind is the worse one is known all the same.
    """
    folder, found = Path(tempfile.gettempdir()) / "agenticiqa-field-ladders", []
    folder.mkdir(exist_ok=True)
    for name, photograph in photographs().items():
        for kind, level in [("clean", 0), *itertools.product(LADDERS, (1, 3, 5))]:
            path = folder / f"{name}-{kind}-{level}.png"
            if not path.exists():
                pixels = distort(photograph.pixels, kind, level) if level else photograph.pixels
                Image.fromarray(pixels).save(path)
            found.append(Picture(path.stem, path, -float(level), name))
    return found


@dataclass(frozen=True)
class Known:
    """What is known of a source: its half, how to read it, its scale, and how many of its pictures are drawn."""

    half: Half
    read: Callable[[Data], list[Picture]]
    scale: Scale = None
    count: int | None = None


SOURCES = {
    "koniq": Known("check", _field("koniq"), (1, 5)),
    "spaq": Known("check", _field("spaq"), (0, 10)),
    "tid2013": Known("check", _tid2013, "tid2013", 360),
    "avt": Known("check", _avt, (1, 5)),
    "ai": Known("check", _ai, (1, 5)),
    "biq2021-test": Known("check", _biq2021("test", BIQ2021_TEST), "biq2021", 300),
    "ladders": Known("check", ladders),
    # All versions are fitted on it: only folds say anything.
    "biq2021": Known("decide", _biq2021("train"), "biq2021", 0),
    "mmp2k": Known("decide", _mmp2k, "mmp2k", 400),
    "hecd": Known("decide", _hecd, count=200),
    "fsqd": Known("decide", _fsqd, count=200),
    "pcuid": Known("decide", _pcuid, "pcuid", 200),
}
