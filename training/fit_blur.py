"""Fits the blur radius of `tools.metrics.blur_radius` on clean photographs blurred by known amounts.

python -m training.fit_blur --bsds DIR --imagenet DIR
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from agenticiqa.tools.metrics.blur_radius import OWN_SOFTNESS, blur_radius, edge_features, expand
from agenticiqa.tools.metrics.planes import rounded_luma
from agenticiqa.tools.synthetic.degradations import gaussian_blur
from training.manifest import write_manifest
from training.pictures import Pixels, read_pixels, resize

DESTINATION = Path("src/agenticiqa/weights/blur_radius.npz")
TEST_RADII = (0.6, 1.1, 1.9, 3.2, 5.5)
RIDGE = 0.1
Values = npt.NDArray[np.float64]


def main() -> None:
    """Fits, writes the parameters and prints how often the radius is within a quarter of the truth."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--bsds", type=Path, required=True)
    options.add_argument("--imagenet", type=Path, required=True)
    given = options.parse_args()
    random = np.random.default_rng(0)
    fit([*_bsds(given.bsds, "train"), *_bsds(given.bsds, "val"), *_shrunken(given.imagenet, 0, random)], random)
    for name, pictures in (("BSDS500 test", _bsds(given.bsds, "test")), ("held", _shrunken(given.imagenet, 1, random))):
        print(name, "within 25 %:", _hits(list(pictures)))


def fit(photographs: list[Pixels], random: np.random.Generator) -> None:
    """Writes ridge weights from edge features to log softness."""
    features, radii = [], []
    for photograph in photographs:
        for radius in (0.0, *np.exp(random.uniform(np.log(0.4), np.log(8), 5))):
            found = edge_features(rounded_luma(_blurred(photograph, radius)))
            if found is not None:
                features.append(found)
                radii.append(radius)
    rows = np.array(features)
    mean, scale = rows.mean(axis=0), rows.std(axis=0)
    design = expand(rows, mean, scale)
    softness = np.log(np.hypot(radii, OWN_SOFTNESS))
    weights = np.linalg.solve(design.T @ design + RIDGE * np.eye(design.shape[1]), design.T @ softness)
    np.savez(DESTINATION, mean=mean, scale=scale, weights=weights)
    write_manifest(DESTINATION.parent)


def _hits(photographs: list[Pixels]) -> dict[float, float]:
    """The share of photographs whose radius is found within a quarter, by true radius."""
    return {
        radius: float(np.mean([abs(blur_radius(_blurred(p, radius)) / radius - 1) <= 0.25 for p in photographs]))
        for radius in TEST_RADII
    }


def _blurred(photograph: Pixels, radius: float) -> Pixels:
    if radius == 0:
        return photograph
    blurred = gaussian_blur(photograph, radius, np.random.default_rng(0))
    return np.asarray(np.clip(np.rint(blurred), 0, 255), np.uint8)


def _bsds(folder: Path, split: str) -> Iterable[Pixels]:
    return (read_pixels(path) for path in sorted((folder / split).glob("*.jpg")))


def _shrunken(folder: Path, parity: int, random: np.random.Generator) -> Iterable[Pixels]:
    """Every fourth photograph, shrunk so that it is sharp; the two parities share none."""
    for path in sorted(folder.glob("*.JPEG"))[2 * parity :: 4]:
        pixels = read_pixels(path)
        factor = random.uniform(0.45, 0.7)
        if min(pixels.shape[:2]) >= 330:
            yield resize(pixels, round(pixels.shape[0] * factor), round(pixels.shape[1] * factor))


if __name__ == "__main__":
    main()
