"""Quality ladders of four coders: the full-reference score must fall with quality and treat coders alike.

    python -m benchmarks.fr_ladders --free FOLDER --cache FOLDER [--native 2]

Whole photographs of no training list, shrunk to half a megapixel, and with `--native` a few at their own size. The
measured pairs are kept in the cache, one file per photograph, so that a run can be stopped and taken up again. Prints
each figure with its limit; the score is the shipped judgement's.
"""

from __future__ import annotations

import argparse
import itertools
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from agenticiqa.embedded.full_reference.pair_model import load_model
from training.fr_data import Pairs, joined, read_made
from training.fr_extract import HALF, LADDER_CODERS, coder_file, extract_coders
from training.fr_field import kept_photographs, listed_photographs

Floats = npt.NDArray[np.float64]
# Free photographs beside those of `training/free_photographs.csv`; no model saw them.
MORE = Path(__file__).with_name("fr_photographs.csv")
RISE = 0.05
# What counts as equal: losses of VSI and MS_SSIM, 1 minus the metric, at most a tenth apart.
EQUAL = 0.1


@dataclass(frozen=True)
class Step:
    """One photograph after one coder at one quality."""

    photograph: str
    coder: str
    quality: int
    vsi: float
    ms_ssim: float
    score: float


def main() -> None:
    """Prints every figure."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--free", type=Path, required=True)
    options.add_argument("--cache", type=Path, required=True)
    options.add_argument("--photographs", type=int, default=30)
    options.add_argument("--native", type=int, default=0, help="how many at their own size, at every second quality")
    given = options.parse_args()
    cv2.setNumThreads(1)
    chosen = benchmark_photographs(given.free)
    ladders(measured(chosen[: given.photographs], given.cache), f"{HALF} megapixels")
    if given.native:
        large = sorted(chosen, key=lambda path: -path.stat().st_size)[: given.native]
        ladders(measured(large, given.cache / "native", None), "native size")


def benchmark_photographs(free: Path) -> list[Path]:
    """The photographs that made no training pairs, as far as they lie in this folder."""
    more = [path for path in listed_photographs(free, MORE) if path.is_file()]
    return [*kept_photographs(free), *more]


def measured(photographs: list[Path], cache: Path, megapixels: float | None = HALF) -> Pairs:
    """Features of every step of every coder on these photographs, measured now where the cache has them not."""
    extract_coders(photographs, cache, megapixels)
    return joined(*(read_made(coder_file(path, cache)) for path in photographs))


def ladders(pairs: Pairs, size: str) -> dict[str, float]:
    """Steps that rise though quality falls, by coder, and scores of different coders at equal VSI and MS_SSIM."""
    steps = scored(pairs)
    rises = {coder: rises_of(steps, coder) for coder in LADDER_CODERS}
    every = np.concatenate(list(rises.values()))
    share = float(np.mean(every > RISE))
    count = len(np.unique(pairs.group))
    print(
        f"ladders of {len(LADDER_CODERS)} coders on {count} photographs, {size}, {len(every)} steps: {share:.2%} rise "
        f"by more than {RISE} as quality falls (limit 1 %), most {every.max():.2f}; "
        + ", ".join(f"{coder} {np.mean(one > RISE):.1%}, most {one.max():.2f}" for coder, one in rises.items())
    )
    print_avif(steps)
    return {"ladders.rising": share, "ladders.most": float(every.max())} | at_equal_metrics(steps)


def scored(pairs: Pairs) -> list[Step]:
    """Every pair with the shipped model's score."""
    scores = [one.score for one in load_model("research").predict_rows(pairs.features)]
    columns = zip(
        pairs.group, pairs.kind, pairs.level, pairs.metric("VSI"), pairs.metric("MS_SSIM"), scores, strict=True
    )
    return [Step(str(name), str(coder), int(quality), *map(float, rest)) for name, coder, quality, *rest in columns]


def rises_of(steps: list[Step], coder: str) -> Floats:
    """How much the score rises with each step down of a coder's quality; steps are stored from poor to good."""
    mine = [step for step in steps if step.coder == coder]
    pairs = itertools.pairwise(mine)
    return np.array([worse.score - better.score for worse, better in pairs if worse.photograph == better.photograph])


def print_avif(steps: list[Step]) -> None:
    """On how many photographs AVIF at quality 90 is given less than at 80."""
    by_quality = {(step.photograph, step.quality): step.score for step in steps if step.coder == "avif"}
    gains = [score - by_quality[name, 80] for (name, quality), score in by_quality.items() if quality == 90]
    if gains:
        lowered = sum(gain < 0 for gain in gains)
        print(f"AVIF 80 to 90: lowered on {lowered} of {len(gains)}, by at most {max(0.0, -min(gains)):.3f}")


def at_equal_metrics(steps: list[Step]) -> dict[str, float]:
    """How far scores of different coders lie apart where VSI and MS_SSIM agree, pairs of one photograph."""
    apart = [
        abs(first.score - second.score)
        for first, second in itertools.combinations(steps, 2)
        if first.coder != second.coder and first.photograph == second.photograph and alike(first, second)
    ]
    high = float(np.quantile(apart, 0.95)) if apart else 0.0
    print(
        f"coders at equal VSI and MS_SSIM, {len(apart)} pairs: mean {np.mean(apart or [0]):.2f} apart, "
        f"95 % within {high:.2f}, most {max(apart, default=0):.2f} (limit .4)"
    )
    return {"coders.mean": float(np.mean(apart or [0])), "coders.high": high, "coders.most": max(apart, default=0.0)}


def alike(first: Step, second: Step) -> bool:
    """Whether both metrics lose about the same."""
    vsi = np.log((1.0001 - first.vsi) / (1.0001 - second.vsi))
    ms_ssim = np.log((1.001 - first.ms_ssim) / (1.001 - second.ms_ssim))
    return bool(abs(vsi) < EQUAL and abs(ms_ssim) < EQUAL)


if __name__ == "__main__":
    main()
