"""Where clean photographs come from, under which terms, and which are held out."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from training.pictures import read_pixels, resize

Terms = Literal["research", "open"]
SIDE = 320
# Every further free photograph with its collection and licence; the files lie in one folder per collection.
FREE_LIST = Path(__file__).with_name("free_photographs.csv")
FREE_SIDES = (SIDE, 560, 900)

# Wallpapers that are photographs; drawings and renderings in the same packages are left out.
FREE_PHOTOGRAPHS = (
    "/usr/share/backgrounds/Kleiber_by_Lukas_Baubkus.jpg",
    *(
        f"/usr/share/backgrounds/mate/nature/{name}.jpg"
        for name in (
            "Aqua",
            "Blinds",
            "Dune",
            "FreshFlower",
            "Garden",
            "GreenMeadow",
            "LadyBird",
            "RainDrops",
            "Storm",
            "TwoWings",
            "Wood",
            "YellowFlower",
        )
    ),
    *(
        f"/usr/share/wallpapers/{name}/contents/images/2560x1600.jpg"
        for name in (
            "BytheWater",
            "ColdRipple",
            "ColorfulCups",
            "DarkestHour",
            "EveningGlow",
            "FallenLeaf",
            "Grey",
            "Kite",
            "OneStandsOut",
            "Path",
            "summer_1am",
        )
    ),
)


@dataclass(frozen=True)
class Scene:
    """A square view of a clean photograph: file, short side it is scaled to, offset in shares, terms, split."""

    photograph: str
    scaled_to: int
    offset: tuple[float, float]
    terms: Terms
    split: str


def list_scenes(bsds: Path, imagenet: Path, seed: int) -> list[Scene]:
    """Every clean view used, one in ten photographs held out by content."""
    random = np.random.default_rng(seed)
    research = sorted(map(str, bsds.rglob("*.jpg"))) + sorted(map(str, imagenet.glob("*.JPEG")))
    scenes = []
    for name in research:
        split = "held" if random.random() < 0.1 else "train"
        scaled_to = 0 if "bsds" in name.lower() else SIDE
        scenes.append(Scene(name, scaled_to, _offset(random), "research", split))
    for number, name in enumerate(FREE_PHOTOGRAPHS):
        split = "held" if number % 8 == 7 else "train"
        scenes.extend(Scene(name, scaled_to, _offset(random), "open", split) for scaled_to in (SIDE, 560))
    return scenes


def list_free_scenes(folder: Path, seed: int) -> list[Scene]:
    """Three views each of the photographs in `free_photographs.csv`, every eighth photograph held out."""
    random = np.random.default_rng(seed)
    with FREE_LIST.open(newline="", encoding="utf-8") as lines:
        names = [str(folder / row["collection"] / row["file"]) for row in csv.DictReader(lines)]
    return [
        Scene(name, scaled_to, _offset(random), "open", "held" if number % 8 == 7 else "train")
        for number, name in enumerate(names)
        for scaled_to in FREE_SIDES
    ]


def view(scene: Scene) -> npt.NDArray[np.uint8] | None:
    """The square of pixels a scene stands for, or None where the photograph is too small to be clean at that size."""
    pixels = read_pixels(Path(scene.photograph))
    height, width = pixels.shape[:2]
    if scene.scaled_to:
        # Shrinking removes the grain and blocks a compressed photograph carries.
        factor = scene.scaled_to / min(height, width)
        if factor > 0.87:
            return None
        pixels = resize(pixels, round(height * factor), round(width * factor))
    height, width = pixels.shape[:2]
    top, left = (int((length - SIDE) * share) for length, share in zip((height, width), scene.offset, strict=True))
    return np.ascontiguousarray(pixels[top : top + SIDE, left : left + SIDE])


def _offset(random: np.random.Generator) -> tuple[float, float]:
    top, left = random.random(2)
    return float(top), float(left)
