"""A linear judge of colour casts on the trunk's statistics, written into the research heads.

    python -m training.quality_heads.cast --cache DIR --biq2021 DIR --bsds DIR --heads FILE

Fold 0 of BIQ2021's training split as it is stands against 240 of its photographs with a cast (levels 3 to 5) and
against ladders of other damage of sixteen photographs of BSDS500's validation part, so that damage is not called a
cast. No opinion is used. FILE gets the arrays `cast_weights`, `cast_offset` and `cast`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agenticiqa.embedded.trunk import load_backbone, resize
from agenticiqa.tools.synthetic.kinds import LEVELS, mix
from training.biq2021 import read_photographs
from training.manifest import write_arrays
from training.pictures import Pixels, read_pixels
from training.quality_heads.extract import USUAL_KINDS, rated_folds, read_square
from training.quality_heads.ladders import spoil
from training.sources import list_scenes

Values = npt.NDArray[np.float64]
TRUNK, CLIP = 544, 6.0
CASTS, SCENES, VIEWED = 240, 16, 512
PENALTY, DAMAGE_SHARE = 100.0, 0.5
# The judge says −1 of photographs and 1 of casts: 0.4 to 0.6 is beyond what 98 % of photographs reach (0.23). Of the
# least tinted twentieth of a photograph's pixels nine in ten photographs lean less than 8.8 Lab units to one hue.
CAST = (0.4, 0.6, 8.0, 12.0, 1.0)


def fit_cast(natural: Values, casts: Values, damaged: Values) -> tuple[Values, float]:
    """Weights and offset of a ridge regression; casts count as much as photographs, other damage half as much."""
    rows = np.concatenate([natural, casts, damaged])
    wanted = np.repeat([-1.0, 1.0, -1.0], [len(natural), len(casts), len(damaged)])
    shares = [1.0, len(natural) / len(casts), DAMAGE_SHARE * len(natural) / len(damaged)]
    counts = np.repeat(shares, [len(natural), len(casts), len(damaged)])
    middle, mean = counts @ rows / counts.sum(), float(counts @ wanted / counts.sum())
    scaled = (rows - middle) * np.sqrt(counts)[:, None]
    gram = scaled.T @ scaled + PENALTY * np.eye(rows.shape[1])
    weights = np.linalg.solve(gram, scaled.T @ ((wanted - mean) * np.sqrt(counts)))
    return weights, mean - float(middle @ weights)


def cast_copies(biq2021: Path, rows: npt.NDArray[np.intp], random: np.random.Generator) -> Iterator[Pixels]:
    """Photographs of these rows, each with a strong cast."""
    photographs = [p for p in read_photographs(biq2021) if p.split == "train"]
    for row in rows[random.permutation(len(rows))[:CASTS]]:
        level, seed = int(random.integers(3, 6)), int(random.integers(1 << 30))
        yield spoil(read_square(biq2021, photographs[row]), "cast", level, seed)


def damaged_views(bsds: Path) -> Iterator[Pixels]:
    """Ladders of every usual kind on photographs kept apart, as a viewer sees them."""
    scenes = [s for s in list_scenes(bsds, bsds / "none", 6) if s.split == "train"]
    scenes = [s for s in scenes if Path(s.photograph).parent.name == "val"]
    for number in np.random.default_rng(0).permutation(len(scenes))[:SCENES]:
        clean = read_pixels(Path(scenes[number].photograph))
        for parts in [(), *(((kind, level),) for kind in USUAL_KINDS for level in LEVELS)]:
            pixels = mix(clean, parts, int(number)) if parts else clean
            yield resize(pixels, max(1.0, VIEWED / max(pixels.shape[:2])))


def main() -> None:
    """Fit and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("cache", "biq2021", "bsds", "heads"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    given = parser.parse_args()
    arrays: dict[str, Any] = dict(np.load(given.heads))
    held = np.nonzero(rated_folds(given.biq2021, given.cache) == 0)[0]
    photographs = [p for p in read_photographs(given.biq2021) if p.split == "train"]
    sources = (
        (read_square(given.biq2021, photographs[row]) for row in held),
        cast_copies(given.biq2021, held, np.random.default_rng(9)),
        damaged_views(given.bsds),
    )
    weights, offset = fit_cast(*(standardised(_pooled(pictures), arrays) for pictures in sources))
    arrays |= cast_arrays(weights, offset)
    write_arrays(given.heads, arrays)


def standardised(pooled: npt.NDArray[np.float32], arrays: dict[str, Any]) -> Values:
    """Statistics of the trunk as the heads see them."""
    centre, spread = (np.asarray(arrays[name][:TRUNK], np.float64) for name in ("centre", "spread"))
    return np.asarray(np.clip((pooled - centre) / spread, -CLIP, CLIP))


def cast_arrays(weights: Values, offset: float) -> dict[str, npt.NDArray[np.float32]]:
    """The judge as it is stored."""
    found = {"cast_weights": weights, "cast_offset": np.array(offset), "cast": np.array(CAST)}
    return {name: np.asarray(value, np.float32) for name, value in found.items()}


def _pooled(pictures: Iterator[Pixels]) -> npt.NDArray[np.float32]:
    return np.stack([load_backbone().run(pixels)[1] for pixels in pictures])


if __name__ == "__main__":
    main()
