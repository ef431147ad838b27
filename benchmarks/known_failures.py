"""Pictures the score was once wrong about, made from well-rated photographs, each row with what is wanted of it.

Called by `python -m benchmarks.accuracy` where BIQ2021 is at hand: forty photographs of its test split without twins in
the training split, drawn from the better half; large pictures are made of the first ten of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from agenticiqa.embedded.quality.quality_model import QualityModel, load_quality_model
from agenticiqa.weights import WeightSet
from training.pictures import Pixels, read_pixels
from training.quality_heads.ladders import rewrite, spoil

PHOTOGRAPHS, LARGE = 40, 10
LIGHT_FILES = (97, 93, 88, 82, 75, 66)


@dataclass(frozen=True)
class Failure:
    """One kind of picture: how it is made, on how many photographs, and what is wanted of the scores."""

    name: str
    make: Callable[[Pixels, int], Pixels]
    wanted: str
    count: int = PHOTOGRAPHS


def report_failures(paths: list[Path], terms: WeightSet) -> None:
    """One line per kind: the mean as it was, the mean as it is spoilt, and the mean and largest change."""
    model = load_quality_model(terms)
    pictures = [read_pixels(path) for path in paths[:PHOTOGRAPHS]]
    before = np.array([model.judge(pixels).score for pixels in pictures])
    print(f"\n## known failures, {terms}: {len(pictures)} photographs, mean {before.mean():.2f}")
    for failure in FAILURES:
        count = min(failure.count, len(pictures))
        after = np.array([model.judge(failure.make(pictures[n], n)).score for n in range(count)])
        change = after - before[:count]
        print(
            f"{failure.name:34s} mean {after.mean():.2f}  change {change.mean():+.2f} "
            f"(largest {change[np.abs(change).argmax()]:+.2f}, mean size {np.abs(change).mean():.2f}), n {count}; "
            f"wanted: {failure.wanted}"
        )
    _report_light_files("light JPEG files", model, pictures)
    _report_light_files("light JPEG files off the own grid", model, [pixels[3:, 5:] for pixels in pictures])


def _report_light_files(name: str, model: QualityModel, pictures: list[Pixels]) -> None:
    """How far the score of a file written once more rises above the photograph's or a finer file's.

    BIQ2021's photographs are files of quality 75 themselves: written at 75 again they are what they were, and stand
    above their copy of quality 82, which is truly worse. Cut off their own block grid, a finer file is a better one.
    """
    rises = []
    for pixels in pictures:
        versions = [pixels, *(rewrite(pixels, quality) for quality in LIGHT_FILES)]
        rises.append(max(0.0, float(np.max(np.diff([model.judge(version).score for version in versions])))))
    print(
        f"{name:34s} largest rise from step to step {np.mean(rises):.3f} in the mean, "
        f"{max(rises):.2f} at most; wanted: at most 0.1"
    )


def _grey(pixels: Pixels, seed: int) -> Pixels:
    return np.repeat(np.asarray(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY), np.uint8)[..., None], 3, 2)


def _dark(pixels: Pixels, seed: int) -> Pixels:
    return np.asarray(np.rint(pixels * 0.2), np.uint8)


def _flat(pixels: Pixels, seed: int) -> Pixels:
    return np.asarray(np.rint(pixels.mean() + (pixels - pixels.mean()) * 0.25), np.uint8)


def _enlarged(pixels: Pixels, seed: int) -> Pixels:
    return np.asarray(cv2.resize(pixels, None, fx=4, fy=4, interpolation=cv2.INTER_CUBIC), np.uint8)


def _enlarged_in_place(pixels: Pixels, seed: int) -> Pixels:
    small = cv2.resize(pixels, None, fx=0.25, fy=0.25, interpolation=cv2.INTER_AREA)
    return np.asarray(cv2.resize(small, pixels.shape[1::-1], interpolation=cv2.INTER_CUBIC), np.uint8)


def _forty_eight_megapixels(pixels: Pixels, seed: int) -> Pixels:
    large = cv2.resize(pixels, (8000, 6000), interpolation=cv2.INTER_CUBIC)
    return np.asarray(cv2.GaussianBlur(large, (0, 0), 6), np.uint8)


def _night_in_motion(pixels: Pixels, seed: int) -> Pixels:
    return spoil(spoil(pixels, "motion", 4, seed), "dark", 3, seed)


def _one_channel_grain(pixels: Pixels, seed: int) -> Pixels:
    grain = np.random.default_rng(seed).normal(0, 16, pixels.shape[:2])
    noisy = pixels.astype(np.float32)
    noisy[..., seed % 3] += grain
    return np.clip(np.rint(noisy), 0, 255).astype(np.uint8)


def _cast(pixels: Pixels, seed: int) -> Pixels:
    return spoil(pixels, "cast", 4, seed)


FAILURES = (
    Failure("black and white", _grey, "mean change within 0.3"),
    Failure("dark, values x 0.2", _dark, "mean at most 3.2"),
    Failure("flat, contrast x 0.25", _flat, "mean at most 3.2"),
    Failure("enlarged x 4", _enlarged, "mean at most 3.3", LARGE * 2),
    Failure("shrunk to a quarter and enlarged", _enlarged_in_place, "mean at most 3.3"),
    Failure("strong colour cast", _cast, "a level lower"),
    Failure("night smeared by motion", _night_in_motion, "mean at most 2.5"),
    Failure("blurred at 48 megapixels", _forty_eight_megapixels, "mean at most 3.3", LARGE),
    Failure("grain in one channel", _one_channel_grain, "half a level lower"),
)
