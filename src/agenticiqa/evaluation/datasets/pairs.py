"""Data sets of damaged pictures beside their originals, one function each."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from agenticiqa.errors import DatasetError
from agenticiqa.evaluation.datasets import files
from agenticiqa.evaluation.datasets.files import Folder
from agenticiqa.evaluation.samples import OpinionScale, RatedPicture, RatedSet

TID2013_KINDS = (
    "white_noise", "chroma_noise", "correlated_noise", "masked_noise", "high_frequency_noise", "impulse_noise",
    "quantisation", "gaussian_blur", "denoise", "jpeg", "jpeg2000", "jpeg_transmission", "jpeg2000_transmission",
    "pattern_noise", "local_blocks", "mean_shift", "contrast", "saturation_down", "multiplicative_noise",
    "comfort_noise", "noisy_jpeg", "color_quantisation", "chromatic_aberration", "sparse_sampling",
)  # fmt: skip
# A win count: the worst 1 % lie at 0.92, the best rated picture at 6.8, and the unrated original above all of them.
TID2013_SCALE = OpinionScale(0, 9, knots=((0.92, 1.0), (7.0, 5.0)))
# What CSIQ's table calls a distortion, and what folder and file names call it.
CSIQ_FOLDERS = {"noise": "awgn", "awgn": "awgn", "blur": "blur", "contrast": "contrast", "fnoise": "fnoise",
                "jpeg": "jpeg", "jpeg 2000": "jpeg2000", "jpeg2000": "jpeg2000"}  # fmt: skip
# The order of LIVE's scores, with the number of pictures in each folder.
LIVE_FOLDERS = {"jp2k": 227, "jpeg": 233, "wn": 174, "gblur": 174, "fastfading": 174}


class _Pair(NamedTuple):
    """A rated picture and its original, by the names a table gives them."""

    name: str
    original: str
    opinion: float
    group: str
    kind: str | None = None
    level: str | None = None


def _found(
    name: str, pairs: Iterable[_Pair], distorted: Folder, originals: Folder, scale: OpinionScale, *notes: str
) -> RatedSet:
    """The set of the pairs whose two pictures are there."""
    samples, missing = [], []
    for pair in pairs:
        image, reference = distorted.find(pair.name), originals.find(pair.original)
        if image is None or reference is None:
            missing.append(pair.name if image is None else pair.original)
        else:
            samples.append(RatedPicture(pair.name, image, pair.opinion, reference, pair.group, pair.kind, pair.level))
    return RatedSet(name, tuple(samples), scale, tuple(missing), notes)


def tid2013(root: Path) -> RatedSet:
    """TID2013 as published, or a part of it with `scores.csv`."""
    if (root / "scores.csv").is_file():
        rows = files.table(root / "scores.csv", "distorted", "mos")
        rated = [(row["distorted"], files.number(row["mos"], "scores.csv")) for row in rows]
    else:
        path = files.require(root, "mos_with_names.txt")
        lines = [line.split() for line in files.lines_of(path)]
        if any(len(line) != 2 for line in lines):
            raise DatasetError(f"{path}: a line is not `MOS name`")
        rated = [(name, files.number(opinion, str(path))) for opinion, name in lines]
    distorted = Folder(files.require(root, "distorted_images", "distorted"), any_suffix=True)
    originals = Folder(files.require(root, "reference_images", "reference"), any_suffix=True)
    pairs = []
    for name, opinion in rated:
        pieces = Path(name).stem.split("_")
        numbered = len(pieces) == 3 and pieces[1].isdigit() and pieces[2].isdigit()
        if not numbered or not 1 <= int(pieces[1]) <= len(TID2013_KINDS):
            raise DatasetError(f"{name}: is not reference_type_level, as in I01_01_1.bmp")
        group, kind, level = pieces[0].upper(), TID2013_KINDS[int(pieces[1]) - 1], str(int(pieces[2]))
        pairs.append(_Pair(name, f"{group}.bmp", opinion, group, kind, level))
    return _found("tid2013", pairs, distorted, originals, TID2013_SCALE)


def kadid10k(root: Path) -> RatedSet:
    """KADID-10k; its column is called dmos, but more is better. Types are the numbers in the names, 01 to 25."""
    pairs = []
    for row in files.table(files.require(root, "dmos.csv"), "dist_img", "ref_img", "dmos"):
        pieces = Path(row["dist_img"]).stem.split("_")
        named = len(pieces) == 3 and pieces[2].isdigit()
        kind, level = (f"type {pieces[1]}", str(int(pieces[2]))) if named else (None, None)
        opinion, group = files.number(row["dmos"], "dmos.csv"), Path(row["ref_img"]).stem.upper()
        pairs.append(_Pair(row["dist_img"], row["ref_img"], opinion, group, kind, level))
    pictures = Folder(files.require(root, "images"))
    return _found("kadid10k", pairs, pictures, pictures, OpinionScale(1, 5))


def csiq(root: Path) -> RatedSet:
    """CSIQ: DMOS from 0 to 1, less is better; the table is a spreadsheet or a text export of it."""
    distorted, originals = Folder(files.require(root, "dst_imgs")), Folder(files.require(root, "src_imgs"))
    path = files.require(root, "csiq.DMOS.xlsx", "csiq.DMOS.txt", "csiq.DMOS.csv")
    if path.suffix.lower() == ".xlsx":
        tables = files.sheets(path)
    else:
        tables = [[re.split(r"[,\t]|\s{2,}", line.strip()) for line in files.lines_of(path)]]
    pairs = []
    for row in files.rows_under(path, tables, "image", "dst_type", "dst_lev", "dmos"):
        kind, content = CSIQ_FOLDERS.get(row["dst_type"].lower()), row["image"]
        if kind is None:
            raise DatasetError(f"csiq.DMOS: unknown distortion {row['dst_type']!r}; known: {', '.join(CSIQ_FOLDERS)}")
        level, opinion = str(int(files.number(row["dst_lev"], "csiq.DMOS"))), files.number(row["dmos"], "csiq.DMOS")
        pairs.append(_Pair(f"{content}.{kind}.{level}.png", f"{content}.png", opinion, content, kind, level))
    return _found("csiq", pairs, distorted, originals, OpinionScale(0, 1, higher_is_better=False))


def live(root: Path) -> RatedSet:
    """LIVE release 2: five folders in a fixed order, DMOS, less is better; entries marked as originals are left out."""
    scores = files.require(root, "dmos_realigned.mat", "dmos.mat")
    opinions, originals = files.matrix(scores, "dmos_new", "dmos"), files.matrix(scores, "orgs")
    references = list(files.texts(files.matrix(files.require(root, "refnames_all.mat"), "refnames_all")))
    files.require_equal(root, scores=len(opinions), marks=len(originals), references=len(references))
    sizes = LIVE_FOLDERS
    if len(opinions) != sum(sizes.values()):
        # Not as published: as the `info.txt` of each folder lists them.
        sizes = {name: len(files.lines_of(files.require(root, f"{name}/info.txt"))) for name in LIVE_FOLDERS}
    if len(opinions) != sum(sizes.values()):
        raise DatasetError(
            f"{root}: {len(opinions)} scores, but the folders' info.txt list {sum(sizes.values())} pictures"
        )
    places = [(kind, place) for kind, size in sizes.items() for place in range(1, size + 1)]
    pairs = [
        _Pair(f"{kind}/img{place}.bmp", original, float(opinion), Path(original).stem.lower(), kind)
        for (kind, place), opinion, is_original, original in zip(places, opinions, originals, references, strict=True)
        if not is_original
    ]
    for kind in sizes:
        files.require(root, kind)
    return _found(
        "live",
        pairs,
        Folder(root),
        Folder(files.require(root, "refimgs")),
        OpinionScale(0, 100, higher_is_better=False),
    )


def pipal(root: Path) -> RatedSet:
    """PIPAL's training part: one list of Elo scores per original; types are the first number in the names."""
    labels, originals = (
        sorted(files.require(root, "Train_Label").glob("*.txt")),
        Folder(files.require(root, "Train_Ref")),
    )
    folders = [path for path in sorted(root.iterdir()) if path.is_dir() and path.name.lower().startswith("distortion")]
    if not labels or not folders:
        raise DatasetError(f"{root}: has no {'Train_Label/*.txt' if not labels else 'Distortion_* folder'}")
    pairs = []
    for path in labels:
        for name, _, elo in (line.partition(",") for line in files.lines_of(path)):
            name = name.strip()
            group, kind = name.partition("_")[0].upper(), f"type {name.split('_')[1]}" if "_" in name else None
            pairs.append(_Pair(name, f"{group}.bmp", files.number(elo.strip(), path.name), group, kind))
    return _found("pipal", pairs, Folder(*folders), originals, OpinionScale(900, 1850), "opinions are Elo scores")
