"""Fit the heads of the quality model on cached statistics and calibrate them on what was kept apart."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agenticiqa.embedded.quality.quality_head import QualityHead, error_terms
from agenticiqa.evaluation.statistics import srcc
from training.kernel import Kernel, Projection, fit_kernel, fit_projection
from training.quality_data import Damaged, Rated
from training.scales import standardised_scale

Values = npt.NDArray[np.float64]
Arrays = dict[str, npt.NDArray[Any]]

COMPONENTS = 200
WIDTH = 0.8
RIDGE = 0.07
SHARES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
# Chosen for ladders that fall at every step on the photographs kept apart, and for agreement on fold 0.
SYNTHETIC_SHARE = 0.7
# The kernel of the open set knows so few photographs that it finds clean ones worse than they are.
OPEN_SHARE = 0.9
GATE = (1.5, 0.0, 0.6)
GRAIN_DEPTH = 0.2


@dataclass(frozen=True)
class Material:
    """What the heads are fitted on and, of rows kept apart, the statistics of trunk and tuned stages.

    `rated_likeness` has the statistics of trunk and the open set's stages for every rated row. `unseen` are the
    photographs the cost of grain is fitted on; the open set has no `rated`.
    """

    rated: Rated | None
    damaged: Damaged
    unseen: Damaged
    held_rated: npt.NDArray[np.intp]
    rated_statistics: npt.NDArray[np.float32]
    damaged_statistics: npt.NDArray[np.float32]
    rated_likeness: npt.NDArray[np.float32]


def fit_heads(material: Material, network: Arrays) -> tuple[Arrays, dict[str, float]]:
    """All arrays of the head file, and the figures of its calibration."""
    arrays, projection = dict(network), _authentic_projection(material)
    arrays |= _synthetic_arrays(material)
    arrays |= _kernel_arrays("authentic", projection, _authentic_kernel(material, projection, calibrating=True))
    arrays |= {
        "kernel_width": np.array(WIDTH),
        "fading": np.array([1.0, 2.0]),
        "gate": np.array(GATE) if material.rated else np.array([0.0, 30.0, 1.0]),
        "network_share": np.array([0.5, 0.5]),
        "grain": _grain(material.unseen),
    }
    arrays |= {"scale_from": np.array([-4.0, 4.0]), "scale_to": np.array([1.0, 5.0])}
    figures = _choose_shares(material, arrays)
    if material.rated:
        arrays |= standardised_scale("biq2021", material.rated.raw_opinions)
        figures |= _gated(material, arrays)
    arrays, more = _calibrate(material, arrays)
    arrays |= _kernel_arrays("authentic", projection, _authentic_kernel(material, projection, calibrating=False))
    return _stored(arrays), figures | more


def _synthetic_arrays(material: Material) -> Arrays:
    """The regression of damage on the trunk's statistics."""
    rows = material.damaged.training
    pooled, labels = material.damaged.ladders.pooled[rows], material.damaged.ladders.labels[rows].astype(np.float64)
    parts = [pooled]
    if material.rated:
        parts.append(material.rated.photographs.pooled[material.rated.photographs.rows])
    projection = fit_projection(np.concatenate(parts), COMPONENTS)
    return _kernel_arrays("synthetic", projection, fit_kernel(projection(pooled), labels, WIDTH, RIDGE))


def _authentic_projection(material: Material) -> Projection:
    if material.rated is None:
        return Projection(np.zeros(1), np.ones(1), np.zeros((1, COMPONENTS)))
    return fit_projection(material.rated_likeness[material.rated.photographs.rows], COMPONENTS)


def _authentic_kernel(material: Material, projection: Projection, calibrating: bool) -> Kernel:
    rated = material.rated
    if rated is None:
        return Kernel(np.zeros((0, COMPONENTS)), np.zeros(0), 0.0, WIDTH)
    rows = np.nonzero(rated.present & (rated.folds != 0))[0] if calibrating else np.nonzero(rated.present)[0]
    opinions = rated.photographs.opinions[rows].astype(np.float64)
    return fit_kernel(projection(material.rated_likeness[rows]), opinions, WIDTH, RIDGE)


def _grain(unseen: Damaged) -> Values:
    """The most colour grain of 95 % of clean views, the least of 95 % with the faintest noise, and its cost."""
    rows, recipe = unseen.training, unseen.table["recipe"]
    clean, noisy = (unseen.grain[rows & (recipe == name)] for name in ("clean", "white_noise:1"))
    return np.array([np.quantile(clean, 0.95), np.quantile(noisy, 0.05), GRAIN_DEPTH])


def _kernel_arrays(name: str, projection: Projection, kernel: Kernel) -> Arrays:
    return {
        f"{name}_centre": projection.centre,
        f"{name}_spread": projection.spread,
        f"{name}_projection": projection.matrix,
        f"{name}_points": kernel.points,
        f"{name}_weights": kernel.weights,
        f"{name}_mean": np.array(kernel.mean),
    }


def _choose_shares(material: Material, arrays: Arrays) -> dict[str, float]:
    """Blend the two makes of each judge."""
    head, figures = QualityHead(arrays), {}
    shares = [0.5, 0.5]
    for column, (name, tuned, likeness, _, truth) in enumerate(_kept_apart(material)):
        if not len(truth):
            continue
        outputs, kernel = head.network(tuned)[:, column], head.kernel(likeness)[:, column]
        blends = [share * outputs + (1 - share) * kernel for share in SHARES]
        found = [srcc(blend, truth) for blend in blends]
        fixed = SHARES.index(SYNTHETIC_SHARE if material.rated else OPEN_SHARE)
        best = int(np.argmax(found)) if name == "authentic" else fixed
        shares[column] = float(SHARES[best])
        figures |= {
            f"{name}_network": srcc(outputs, truth),
            f"{name}_kernel": srcc(kernel, truth),
            f"{name}_blend": srcc(blends[best], truth),
            f"{name}_share": shares[column],
        }
    arrays["network_share"] = np.array(shares)
    return figures


def _gated(material: Material, arrays: Arrays) -> dict[str, float]:
    """Rank correlation of the gated score on each source's rows kept apart."""
    head, figures = QualityHead(arrays), {}
    for name, tuned, likeness, grain, truth in _kept_apart(material):
        quality = head.combine(head.network(tuned), head.kernel(likeness), grain)[0]
        figures[f"{name}_gated"] = srcc(quality, truth)
    return figures


def _kept_apart(material: Material) -> list[tuple[str, Values, Values, Values, Values]]:
    """Per source: statistics for network and kernel, colour grain and truth of the rows no fit has seen."""
    damaged, held = material.damaged, ~material.damaged.training
    labels = damaged.ladders.labels[held].astype(np.float64)
    tuned = material.damaged_statistics.astype(np.float64)
    # The synthetic kernel looks at the trunk's statistics alone, and these come first in both.
    synthetic = ("synthetic", tuned, tuned, damaged.grain[held], labels)
    if material.rated is None:
        nothing = np.zeros((0, 1568))
        return [("authentic", nothing, nothing, np.zeros(0), np.zeros(0)), synthetic]
    rows, rated = material.held_rated, material.rated
    opinions = rated.photographs.opinions[rows].astype(np.float64)
    both = (part.astype(np.float64) for part in (material.rated_statistics, material.rated_likeness[rows]))
    return [("authentic", *both, rated.grain[rows], opinions), synthetic]


def _calibrate(material: Material, arrays: Arrays) -> tuple[Arrays, dict[str, float]]:
    """Error model and interval factors from residuals of rows kept apart, sources weighted equally."""
    head = QualityHead(arrays)
    terms, residuals, weights = [], [], []
    for name, tuned, likeness, grain, truth in _kept_apart(material):
        if not len(truth):
            continue
        wanted = head.on_scale(truth) if name == "authentic" else truth
        quality, gate, apart = head.combine(head.network(tuned), head.kernel(likeness), grain)
        terms.append(error_terms(quality, gate, apart))
        residuals.append(wanted - quality)
        weights.append(np.full(len(truth), 1 / len(truth)))
    rows, errors, weight = np.concatenate(terms), np.concatenate(residuals), np.concatenate(weights)
    arrays["error_weights"] = _error_model(rows, errors, weight)
    scaled = [
        r / QualityHead(arrays).error(t[:, 1] + 3, t[:, 3], t[:, 4]) for t, r in zip(terms, residuals, strict=True)
    ]
    arrays["interval_factors"] = _factors(scaled[0])
    return arrays, {"calibration_rows": float(len(residuals[0])), "residual_deviation": float(residuals[0].std())}


def _error_model(rows: Values, errors: Values, weight: Values) -> Values:
    # The mean of log |normal| is −0.635 below the log of its deviation.
    target = np.log(np.abs(errors) + 0.03) + 0.635
    scaled = rows * np.sqrt(weight)[:, None]
    ridge = 1e-4 * np.eye(rows.shape[1])
    return np.asarray(np.linalg.solve(scaled.T @ scaled + ridge, scaled.T @ (target * np.sqrt(weight))))


def _factors(scaled: Values) -> Values:
    # The next rank up allows for the finite number of rows.
    level = min(1.0, 0.975 * (1 + 1 / len(scaled)))
    return np.array([np.quantile(-scaled, level), np.quantile(scaled, level)])


def _stored(arrays: Arrays) -> Arrays:
    large = ("points", "projection", "first_weight")
    return {
        name: np.asarray(value, np.float16 if name.endswith(large) else np.float32) for name, value in arrays.items()
    }


def write_figures(path: Path, figures: dict[str, float]) -> None:
    """Keep the figures of the calibration for the model card."""
    path.write_text(
        json.dumps({name: round(value, 4) for name, value in figures.items()}, indent=2) + "\n", encoding="utf-8"
    )
