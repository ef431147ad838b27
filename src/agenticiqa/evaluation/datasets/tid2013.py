"""TID2013 as published, or a part of it with `scores.csv`."""

from __future__ import annotations

from pathlib import Path

from agenticiqa.errors import DatasetError
from agenticiqa.evaluation.datasets.files import Folder, lines_of, number, require, table
from agenticiqa.evaluation.samples import RatedSet, Sample, Scale

KINDS = (
    "white_noise", "chroma_noise", "correlated_noise", "masked_noise", "high_frequency_noise", "impulse_noise",
    "quantisation", "gaussian_blur", "denoise", "jpeg", "jpeg2000", "jpeg_transmission", "jpeg2000_transmission",
    "pattern_noise", "local_blocks", "mean_shift", "contrast", "saturation_down", "multiplicative_noise",
    "comfort_noise", "noisy_jpeg", "color_quantisation", "chromatic_aberration", "sparse_sampling",
)  # fmt: skip
# A win count: the worst 1 % lie at 0.92, the best rated picture at 6.8, and the unrated original above all of them.
SCALE = Scale(0, 9, knots=((0.92, 1.0), (7.0, 5.0)))


def read(root: Path) -> RatedSet:
    """All rated pairs whose two pictures are there."""
    rated = _part(root) if (root / "scores.csv").is_file() else _published(root)
    distorted = Folder(require(root, "distorted_images", "distorted"), any_suffix=True)
    originals = Folder(require(root, "reference_images", "reference"), any_suffix=True)
    samples, missing = [], []
    for name, opinion in rated:
        group, kind, level = _parts_of(name)
        image, reference = distorted.find(name), originals.find(f"{group}.bmp")
        if image is None or reference is None:
            missing.append(name if image is None else f"{group}, the original of {name}")
            continue
        samples.append(Sample(name, image, opinion, reference, group, KINDS[kind - 1], str(level)))
    return RatedSet("tid2013", tuple(samples), SCALE, tuple(missing))


def _published(root: Path) -> list[tuple[str, float]]:
    path = require(root, "mos_with_names.txt")
    lines = [line.split() for line in lines_of(path)]
    if any(len(line) != 2 for line in lines):
        raise DatasetError(f"{path}: a line is not `MOS name`")
    return [(name, number(opinion, str(path))) for opinion, name in lines]


def _part(root: Path) -> list[tuple[str, float]]:
    rows = table(root / "scores.csv", "distorted", "mos")
    return [(row["distorted"], number(row["mos"], "scores.csv")) for row in rows]


def _parts_of(name: str) -> tuple[str, int, int]:
    pieces = Path(name).stem.split("_")
    if len(pieces) != 3 or not (pieces[1].isdigit() and 1 <= int(pieces[1]) <= len(KINDS)) or not pieces[2].isdigit():
        raise DatasetError(f"{name}: is not reference_type_level, as in I01_01_1.bmp")
    return pieces[0].upper(), int(pieces[1]), int(pieces[2])
