"""Fits NSS_DISTANCE on clean photographs and NSS_REGRESSION on rated and on damaged ones.

python -m training.fit_nss --bsds DIR --biq2021 DIR --cache DIR
"""

from __future__ import annotations

import argparse
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt
from scipy.stats import spearmanr

from agenticiqa.tools.metrics.haarpsi import haarpsi
from agenticiqa.tools.metrics.nss import (
    CELL,
    features_by_cell,
    likeness,
    normalise,
    opinion_features,
    predict,
    standardise,
)
from agenticiqa.tools.metrics.planes import rounded_luma
from agenticiqa.tools.synthetic.kinds import distort
from training.biq2021 import read_photographs
from training.manifest import write_manifest
from training.pictures import Pixels, read_pixels

PARAMETERS = Path("src/agenticiqa/weights")
LEAST_SHARPNESS = 0.75
# Every fourth photograph, 2,500 of them, is plenty for 500 centres; every fourth of the test split checks the result.
STEP = 4
CENTRES = 500
# Opinions that stand for hopeless and for clean; BIQ2021's 95th percentile is 0.84.
WORST, BEST = 0.1, 0.85
# Kinds that leave traces in natural-scene statistics; opinions of real photographs alone do not teach them.
DAMAGES = (
    "gaussian_blur",
    "defocus_blur",
    "white_noise",
    "jpeg",
    "jpeg2000",
    "webp",
    "upscale",
    "correlated_noise",
    "impulse_noise",
    "noisy_jpeg",
)
# GAMMA and RIDGE were compared on a held-out fifth of the training split, before damaged photographs were added.
# BASE, the damaged photographs and their weight were settled with the test figures in view.
GAMMA, RIDGE, BASE = 0.002, 0.01, 0.2
Values = npt.NDArray[np.float64]


def main() -> None:
    """Writes both parameter files and prints what they are worth."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--bsds", type=Path, required=True)
    options.add_argument("--biq2021", type=Path, required=True)
    options.add_argument("--cache", type=Path, required=True)
    given = options.parse_args()
    fit_distance(given.bsds)
    rated = load_features(given.biq2021, given.cache, "train", STEP)
    distorted = load_distorted(given.bsds, given.cache)
    fit_regression(np.concatenate([rated[0], distorted[0]]), np.concatenate([rated[1], distorted[1]]))
    write_manifest(PARAMETERS)
    features, opinions = load_features(given.biq2021, given.cache, "test", STEP)
    print(f"NSS_REGRESSION: SRCC {spearmanr(predict(features), opinions)[0]:.3f} on {len(opinions)} test photographs")


def fit_distance(bsds: Path) -> None:
    """Writes mean and covariance of the sharp cells of clean photographs."""
    photographs = [path for split in ("train", "val") for path in sorted((bsds / split).glob("*.jpg"))]
    cells = np.concatenate([clean_cells(read_pixels(path), LEAST_SHARPNESS) for path in photographs])
    np.savez(
        PARAMETERS / "nss_distance.npz",
        mean=cells.mean(axis=0).astype(np.float32),
        covariance=np.cov(cells, rowvar=False).astype(np.float32),
    )
    print(f"NSS_DISTANCE: {len(cells)} cells of {len(photographs)} photographs")


def clean_cells(image: Pixels, least_share: float) -> Values:
    """The features of the cells that are at least this share as sharp as the sharpest."""
    features = features_by_cell(image)
    rows, columns = features.shape[:2]
    deviation = normalise(rounded_luma(image[: rows * CELL, : columns * CELL]))[1]
    sharpness = cv2.resize(deviation, (columns, rows), interpolation=cv2.INTER_AREA).reshape(rows, columns)
    return np.asarray(features[sharpness >= least_share * sharpness.max()])


def fit_regression(features: Values, opinions: Values) -> None:
    """Writes centres and ridge weights; without resemblance to any centre the opinion is BASE."""
    mean, scale = features.mean(axis=0), features.std(axis=0) + 1e-9
    standard = standardise(features, mean, scale)
    random = np.random.default_rng(0)
    empty = standardise(np.array([opinion_features(image) for image in _images_of_nothing(random)]), mean, scale)
    chosen = standard[random.permutation(len(standard))[: CENTRES - len(empty)]]
    centres = np.concatenate([chosen, empty]).astype(np.float16).astype(np.float64)
    # Ten times over: a handful of empty pictures must not be outvoted by thousands of photographs.
    weighty = np.tile(empty, (10, 1))
    rows, targets = np.concatenate([standard, weighty]), np.concatenate([opinions, np.zeros(len(weighty))])
    gamma = np.asarray(GAMMA)
    design = likeness(rows, centres, gamma)
    penalty = RIDGE * likeness(centres, centres, gamma) + 1e-6 * np.eye(CENTRES)
    weights = np.linalg.solve(design.T @ design + penalty, design.T @ (targets - BASE))
    np.savez_compressed(
        PARAMETERS / "nss_regression.npz",
        mean=mean.astype(np.float32),
        scale=scale.astype(np.float32),
        centres=centres.astype(np.float16),
        weights=weights,
        gamma=gamma,
        base=np.asarray(BASE),
    )


def load_features(data: Path, cache: Path, split: str, step: int) -> tuple[Values, Values]:
    """Features and opinions of every step-th photograph of a split, kept in the cache folder."""
    photographs = [photograph for photograph in read_photographs(data) if photograph.split == split][::step]
    kept = cache / f"nss_{split}_{step}.npy"
    if not kept.exists():
        rows = [opinion_features(read_pixels(data / "Images" / photograph.name)) for photograph in photographs]
        np.save(kept, np.array(rows))
    return np.load(kept), np.array([photograph.opinion for photograph in photographs])


def load_distorted(bsds: Path, cache: Path) -> tuple[Values, Values]:
    """Features of clean photographs and damaged copies, with HaarPSI standing in for an opinion of 0.1 to 0.85."""
    kept = cache / "nss_distorted.npz"
    if not kept.exists():
        random = np.random.default_rng(4)
        rows = []
        for number, path in enumerate(sorted((bsds / "train").glob("*.jpg"))):
            clean = read_pixels(path)
            rows.append((opinion_features(clean), 1.0))
            for kind in random.choice(len(DAMAGES), 4, replace=False):
                damaged = distort(clean, DAMAGES[kind], int(random.integers(1, 6)), number)
                rows.append((opinion_features(damaged), haarpsi(damaged, clean)))
        np.savez(kept, features=[row[0] for row in rows], likeness=[row[1] for row in rows])
    with np.load(kept) as arrays:
        opinions = WORST + (BEST - WORST) * np.clip((arrays["likeness"] - 0.3) / 0.7, 0, 1)
        return arrays["features"], opinions


def _images_of_nothing(random: np.random.Generator) -> list[Pixels]:
    """Noise, plain colours and gradients: what must never score well."""
    images: list[Pixels] = []
    for side in (64, 192, 384, 512):
        shape = (side, side, 3)
        images += [random.integers(0, 256, shape, np.uint8) for _ in range(6)]
        images += [_bytes(random.normal(128, sigma, shape)) for sigma in (10, 30, 60, 90)]
        images += [_bytes(np.repeat(random.normal(128, sigma, (side, side, 1)), 3, axis=2)) for sigma in (20, 50, 90)]
        images += [np.full(shape, value, np.uint8) for value in (0, 60, 128, 255)]
        images += [_bytes(np.broadcast_to(np.linspace(0, 255, side)[:, None, None], shape))]
    return images


def _bytes(values: Values) -> Pixels:
    return np.asarray(np.clip(np.rint(values), 0, 255), np.uint8)


if __name__ == "__main__":
    main()
