"""LIVE release 2: five folders in a fixed order, DMOS, less is better; entries marked as originals are left out."""

from __future__ import annotations

from pathlib import Path

from agenticiqa.errors import DatasetError
from agenticiqa.evaluation.datasets.files import Folder, lines_of, matrix, require, require_equal, texts
from agenticiqa.evaluation.samples import RatedSet, Sample, Scale

# The order of the scores, with the number of pictures in each folder.
FOLDERS = {"jp2k": 227, "jpeg": 233, "wn": 174, "gblur": 174, "fastfading": 174}


def read(root: Path) -> RatedSet:
    """All rated pairs whose two pictures are there."""
    scores = require(root, "dmos_realigned.mat", "dmos.mat")
    opinions, originals = matrix(scores, "dmos_new", "dmos"), matrix(scores, "orgs")
    references = list(texts(matrix(require(root, "refnames_all.mat"), "refnames_all")))
    require_equal(root, scores=len(opinions), marks=len(originals), references=len(references))
    sizes = _sizes(root, len(opinions))
    folders = {name: Folder(require(root, name)) for name in sizes}
    pristine = Folder(require(root, "refimgs"))
    places = [(kind, number) for kind, size in sizes.items() for number in range(1, size + 1)]
    samples, missing = [], []
    for (kind, number), opinion, is_original, reference in zip(places, opinions, originals, references, strict=True):
        if is_original:
            continue
        name = f"{kind}/img{number}.bmp"
        image, original = folders[kind].find(f"img{number}.bmp"), pristine.find(reference)
        if image is None or original is None:
            missing.append(name if image is None else reference)
            continue
        samples.append(Sample(name, image, float(opinion), original, Path(reference).stem.lower(), kind))
    return RatedSet("live", tuple(samples), Scale(0, 100, higher_is_better=False), tuple(missing))


def _sizes(root: Path, count: int) -> dict[str, int]:
    """How many scores belong to each folder: as published, or as the `info.txt` of each folder lists them."""
    if count == sum(FOLDERS.values()):
        return FOLDERS
    lists = {name: require(root, f"{name}/info.txt") for name in FOLDERS}
    sizes = {name: len(lines_of(path)) for name, path in lists.items()}
    if count != sum(sizes.values()):
        raise DatasetError(f"{root}: {count} scores, but the folders' info.txt list {sum(sizes.values())} pictures")
    return sizes
