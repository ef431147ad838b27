"""The full-reference judgement in the field: every size, every coder, enlargement, on photographs of no training list.

    python -m benchmarks.fr_field --free FOLDER [--photographs 30] [--cache FOLDER] [--json FILE]

Every second photograph of `training/free_photographs.csv`, whose others made the training pairs, and those of
`benchmarks/fr_photographs.csv`. Prints each figure with its limit. One thread; the judgement is the shipped one.
"""

from __future__ import annotations

import argparse
import itertools
import json
import tempfile
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from agenticiqa.embedded.full_reference.judge import PairJudgement, shipped_judge
from benchmarks.fr_ladders import benchmark_photographs, ladders, measured
from training.fr_extract import HALF, shrunk
from training.fr_field import encode, enlarge
from training.pictures import read_pixels

Pixels = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float64]
MEGAPIXELS = (24.0, 8.0, 2.0, 0.5)


def main() -> None:
    """Prints every check; writes the figures as JSON if asked."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--free", type=Path, required=True)
    options.add_argument("--photographs", type=int, default=30)
    options.add_argument("--cache", type=Path, help="keeps the measured ladders")
    options.add_argument("--json", type=Path)
    given = options.parse_args()
    cv2.setNumThreads(1)
    figures = field_checks(given.free, given.photographs, given.cache)
    if given.json:
        given.json.write_text(json.dumps(figures, indent=2) + "\n")


def field_checks(free: Path, photographs: int, cache: Path | None = None) -> dict[str, float]:
    """All checks on the photographs kept from training."""
    kept = benchmark_photographs(free)
    largest = sorted(kept, key=lambda path: -path.stat().st_size)
    with tempfile.TemporaryDirectory() as scratch:
        pairs = measured(kept[:photographs], cache or Path(scratch))
    return (
        sizes(largest[: max(2, photographs // 5)])
        | enlargement(largest[: min(20, photographs)])
        | ladders(pairs, f"{HALF} megapixels")
    )


def score(test: Pixels, reference: Pixels) -> float:
    """The shipped judgement's score, seen natively."""
    return shipped_judge().judge_pixels(test, reference).score


def sizes(photographs: list[Path]) -> dict[str, float]:
    """One photograph at four sizes, damaged equally per pixel: how far the scores lie apart, means over photographs."""
    apart: dict[str, list[float]] = {}
    for path in photographs:
        versions = [shrunk(read_pixels(path), size) for size in MEGAPIXELS]
        for name, damage in same_per_pixel().items():
            found = [score(damage(version), version) for version in versions]
            apart.setdefault(name, []).append(max(found) - min(found))
    means = {f"sizes.{name}": float(np.mean(values)) for name, values in apart.items()}
    text = ", ".join(f"{name} {value:.2f}" for name, value in means.items())
    print(f"sizes .5, 2, 8, 24 MP, {len(photographs)} photographs, scores apart (limit .4): {text}")
    return means


def same_per_pixel() -> dict[str, Callable[[Pixels], Pixels]]:
    """Damage that is the same for every pixel, whatever the size."""

    def noise(image: Pixels) -> Pixels:
        grain = np.random.default_rng(0).normal(0, 12, image.shape).astype(np.float32)
        return np.asarray(np.clip(np.rint(image + grain), 0, 255), np.uint8)

    def cast(image: Pixels) -> Pixels:
        return np.asarray(np.clip(image + np.array([24.0, 0.0, -24.0], np.float32), 0, 255), np.uint8)

    return {
        "noise": noise,
        "jpeg": lambda image: encode(image, "jpeg", 25),
        "cast": cast,
        "blur": lambda image: np.asarray(cv2.GaussianBlur(image, (0, 0), 2.0), np.uint8),
    }


def enlargement(photographs: list[Path]) -> dict[str, float]:
    """Means over 8-megapixel photographs, shrunk and enlarged again; how many are called enlarged."""
    means: dict[str, float] = {}
    for factor, limit in ((2, "at least 3.8"), (4, "at most 3.2"), (8, "at most 2.3")):
        found: list[PairJudgement] = []
        for path, kernel in zip(photographs, itertools.cycle(("cubic", "lanczos", "linear")), strict=False):
            picture = shrunk(read_pixels(path), 8.0)
            found.append(shipped_judge().judge_pixels(enlarge(picture, factor, kernel), picture))
        means[f"enlarged.{factor}"] = float(np.mean([one.score for one in found]))
        named = sum(one.kind in ("upscale", "pixelate") for one in found)
        means[f"enlarged.{factor}.named"] = named / len(found)
        print(
            f"enlarged ×{factor}: {means[f'enlarged.{factor}']:.2f} ({limit}), called enlarged {named} of {len(found)}"
        )
    return means


if __name__ == "__main__":
    main()
