"""Calibrate the intervals on sources of opinions no network was fitted on, and once more without each of them.

    python -m training.quality_heads.intervals --data DIR --biq2021 DIR --cache DIR --weights DIR

The sources are fold 0 of BIQ2021's training split, the part of TID2013, the AVT stills and the AI pictures (folders as
for `benchmarks.accuracy`). Only the width of intervals depends on them, every source counts alike, and the heads in the
weights folder get the calibration.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agenticiqa.embedded.quality.quality_head import STRANGE_WIDENING, QualityHead, error_terms
from agenticiqa.embedded.quality.quality_model import CHOSEN, QualityModel
from agenticiqa.embedded.trunk import load_backbone, load_tail
from agenticiqa.weights import WeightSet
from benchmarks.accuracy import Source, read_ai, read_avt, read_tid2013
from training.biq2021 import read_photographs
from training.manifest import write_arrays, write_manifest
from training.opinions import on_common_scale
from training.pictures import read_pixels
from training.quality_heads.extract import rated_folds
from training.quality_heads.fit import LIKENESS, Arrays, network_outputs, stored

Values = npt.NDArray[np.float64]
# The share on either side: of `research` so that every source is covered that is left out; of `open` a little less than
# 97.5 %, because the mean over sources is wider than most of them need.
LEVELS: dict[WeightSet, float] = {"research": 0.98, "open": 0.97}


def calibrate(residuals: dict[str, tuple[Values, Values]], level: float = 0.97) -> Arrays:
    """Error model and factors from all sources, and from all but each."""
    arrays = _calibration(list(residuals.values()), "", level)
    for left_out in residuals:
        others = [rows for key, rows in residuals.items() if key != left_out]
        arrays |= _calibration(others, f"_without_{left_out}", level)
    return arrays


def _calibration(sources: list[tuple[Values, Values]], suffix: str, level: float) -> Arrays:
    rows = np.concatenate([rows for rows, _ in sources])
    terms, strangeness = rows[:, :-1], rows[:, -1]
    errors = np.concatenate([residual for _, residual in sources])
    weight = np.concatenate([np.full(len(residual), 1 / len(residual)) for _, residual in sources])
    # The mean of log |normal| is −0.635 below the log of its deviation.
    target = np.log(np.abs(errors) + 0.03) + 0.635 - np.log(STRANGE_WIDENING) * strangeness
    scaled = terms * np.sqrt(weight)[:, None]
    model = np.linalg.solve(scaled.T @ scaled + 0.02 * np.eye(terms.shape[1]), scaled.T @ (target * np.sqrt(weight)))
    head = QualityHead({f"error_weights{suffix}": model})
    left_out = suffix.removeprefix("_without_")
    ratios = [residual / head.error(rows, left_out) for rows, residual in sources]
    return {f"error_weights{suffix}": model, f"interval_factors{suffix}": _factors(ratios, level)}


def _factors(ratios: list[Values], level: float) -> Values:
    """Below and above: every source counts alike."""
    values = np.concatenate(ratios)
    weights = np.concatenate([np.full(len(part), 1 / len(part)) for part in ratios])
    return np.array([_quantile(-values, weights, level), _quantile(values, weights, level)])


def _quantile(values: Values, weights: Values, level: float) -> float:
    order = np.argsort(values)
    share = np.cumsum(weights[order]) / weights.sum()
    return float(values[order][np.searchsorted(share, level)])


def judge_files(source: Source, terms: WeightSet, head: QualityHead) -> tuple[Values, Values]:
    """Terms of the error and residuals of one source's pictures."""
    model = QualityModel(load_backbone(), load_tail(terms), load_tail("open"), head)
    judged = [model.judge(read_pixels(path)) for path in source.paths]
    return np.array([j.error_terms for j in judged]), source.scaled - np.array([j.score for j in judged])


def judge_fold(biq2021: Path, cache: Path, terms: WeightSet, arrays: Arrays) -> tuple[Values, Values]:
    """The same of fold 0, for which the kernel and its points of comparison must not have seen it."""
    opinions = np.array([p.opinion for p in read_photographs(biq2021) if p.split == "train"])
    held = np.nonzero(rated_folds(biq2021, cache) == 0)[0]
    statistics = np.load(cache / "rated_statistics.npy", mmap_mode="r")[held]
    others = {name: value for name, value in arrays.items() if name != "fold0_kernel"}
    if terms == "research":
        known = np.delete(np.arange(len(opinions)), held)
        others |= {
            "authentic_points": arrays["authentic_points"][known],
            "authentic_weights": arrays["authentic_weights"][known],
        }
    head = QualityHead(others)
    seen = statistics[:, LIKENESS].astype(np.float64)
    kernel = head.kernel(seen)
    if terms == "research":
        kernel[:, 0] = arrays["fold0_kernel"]
    outputs = network_outputs(arrays, statistics if terms == "research" else statistics[:, LIKENESS])
    novelty = head.novelty(seen)
    quality, gate, disagreement = head.combine(outputs, kernel, np.full(len(held), -9.0), novelty=novelty)
    wanted = on_common_scale("biq2021", opinions[held])
    return error_terms(quality, disagreement, novelty, head.strangeness(novelty, gate)), wanted - quality


def main() -> None:
    """Add the calibration to both heads."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("data", "biq2021", "cache", "weights"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    given = parser.parse_args()
    sources = [read_tid2013(given.data / "tid2013-part"), read_avt(given.data / "avt"), read_ai(given.data / "ai")]
    sets: tuple[WeightSet, ...] = ("research", "open")
    for terms in sets:
        arrays: dict[str, Any] = dict(np.load(given.cache / f"heads_{terms}.npz")) | CHOSEN[terms]
        uncalibrated = {"error_weights": np.zeros(5), "interval_factors": np.ones(2)}
        head = QualityHead(stored(arrays) | uncalibrated)
        residuals = {"biq2021": judge_fold(given.biq2021, given.cache, terms, arrays)}
        residuals |= {source.key: judge_files(source, terms, head) for source in sources}
        calibrated = stored(arrays | calibrate(residuals, LEVELS[terms]))
        write_arrays(given.weights / f"quality_{terms}.npz", calibrated)
    write_manifest(given.weights)


if __name__ == "__main__":
    main()
