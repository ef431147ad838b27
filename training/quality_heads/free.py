"""Free photographs and our own ratings of crops of them, from which alone the `open` set is made.

`free_photographs.csv` names every photograph with its collection and licence; the Debian wallpapers of
`training.sources` come after them. `free_ratings.csv` has the crops that were looked at by eye, one by one, and rated
from 1 to 5 as a whole: the project's own ratings, made by one pair of eyes on contact sheets.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from PIL import Image

from training.pictures import Pixels
from training.quality_heads.ladders import rewrite, spoil
from training.sources import FREE_LIST, FREE_PHOTOGRAPHS, SIDE

RATINGS = Path(__file__).with_name("free_ratings.csv")
SIDES = (320, 420, 560, 800)
# Their collection no longer has them.
NOT_TO_BE_HAD = ("ColdWarm.jpg", "Road2.jpg")


@dataclass(frozen=True)
class RatedCrop:
    """A crop, the damage made to it and our rating; `number` is the photograph's place in `list_free`."""

    photograph: str
    number: int
    scaled_to: float
    corner: tuple[int, int]
    recipe: str
    seed: int
    quality: int
    rating: float

    def pixels(self, photographs: list[Path]) -> Pixels:
        """The crop as it was rated."""
        pixels = _square(read_reduced(photographs[self.number]), self.scaled_to, self.corner)
        for part in self.recipe.split("+") if self.recipe != "clean" else []:
            kind, level = part.split(":")
            pixels = spoil(pixels, kind, int(level), self.seed)
        return rewrite(pixels, self.quality)


def read_ratings() -> list[RatedCrop]:
    """All rated crops."""
    with RATINGS.open(newline="", encoding="utf-8") as lines:
        return [
            RatedCrop(
                row["photograph"], int(row["number"]), float(row["scaled_to"]), (int(row["top"]), int(row["left"])),
                row["recipe"], int(row["seed"]), int(row["quality"]), float(row["rating"]),
            )
            for row in csv.DictReader(lines)
        ]  # fmt: skip


def list_free(folder: Path) -> list[Path]:
    """Every free photograph that is there: one folder per collection, and the packages' files below `debian`."""
    with FREE_LIST.open(newline="", encoding="utf-8") as lines:
        rows = [row for row in csv.DictReader(lines) if row["file"] not in NOT_TO_BE_HAD]
    listed = sorted(folder / row["collection"] / row["file"] for row in rows)
    listed += [folder / "debian" / name.lstrip("/") for name in FREE_PHOTOGRAPHS]
    return [path for path in listed if path.exists()]


def read_reduced(path: Path) -> Pixels:
    """The photograph, large JPEG files reduced while they are read."""
    with Image.open(path) as picture:
        picture.draft("RGB", (2400, 1600))
        return np.asarray(picture.convert("RGB"))


def crop_of(path: Path, random: np.random.Generator) -> Pixels:
    """A random crop of the photograph at a random size."""
    pixels, scaled_to = read_reduced(path), float(random.choice(SIDES))
    factor = min(1.0, scaled_to / min(pixels.shape[:2]))
    height, width = (round(side * factor) for side in pixels.shape[:2])
    corner = (int(random.integers(0, height - SIDE + 1)), int(random.integers(0, width - SIDE + 1)))
    return _square(pixels, scaled_to, corner)


def _square(pixels: Pixels, scaled_to: float, corner: tuple[int, int]) -> Pixels:
    factor = scaled_to / min(pixels.shape[:2])
    if factor < 1:
        pixels = np.asarray(cv2.resize(pixels, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA), np.uint8)
    top, left = corner
    return np.ascontiguousarray(pixels[top : top + SIDE, left : left + SIDE])
