"""Fit the heads of both sets, and say how they fare on sources left out.

    python -m training.quality_heads.fit --data DATA --cache CACHE --published WEIGHTS_0_2_0 --weights WEIGHTS
        --records benchmarks/field/records/unreleased

CACHE holds what `training.quality_heads.extract` made. The network's units and the regression of damage are those of
version 0.2.0 (`--published`; `git show` them from its commit): its judge of photographs and, with half the weight, its
judge of damage. The regression of opinions is fitted here on the order of opinions within each of `FITTED`. What is
joined was chosen by leaving each source out and on fold 0 of BIQ2021; the same predictions give the curve to the common
scale and the reach of the intervals, and they are what the ledger of the field holds of sources left out (`--records`).
The `open` set is the published one without its rules.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_factor, cho_solve

from agenticiqa.embedded.quality.quality_head import CLIP, QualityHead
from agenticiqa.evaluation.statistics import srcc
from training.manifest import write_arrays, write_manifest
from training.opinions import on_common_scale
from training.quality_heads.extract import Statistics, load_statistics
from training.rated_sources import Values, ranks

Arrays = dict[str, Any]
Floats = npt.NDArray[np.float32]

# Sources of opinions about quality as a whole; the two of one kind of damage each are only left out.
FITTED = ("biq2021", "mmp2k", "pcuid")
COMPONENTS, WIDTH, RIDGE = 300, 0.7, 0.3
# The research tail was tuned on photographs of BIQ2021: in likeness to them it counts less.
TUNED, TUNED_SHARE = slice(544, 1568), 0.35
# The judge of damage beside the judge of photographs; its middle on the scale of 1 to 5.
DAMAGE_SHARE, DAMAGE_MIDDLE = 0.5, 3.9
# A source nobody has seen lies further off: intervals that hold these shares of what was judged apart hold about 95 and
# 80 of 100 opinions of a source that is left out.
WIDER = {0.95: 0.97, 0.8: 0.85}
KNOTS = (-4.0, -2.5, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 4.0)


@dataclass(frozen=True)
class Kernel:
    """A regression on likeness: where a row lies, the known points, and their weights."""

    projection: Values
    points: Values
    weights: Values
    mean: float
    width: float

    def arrays(self, name: str) -> Arrays:
        """As the head reads them; points as bytes, in steps of each component."""
        step = np.abs(self.points).max(0) / 127 + 1e-12
        return {
            f"{name}_projection": self.projection.astype(np.float16),
            f"{name}_points": np.rint(self.points / step).astype(np.int8), f"{name}_step": step.astype(np.float32),
            f"{name}_weights": self.weights.astype(np.float32), f"{name}_mean": np.float32(self.mean),
            f"{name}_width": np.float32(self.width),
        }  # fmt: skip


def fit_projection(scaled: Floats) -> Values:
    """The leading components of standardised statistics, of mean squared length one."""
    weight = np.ones(scaled.shape[1], np.float32)
    weight[TUNED] = TUNED_SHARE
    seen = scaled * weight
    variances, directions = np.linalg.eigh((seen.T @ seen / len(seen)).astype(np.float64))
    kept = np.argsort(-variances)[:COMPONENTS]
    return np.asarray(weight[:, None] * directions[:, kept] / np.sqrt(variances[kept].sum()))


def fit_likeness(projection: Values, scaled: Sequence[Floats], opinions: Sequence[Values]) -> Kernel:
    """Ridge regression of opinions, by rank within each source."""
    points = np.concatenate([rows @ projection for rows in scaled])
    wanted = np.concatenate([ranks(values) for values in opinions])
    lengths = (points**2).sum(1)
    gram = np.exp(-WIDTH * np.maximum(lengths[:, None] + lengths - 2 * points @ points.T, 0)).astype(np.float32)
    gram[np.diag_indices_from(gram)] += np.float32(RIDGE)
    weights = cho_solve(cho_factor(gram, overwrite_a=True, check_finite=False), wanted.astype(np.float32))
    return Kernel(projection, points, weights.astype(np.float64), 0.0, WIDTH)


def published_network(given: Arrays) -> Arrays:
    """The units of version 0.2.0 with one output: the judge of photographs and half the network of damage."""
    share = DAMAGE_SHARE / 2
    last = {name: np.asarray(given[f"last_{name}"], np.float64) for name in ("weight", "bias")}
    return {name: given[name] for name in ("centre", "spread", "first_weight", "first_bias")} | {
        "last_weight": (last["weight"][:, 0] + share * last["weight"][:, 1]).astype(np.float32),
        "last_bias": np.float32(last["bias"][0] + share * (last["bias"][1] - DAMAGE_MIDDLE)),
    }


def published_kernel(given: Arrays, name: str, share: float, middle: float) -> Kernel:
    """A regression of version 0.2.0 on the network's standardised statistics, with a share of its weight."""
    centre, spread, matrix, points = (
        np.asarray(given[f"{name}_{part}"], np.float64) for part in ("centre", "spread", "projection", "points")
    )
    seen = len(centre)
    projection = np.zeros((len(given["centre"]), matrix.shape[1]))
    own_centre, own_spread = (np.asarray(given[part][:seen], np.float64) for part in ("centre", "spread"))
    projection[:seen] = (own_spread / spread)[:, None] * matrix
    offset = ((own_centre - centre) / spread) @ matrix
    points = points * given.get(f"{name}_step", np.ones(1)) - offset
    weights, mean = share * np.asarray(given[f"{name}_weights"], np.float64), float(given[f"{name}_mean"])
    return Kernel(projection, points, weights, share * (mean - middle), float(given[f"{name}_width"]))


def standardised(given: Arrays, rows: Floats) -> Floats:
    """Statistics on the network's standard scale."""
    return np.asarray(np.clip((rows - given["centre"]) / given["spread"], -CLIP, CLIP), np.float32)


NO_CURVE = {"scale_from": np.array([-9.0, 9.0]), "scale_to": np.array([-9.0, 9.0])}


def judged_apart(
    published: Arrays, sources: dict[str, Statistics], fixed: Arrays, projection: Values
) -> dict[str, tuple[Values, Values, npt.NDArray[np.str_]]]:
    """What heads that never saw them say of fold 0 of BIQ2021 and of every other source, with opinions and names."""
    scaled = {name: standardised(published, source.rows) for name, source in sources.items()}
    taught = {name: np.ones(len(scaled[name]), bool) for name in FITTED} | {"biq2021": sources["biq2021"].folds != 0}
    heads: dict[tuple[str, ...], QualityHead] = {}
    found = {}
    for left_out in sources:
        others = tuple(name for name in FITTED if name != left_out or name == "biq2021")
        if others not in heads:
            rows_of = [scaled[name][taught[name]] for name in others]
            kernel = fit_likeness(projection, rows_of, [sources[name].opinions[taught[name]] for name in others])
            heads[others] = QualityHead(fixed | kernel.arrays("likeness") | NO_CURVE)
        head = heads[others]
        source = sources[left_out]
        rows = source.folds == 0 if left_out == "biq2021" else np.ones(len(source.rows), bool)
        said = head.standard(source.rows[rows].astype(np.float64))
        found[left_out] = (
            said,
            source.opinions[rows],
            source.names[rows],
        )
    return found


def fit_curve(said: dict[str, Values], wanted: dict[str, Values]) -> Arrays:
    """The rising curve from the head's own scale to the common one, each source counting alike."""
    from sklearn.isotonic import IsotonicRegression

    x, y = (np.concatenate(list(part.values())) for part in (said, wanted))
    weight = np.concatenate([np.full(len(part), 1 / len(part)) for part in said.values()])
    curve = IsotonicRegression(out_of_bounds="clip").fit(x, y, sample_weight=weight)
    smooth = [float(np.mean(curve.predict(np.linspace(knot - 0.4, knot + 0.4, 41)))) for knot in KNOTS[1:-1]]
    ends = [1.0, *smooth, 5.0]
    return {"scale_from": np.array(KNOTS, np.float32), "scale_to": np.maximum.accumulate(ends).astype(np.float32)}


def reach(residuals: Sequence[Values], level: float) -> Values:
    """How far below and above the score opinions lie, each source counting alike."""
    low, high = middle(residuals, level)
    return np.array([max(-low, 0.05), max(high, 0.05)], np.float32)


def middle(sources: Sequence[Values], level: float) -> tuple[float, float]:
    """The ends of the middle share of what lies in these sources, each counting alike."""
    values = np.concatenate(sources)
    weights = np.concatenate([np.full(len(part), 1 / len(part)) for part in sources])
    order = np.argsort(values)
    share = np.cumsum(weights[order]) / weights.sum()
    places = np.searchsorted(share, ((1 - level) / 2, (1 + level) / 2))
    low, high = values[order][np.minimum(places, len(values) - 1)]
    return float(low), float(high)


def width_without_score(sources: Sequence[Values], wanted: Values, held: float) -> float:
    """How wide the interval is that knows no picture, only opinions of these sources, and holds as many of others."""
    for level in np.linspace(0.01, 1, 991):
        low, high = middle(sources, float(level))
        if ((wanted >= low) & (wanted <= high)).mean() >= held:
            return high - low
    return 4.0


def calibrated(said: dict[str, Values], wanted: dict[str, Values], names: Sequence[str]) -> Arrays:
    """Curve and intervals from what was judged apart in these sources."""
    arrays = fit_curve({name: said[name] for name in names}, {name: wanted[name] for name in names})
    residuals = [wanted[name] - np.interp(said[name], arrays["scale_from"], arrays["scale_to"]) for name in names]
    error = np.sqrt(np.mean([np.mean(part**2) for part in residuals]))
    return arrays | {
        "reach95": reach(residuals, WIDER[0.95]),
        "reach80": reach(residuals, WIDER[0.8]),
        "error": np.float32(error),
    }


def write_records(folder: Path, left_out: str, names: npt.NDArray[np.str_], said: Values, arrays: Arrays) -> None:
    """What was said of a source by heads and a calibration without it, as the ledger reads it."""
    score = np.interp(said, arrays["scale_from"], arrays["scale_to"])
    (below, above), (near_below, near_above) = arrays["reach95"], arrays["reach80"]
    columns = [score, *(np.clip(score + far, 1, 5) for far in (-below, above, -near_below, near_above))]
    target = folder / f"{left_out}-{'folds' if left_out == 'biq2021' else 'left-out'}.csv"
    with target.open("w", newline="", encoding="utf-8") as lines:
        writer = csv.writer(lines, lineterminator="\n")
        writer.writerow(("id", "score", "low", "high", "low80", "high80"))
        writer.writerows((name, *(f"{v:.4f}" for v in row)) for name, *row in zip(names, *columns, strict=True))


def coverage(said: dict[str, Values], wanted: dict[str, Values]) -> list[str]:
    """Coverage and width on each source by a calibration that left it out, beside constant intervals."""
    lines = []
    for left_out in said:
        arrays = calibrated(said, wanted, without(left_out))
        score = np.interp(said[left_out], arrays["scale_from"], arrays["scale_to"])
        for name, level in (("reach95", 0.95), ("reach80", 0.8)):
            below, above = arrays[name]
            low, high = np.maximum(score - below, 1), np.minimum(score + above, 5)
            held = float(((wanted[left_out] >= low) & (wanted[left_out] <= high)).mean())
            own = np.quantile(wanted[left_out] - score, [(1 - level) / 2, (1 + level) / 2])
            blind = width_without_score([wanted[name] for name in without(left_out)], wanted[left_out], held)
            lines.append(
                f"{left_out}: {level:.0%} interval holds {held:.1%}, width {np.mean(high - low):.2f}, "
                f"a constant one of this source {own[1] - own[0]:.2f}, as many without a score {blind:.2f}"
            )
    return lines


def without(left_out: str) -> list[str]:
    """The sources of opinions as a whole but this one."""
    return [name for name in FITTED if name != left_out]


def fit_research(published: Arrays, sources: dict[str, Statistics], records: Path | None = None) -> Arrays:
    """The research heads; prints how they fare where they were not taught, and writes it as records."""
    scaled = [standardised(published, sources[name].rows) for name in FITTED]
    projection = fit_projection(np.concatenate(scaled))
    damage = published_kernel(published, "synthetic", DAMAGE_SHARE / 2, DAMAGE_MIDDLE)
    fixed = published_network(published) | damage.arrays("damage")
    apart = judged_apart(published, sources, fixed, projection)
    print("left out:", {name: round(srcc(said, wanted), 4) for name, (said, wanted, _) in apart.items()})
    said = {name: values for name, (values, *_) in apart.items()}
    wanted = {name: on_common_scale(name, opinions) for name, (_, opinions, _) in apart.items()}
    for left_out, (values, _, names) in apart.items():
        if records:
            write_records(records, left_out, names, values, calibrated(said, wanted, without(left_out)))
    print("\n".join(coverage(said, wanted)))
    everything = fit_likeness(projection, scaled, [sources[name].opinions for name in FITTED])
    return fixed | everything.arrays("likeness") | calibrated(said, wanted, FITTED)


def fit_open(published: Arrays, sources: dict[str, Statistics]) -> Arrays:
    """The open heads: the published ones as they are, joined like the others; only intervals come from opinions."""
    open_columns = np.r_[0:544, 1568:2592]
    damage = published_kernel(published, "synthetic", DAMAGE_SHARE / 2, DAMAGE_MIDDLE)
    likeness = published_kernel(published, "authentic", 1.0, 0.0)
    curve = {"scale_from": np.array([-4.0, -2.0, 2.0, 4.0]), "scale_to": np.array([1.0, 1.2, 4.8, 5.0])}
    arrays = published_network(published) | damage.arrays("damage") | likeness.arrays("likeness") | curve
    head, residuals = QualityHead(arrays), []
    for name, source in sources.items():
        rows = np.nonzero(source.folds == 0)[0] if name == "biq2021" else np.arange(len(source.rows))
        score = head.on_scale(head.standard(source.rows[rows][:, open_columns].astype(np.float64)))
        print("open", name, round(srcc(score, source.opinions[rows]), 4))
        if name == "biq2021":
            residuals.append(on_common_scale(name, source.opinions[rows]) - score)
    error = np.sqrt(np.mean([np.mean(part**2) for part in residuals]))
    return arrays | {
        "reach95": reach(residuals, WIDER[0.95]),
        "reach80": reach(residuals, WIDER[0.8]),
        "error": np.float32(error),
    }


def main() -> None:
    """Fit and write both sets."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("data", "cache", "published", "weights"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--records", type=Path, help="where the ledger keeps what was said of sources left out")
    given = parser.parse_args()
    sources = load_statistics(given.data, given.cache)
    print({name: len(source.rows) for name, source in sources.items()}, flush=True)
    research, free = (dict(np.load(given.published / f"quality_{terms}.npz")) for terms in ("research", "open"))
    write_arrays(given.weights / "quality_research.npz", fit_research(research, sources, given.records))
    write_arrays(given.weights / "quality_open.npz", fit_open(free, sources))
    write_manifest(given.weights)


if __name__ == "__main__":
    main()
