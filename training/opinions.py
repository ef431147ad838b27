"""Rated pictures: opinions on the common scale, the part of TID2013, and the kinds of distortion it holds."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml
from numpy.typing import ArrayLike, NDArray

from agenticiqa.tools.synthetic.kinds import KINDS

SCALES = Path(__file__).with_name("scales.yaml")

# TID2013's distortion types, in its order, by our names; its contrast changes go both ways and have no single name.
TID2013_KINDS = (
    "white_noise", "chroma_noise", "correlated_noise", "masked_noise", "high_frequency_noise", "impulse_noise",
    "quantisation", "gaussian_blur", "denoise", "jpeg", "jpeg2000", "jpeg_transmission", "jpeg2000_transmission",
    "pattern_noise", "local_blocks", "mean_shift", "contrast", "saturation_down", "multiplicative_noise",
    "comfort_noise", "noisy_jpeg", "color_quantisation", "chromatic_aberration", "sparse_sampling",
)  # fmt: skip


@dataclass(frozen=True)
class RatedPair:
    """A damaged picture, its original, the kind of damage and the mean opinion."""

    distorted: Path
    reference: Path
    kind: str
    opinion: float

    @property
    def category(self) -> str:
        """The kind's category in the project's vocabulary."""
        return "Contrast" if self.kind == "contrast" else KINDS[self.kind].category


def read_tid2013(data: Path) -> list[RatedPair]:
    """All rated pairs of the part of TID2013."""
    with (data / "scores.csv").open(newline="") as lines:
        return [
            RatedPair(
                data / "distorted" / row["distorted"],
                data / "reference" / row["reference"],
                TID2013_KINDS[int(row["distortion_type"]) - 1],
                float(row["mos"]),
            )
            for row in csv.DictReader(lines)
        ]


def on_common_scale(source: str, opinions: ArrayLike) -> NDArray[np.float64]:
    """Mean opinions of a source on the 1–5 scale, by its map in scales.yaml."""
    knots = yaml.safe_load(SCALES.read_text(encoding="utf-8"))[source]["knots"]
    places, heights = np.array(knots, np.float64).T
    return np.asarray(np.interp(np.asarray(opinions, np.float64), places, heights), np.float64)
