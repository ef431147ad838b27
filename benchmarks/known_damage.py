"""Pictures whose damage is known: part of TID2013, rated by people, and held-out photographs we damage ourselves."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agenticiqa.images import load_image
from agenticiqa.state import DistortionCategory, Severity
from agenticiqa.tools.metrics.mdsi import mdsi
from agenticiqa.tools.synthetic.kinds import KINDS, distort
from agenticiqa.values import severity_of
from training.detect_severity import loss_of

Pixels = NDArray[np.uint8]
# TID2013's types that belong to one category, as in the distortion model's own test.
TID_CATEGORIES: dict[int, DistortionCategory] = {
    1: "Noise", 2: "Noise", 5: "Noise", 6: "Noise", 8: "Blurs", 10: "Compression", 11: "Compression",
    16: "Brightness change", 17: "Contrast", 18: "Color distortions", 19: "Noise", 22: "Color distortions",
}  # fmt: skip
# Kinds of damage that belong to one category; the others (a compressed noisy image, say) belong to two.
SYNTHETIC_KINDS = (
    "gaussian_blur", "defocus_blur", "motion_blur", "white_noise", "chroma_noise", "correlated_noise",
    "high_frequency_noise", "impulse_noise", "multiplicative_noise", "jpeg", "webp", "jpeg2000", "banding",
    "color_quantisation", "saturation_down", "saturation_up", "color_cast", "darken", "brighten", "contrast_down",
    "contrast_up", "over_sharpen", "pixelate",
)  # fmt: skip
# Level 1 is barely visible by definition; from 3 on a person names the damage.
VISIBLE_LEVELS = (3, 4, 5)


@dataclass(frozen=True)
class Picture:
    """A test image with its original; `category` is None for an untouched one."""

    source: str
    pixels: Pixels
    original: Pixels
    category: DistortionCategory | None
    severity: Severity
    level: int


def tid_pictures(folder: Path) -> Iterator[Picture]:
    """The part of TID2013 with its severity from people's opinion: the loss on the common 1–5 scale."""
    from training.opinions import on_common_scale

    originals: dict[str, Pixels] = {}
    with (folder / "scores.csv").open() as stream:
        for row in csv.DictReader(stream):
            category = TID_CATEGORIES.get(int(row["distortion_type"]))
            if category is None:
                continue
            original = originals.setdefault(row["reference"], _read(folder, "reference", row["reference"]))
            loss = 5 - float(on_common_scale("tid2013", [float(row["mos"])])[0])
            pixels = _read(folder, "distorted", row["distorted"])
            yield Picture("tid2013", pixels, original, category, severity_of(loss), int(row["level"]))
    for original in originals.values():
        yield Picture("tid2013", original, original, None, "none", 0)


def synthetic_pictures(originals: list[Pixels], count: int, seed: int) -> Iterator[Picture]:
    """`count` damaged copies of held-out photographs, kinds and levels in turn, and every original."""
    random = np.random.default_rng(seed)
    for number in range(count):
        original = originals[int(random.integers(len(originals)))]
        kind = SYNTHETIC_KINDS[number % len(SYNTHETIC_KINDS)]
        level = number // len(SYNTHETIC_KINDS) % 5 + 1
        pixels = distort(original, kind, level, seed + number)
        severity = severity_of(loss_of(mdsi(pixels, original)))
        yield Picture("synthetic", pixels, original, KINDS[kind].category, severity, level)
    for original in originals:
        yield Picture("synthetic", original, original, None, "none", 0)


def held_out_photographs(bsds: Path, imagenet: Path) -> list[Pixels]:
    """The clean views no model was fitted on."""
    from training.sources import list_scenes, view

    scenes = [scene for scene in list_scenes(bsds, imagenet, seed=6) if scene.split == "held"]
    views = (view(scene) for scene in scenes if scene.terms == "research")
    return [pixels for pixels in views if pixels is not None and min(pixels.shape[:2]) >= 256]


def _read(folder: Path, part: str, name: str) -> Pixels:
    return load_image(folder / part / name).pixels
