"""The full-reference judgement in the field: every size, every coder, enlargement, on photographs of no training list.

    python -m benchmarks.fr_field --free FOLDER [--photographs 30] [--json FILE]

Every second photograph of `training/free_photographs.csv`; the others made the training pairs. Prints each figure with
its limit. One thread; the judgement is the shipped one.
"""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from agenticiqa.embedded.full_reference.judge import shipped_judge
from agenticiqa.embedded.full_reference.judgement import FullReferenceJudgement
from training.fr_extract import crop
from training.fr_field import LADDERS, encode, enlarge, free_photographs
from training.pictures import read_pixels

Pixels = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float64]
MEGAPIXELS = (24.0, 8.0, 2.0, 0.5)
CODERS = ("jpeg", "jpeg2000", "webp", "avif")
LADDER_VIEW = (512, 768)
RISE = 0.05


def main() -> None:
    """Prints every check; writes the figures as JSON if asked."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--free", type=Path, required=True)
    options.add_argument("--photographs", type=int, default=30)
    options.add_argument("--json", type=Path)
    given = options.parse_args()
    cv2.setNumThreads(1)
    figures = field_checks(given.free, given.photographs)
    if given.json:
        given.json.write_text(json.dumps(figures, indent=2) + "\n")


def field_checks(free: Path, photographs: int) -> dict[str, float]:
    """All checks on the photographs kept from training."""
    kept = free_photographs(free)[1::2]
    largest = sorted(kept, key=lambda path: -path.stat().st_size)
    return (
        sizes(largest[: max(2, photographs // 5)])
        | enlargement(largest[: min(20, photographs)])
        | ladders([*kept, *free_photographs(free)[::2]][:photographs])
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


def shrunk(pixels: Pixels, megapixels: float) -> Pixels:
    """The photograph at this size; one that is smaller stays as it is."""
    factor = min(1.0, float(np.sqrt(megapixels * 1e6 / (pixels.shape[0] * pixels.shape[1]))))
    return np.asarray(cv2.resize(pixels, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA), np.uint8)


def enlargement(photographs: list[Path]) -> dict[str, float]:
    """Means over 8-megapixel photographs, shrunk and enlarged again; how many are called enlarged."""
    means: dict[str, float] = {}
    for factor, limit in ((2, "at least 3.8"), (4, "at most 3.2"), (8, "at most 2.3")):
        found: list[FullReferenceJudgement] = []
        for path, kernel in zip(photographs, itertools.cycle(("cubic", "lanczos", "linear")), strict=False):
            picture = shrunk(read_pixels(path), 8.0)
            found.append(shipped_judge().judge_pixels(enlarge(picture, factor, kernel), picture))
        means[f"enlarged.{factor}"] = float(np.mean([one.score for one in found]))
        named = sum(one.change.startswith("enlarged") for one in found)
        means[f"enlarged.{factor}.named"] = named / len(found)
        print(
            f"enlarged ×{factor}: {means[f'enlarged.{factor}']:.2f} ({limit}), called enlarged {named} of {len(found)}"
        )
    return means


def ladders(photographs: list[Path]) -> dict[str, float]:
    """Quality ladders of four coders: steps that rise though quality falls, and scores at equal VSI and MS_SSIM."""
    rises: list[float] = []
    points: list[tuple[str, int, float, float, float]] = []
    for number, path in enumerate(photographs):
        picture = crop(read_pixels(path), LADDER_VIEW, 1.0, np.random.default_rng(number))
        for coder in CODERS:
            judged = [shipped_judge().judge_pixels(encode(picture, coder, step), picture) for step in LADDERS[coder]]
            rises += [worse.score - better.score for worse, better in itertools.pairwise(judged)]
            points += [(coder, number, one.metrics["VSI"], one.metrics["MS_SSIM"], one.score) for one in judged]
    share = float(np.mean(np.array(rises) > RISE))
    print(
        f"ladders of {len(CODERS)} coders on {len(photographs)} photographs, {len(rises)} steps: "
        f"{share:.2%} rise by more than {RISE} as quality falls (limit 1 %), most {max(rises):.2f}"
    )
    return {"ladders.rising": share, "ladders.most": max(rises)} | at_equal_metrics(points)


def at_equal_metrics(points: list[tuple[str, int, float, float, float]]) -> dict[str, float]:
    """How far scores of different coders lie apart where VSI and MS_SSIM agree, pairs of one photograph."""
    apart = [
        abs(first[4] - second[4])
        for first, second in itertools.combinations(points, 2)
        if first[0] != second[0]
        and first[1] == second[1]
        and abs(np.log((1.0001 - first[2]) / (1.0001 - second[2]))) < 0.1
        and abs(np.log((1.001 - first[3]) / (1.001 - second[3]))) < 0.1
    ]
    high = float(np.quantile(apart, 0.95)) if apart else 0.0
    print(
        f"coders at equal VSI and MS_SSIM, {len(apart)} pairs: mean {np.mean(apart or [0]):.2f} apart, "
        f"95 % within {high:.2f}, most {max(apart, default=0):.2f} (limit .4)"
    )
    return {"coders.mean": float(np.mean(apart or [0])), "coders.high": high, "coders.most": max(apart, default=0.0)}


if __name__ == "__main__":
    main()
