"""Fit the heads of both sets on the statistics `training.quality_heads.extract` made, and write them.

    python -m training.quality_heads.fit --cache DIR --biq2021 DIR --published DIR [--checks DIR] --weights DIR

`--published` holds the heads of version 0.1.0 (`quality_research.npz`, `quality_open.npz`), whose units are kept and to
which new ones are added. Fold 0 of BIQ2021's training split and every eighth free photograph are in no fit; they choose
the shares. The gate and the cost of few tones are chosen by hand (`CHOSEN` in `embedded.quality.model`), intervals are
calibrated by `training.quality_heads.intervals`.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import torch
from torch import Tensor, nn

from agenticiqa.evaluation.statistics import srcc
from training.biq2021 import read_photographs
from training.kernel import Kernel, Projection, fit_kernel, fit_projection
from training.manifest import write_arrays
from training.quality_heads.correct import Correction, Course, Group, Lessons, correct
from training.quality_heads.extract import rated_folds
from training.scales import standardised_scale
from training.targets import label, read_table

Arrays = dict[str, npt.NDArray[Any]]
Values = npt.NDArray[np.float64]
TRUNK, TAIL = 544, 1024
# The kernels of likeness look at trunk and open tail: the research tail knows the rated photographs by heart.
LIKENESS = np.r_[0:TRUNK, TRUNK + TAIL : TRUNK + 2 * TAIL]
COMPONENTS, WIDTH, RIDGE = 200, 0.5, 0.07
OPEN_COMPONENTS, OPEN_RIDGE, OPEN_PENALTY = 30, 0.5, 1000.0
SHARES = tuple(np.arange(0, 1.01, 0.1))
PICTURES_OF_ONE = 17
SYNTHETIC_SHARE, OPEN_SYNTHETIC_SHARE = 0.5, 0.7
# Of damage both judges see, the second thinks half a level worse; level with the first, the gate may turn unnoticed.
SYNTHETIC_OFFSET = 0.5
# At their own resolution large free photographs reach 1.9 to 4.1, photographs enlarged four times 1.6.
CLOSEUP = (2.05, 2.8, 1.8)
OPEN_CLOSEUP = (2.3, 1.5, 1.2)
LARGE = ("points", "projection", "first_weight")


class Published(nn.Module):
    """The head of version 0.1.0 on statistics already standardised; it sees trunk and research tail only."""

    def __init__(self, arrays: Arrays) -> None:
        super().__init__()
        for name in ("first_weight", "first_bias", "last_weight", "last_bias"):
            self.register_buffer(name, torch.from_numpy(np.asarray(arrays[name], np.float32)))

    def forward(self, statistics: Tensor) -> Tensor:
        seen = statistics[:, : len(self.first_weight)]
        found: Tensor = torch.relu(seen @ self.first_weight + self.first_bias) @ self.last_weight + self.last_bias
        return found


def fit_research(cache: Path, biq2021: Path, published: Arrays, seed: int) -> Arrays:
    """The heads taught by opinions."""
    opinions = np.array([p.opinion for p in read_photographs(biq2021) if p.split == "train"])
    statistics = np.load(cache / "rated_statistics.npy")[: len(opinions)]
    folds = rated_folds(biq2021, cache)
    scale = standardised_scale("biq2021", opinions)
    standard = ((opinions - opinions.mean()) / opinions.std()).astype(np.float32)
    centre, spread = _standardisation(published, statistics)
    lessons = _lessons(cache, statistics, standard, folds, scale, (centre, spread))
    correction = correct(Published(published), lessons, Course(), seed)
    arrays = _joined(published, correction, centre, spread)
    taught, held = np.nonzero(folds != 0)[0], np.nonzero(folds == 0)[0]
    projection = fit_projection(statistics[taught][:, LIKENESS], COMPONENTS)
    points = projection(statistics[:, LIKENESS])
    kept_apart = fit_kernel(points[taught], standard[taught].astype(np.float64), WIDTH, RIDGE)
    network = network_outputs(arrays, statistics[held])[:, 0]
    share = _best_share(network, kept_apart(points[held]), standard[held].astype(np.float64))
    everything = fit_kernel(points, standard.astype(np.float64), WIDTH, RIDGE)
    arrays |= _kernel_arrays("authentic", projection, everything)
    arrays |= {name: published[name] for name in published if name.startswith("synthetic_") or name == "grain"}
    arrays |= {"fold0_kernel": kept_apart(points[held])}
    return raised(arrays) | scale | _settings((share, SYNTHETIC_SHARE), CLOSEUP)


def fit_open(cache: Path, published: Arrays) -> Arrays:
    """The heads taught by our own ratings of free photographs and by damage made to them."""
    table = pd.read_csv(cache / "open.csv")
    statistics = np.load(cache / "open_statistics.npy")[: len(table)][:, LIKENESS]
    held, rated = (table["number"] % 8 == 7).to_numpy(), (table["rating"] > 0).to_numpy()
    left = table["left"].to_numpy(float)
    quality = np.where(rated, table["rating"], 1 + 3 * np.clip(left, 0, 1)) - 3
    camera = (left >= 0) & ~rated
    centre, spread = statistics[~held].mean(0, dtype=np.float64), statistics[~held].std(0, dtype=np.float64) + 1e-3
    scaled = np.clip((statistics - centre) / spread, -6, 6)
    line = _ridge(scaled, quality, np.where(rated, 1.0, np.where(camera, 0.2, 0.0)) * ~held)
    gate = _ridge(scaled, np.where(left < 0, 4.0, -4.0), np.where(rated, 2.0, 1.0) * ~held)
    arrays = _linear_units(published, centre, spread, line, gate)
    projection = fit_projection(statistics[~held], OPEN_COMPONENTS)
    points = projection(statistics)
    rows = np.nonzero(rated & ~held)[0]
    kernel = fit_kernel(points[rows], quality[rows], 0.8, OPEN_RIDGE)
    check = np.nonzero(rated & held)[0]
    share = _best_share(scaled[check] @ line[0] + line[1], kernel(points[check]), quality[check])
    arrays |= _kernel_arrays("authentic", projection, kernel)
    arrays |= {name: published[name] for name in published if name.startswith("synthetic_") or name == "grain"}
    arrays |= {"scale_from": np.array([-2.0, 2.0]), "scale_to": np.array([1.0, 5.0])}
    return arrays | _settings((share, OPEN_SYNTHETIC_SHARE), OPEN_CLOSEUP)


def network_outputs(arrays: Arrays, statistics: npt.NDArray[np.float32]) -> Values:
    """The three outputs of the network for rows of statistics."""
    scaled = np.clip((statistics - arrays["centre"]) / arrays["spread"], -6, 6)
    hidden = np.maximum(scaled @ arrays["first_weight"] + arrays["first_bias"], 0)
    return np.asarray(hidden @ arrays["last_weight"] + arrays["last_bias"], np.float64)


def _standardisation(
    published: Arrays, statistics: npt.NDArray[np.float32]
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:  # fmt: skip
    own = statistics[:, TRUNK + TAIL :]
    centre, spread = own.mean(0, dtype=np.float64), own.std(0, dtype=np.float64) + 1e-3
    return (
        np.concatenate([published["centre"], centre]).astype(np.float32),
        np.concatenate([published["spread"], spread]).astype(np.float32),
    )


def _lessons(
    cache: Path, statistics: npt.NDArray[np.float32], opinions: npt.NDArray[np.float32], folds: npt.NDArray[np.intp],
    scale: dict[str, Values], standardisation: tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]],
) -> Lessons:  # fmt: skip
    centre, spread = standardisation

    def standardised(rows: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        return np.asarray(np.clip((rows - centre) / spread, -6, 6), np.float32)

    copies, spoilt = pd.read_csv(cache / "copies.csv"), pd.read_csv(cache / "spoilt.csv")
    kept = np.nonzero(folds[copies["row"]] != 0)[0]
    before = np.interp(opinions[spoilt["row"]], scale["scale_from"], scale["scale_to"])
    quality = 1 + (before - 1) * spoilt["left"].to_numpy(float)
    labelled = label(read_table(cache / "synthetic.csv"))
    copied = np.load(cache / "copies_statistics.npy")[: len(copies)][kept]
    return Lessons(
        standardised(statistics), opinions, np.nonzero(folds != 0)[0],
        standardised(copied), copies["row"].to_numpy()[kept],
        standardised(np.load(cache / "spoilt_statistics.npy")[: len(spoilt)]),
        np.interp(quality, scale["scale_to"], scale["scale_from"]).astype(np.float32), quality.astype(np.float32),
        [group for first in range(0, len(spoilt), PICTURES_OF_ONE) for group in _spoilt_groups(spoilt, first)],
        standardised(np.load(cache / "synthetic_statistics.npy")[: len(labelled.table)]),
        np.interp(labelled.labels, scale["scale_to"], scale["scale_from"]).astype(np.float32),
        labelled.labels.astype(np.float32), _synthetic_groups(labelled.table),
    )  # fmt: skip


def _spoilt_groups(table: pd.DataFrame, first: int) -> list[Group]:
    """The ladders of one photograph; between it and its first poor JPEG file stands a fine one."""
    if table["fold"].iloc[first] == 0:
        return []
    fine, groups = first + PICTURES_OF_ONE - 1, []
    for start in range(first + 1, fine, 5):
        rows, margins = np.r_[first, start : start + 5], np.full(5, 0.12, np.float32)
        if table["kind"].iloc[start] == "jpeg":
            rows, margins = np.r_[first, fine, start : start + 5], np.r_[np.float32(0.03), margins]
        groups.append(Group(rows, margins))
    return [*groups, Group(np.array([first, fine]), np.array([0.03], np.float32))]


def _synthetic_groups(table: pd.DataFrame) -> list[Group]:
    groups = []
    for _, scene in table[table["split"] == "train"].groupby("group", sort=False):
        clean = scene.index[scene["kind"] == "clean"].to_numpy()[:1]
        for kind, rows in scene.groupby("kind", sort=False):
            if kind == "mix" or (kind != "clean" and len(rows) == 5):
                ordered = np.concatenate([clean, rows.sort_values("level").index.to_numpy()])
                groups.append(Group(ordered, np.full(len(ordered) - 1, 0.2, np.float32)))
    return groups


def _joined(
    published: Arrays, correction: Correction, centre: npt.NDArray[np.float32], spread: npt.NDArray[np.float32]
) -> Arrays:
    """One network of old and new units."""
    new = {name: value.numpy() for name, value in correction.state_dict().items()}
    padded = np.pad(np.asarray(published["first_weight"], np.float32), ((0, TAIL), (0, 0)))
    return {
        "centre": centre, "spread": spread,
        "first_weight": np.concatenate([padded, new["first.weight"].T], 1),
        "first_bias": np.concatenate([published["first_bias"], new["first.bias"]]),
        "last_weight": np.concatenate([published["last_weight"], new["last.weight"].T], 0),
        "last_bias": published["last_bias"] + new["last.bias"],
    }  # fmt: skip


def _linear_units(
    published: Arrays, centre: Values, spread: Values, line: tuple[Values, float], gate: tuple[Values, float]
) -> Arrays:
    """The published units for synthetic damage beside linear ones, each a pair of opposite halves."""
    # The published head was standardised by other means: its weights are brought over to these.
    scale = spread / published["spread"]
    first = np.asarray(published["first_weight"], np.float64) * scale[:, None]
    bias = published["first_bias"] + ((centre - published["centre"]) / published["spread"]) @ published["first_weight"]
    weights = [first, *(sign * weight[:, None] for weight, _ in (line, gate) for sign in (1, -1))]
    biases = [bias, *([sign * offset] for _, offset in (line, gate) for sign in (1, -1))]
    last = np.zeros((first.shape[1] + 4, 3))
    last[: first.shape[1], 1] = np.asarray(published["last_weight"])[:, 1]
    last[-4:, 0], last[-4:, 2] = (1, -1, 0, 0), (0, 0, 1, -1)
    return {
        "centre": centre, "spread": spread, "first_weight": np.concatenate(weights, 1),
        "first_bias": np.concatenate([np.asarray(bias) for bias in biases]), "last_weight": last,
        "last_bias": np.array([0.0, published["last_bias"][1], 0.0]),
    }  # fmt: skip


def _ridge(rows: Values, targets: Values, weights: Values) -> tuple[Values, float]:
    """Weighted linear regression with a penalty on all but the offset."""
    total = weights.sum()
    middle, mean = (rows * weights[:, None]).sum(0) / total, float((targets * weights).sum() / total)
    centred = (rows - middle) * np.sqrt(weights)[:, None]
    gram = centred.T @ centred + OPEN_PENALTY * np.eye(rows.shape[1])
    slope = np.linalg.solve(gram, centred.T @ ((targets - mean) * np.sqrt(weights)))
    return slope, mean - float(middle @ slope)


def _best_share(network: Values, kernel: Values, truth: Values) -> float:
    found = [srcc(share * network + (1 - share) * kernel, truth) for share in SHARES]
    best = int(np.argmax(found))
    print(f"network {found[-1]:.4f}, kernel {found[0]:.4f}, blend {found[best]:.4f} at {SHARES[best]:.1f}")
    return float(SHARES[best])


def _kernel_arrays(name: str, projection: Projection, kernel: Kernel) -> Arrays:
    return {
        f"{name}_centre": projection.centre, f"{name}_spread": projection.spread,
        f"{name}_projection": projection.matrix,
        f"{name}_points": kernel.points, f"{name}_weights": kernel.weights, f"{name}_mean": np.array(kernel.mean),
        f"{name}_width": np.array(kernel.width),
    }  # fmt: skip


def raised(arrays: Arrays) -> Arrays:
    """Both makes of the second judge on the first one's level."""
    return arrays | {
        "last_bias": arrays["last_bias"] + np.array([0.0, SYNTHETIC_OFFSET, 0.0]),
        "synthetic_mean": arrays["synthetic_mean"] + SYNTHETIC_OFFSET,
    }


def _settings(shares: tuple[float, float], closeup: tuple[float, float, float]) -> Arrays:
    return {
        "network_share": np.array(shares), "closeup": np.array(closeup),
        "synthetic_width": np.array(0.8),
    }  # fmt: skip


def stored(arrays: Arrays) -> Arrays:
    """The arrays as they are shipped: large ones in half precision, the points of the authentic kernel in bytes."""
    kept = {
        name: np.asarray(value, np.float16 if name.endswith(LARGE) else np.float32)
        for name, value in arrays.items() if name != "fold0_kernel"
    }  # fmt: skip
    points = np.asarray(arrays["authentic_points"], np.float64)
    step = np.abs(points).max(0) / 127
    return kept | {
        "authentic_points": np.rint(points / step).astype(np.int8),
        "authentic_step": step.astype(np.float32),
    }


def main() -> None:
    """Fit both sets and write them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("cache", "biq2021", "published", "weights"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=4)
    given = parser.parse_args()
    torch.set_num_threads(1)
    published = {terms: dict(np.load(given.published / f"quality_{terms}.npz")) for terms in ("research", "open")}
    fitted = {
        "research": fit_research(given.cache, given.biq2021, published["research"], given.seed),
        "open": fit_open(given.cache, published["open"]),
    }
    for terms, arrays in fitted.items():
        np.savez(given.cache / f"heads_{terms}.npz", **dict[str, Any](arrays))
        write_arrays(given.weights / f"quality_{terms}.npz", stored(arrays))


if __name__ == "__main__":
    main()
