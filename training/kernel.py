"""Kernel ridge regression on whitened statistics, distilled to plain arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_factor, cho_solve

Values = npt.NDArray[np.float64]
CLIP = 6.0


@dataclass(frozen=True)
class Projection:
    """Statistics to whitened components whose mean squared length is one."""

    centre: Values
    spread: Values
    matrix: Values

    def __call__(self, statistics: npt.NDArray[np.float32]) -> Values:
        return np.clip((statistics - self.centre) / self.spread, -CLIP, CLIP) @ self.matrix


@dataclass(frozen=True)
class Kernel:
    """Known points and their weights."""

    points: Values
    weights: Values
    mean: float
    width: float

    def __call__(self, points: Values) -> Values:
        rows = [
            _similarity(part, self.points, self.width) @ self.weights
            for part in np.array_split(points, max(1, len(points) // 500))
        ]
        return np.concatenate(rows) + self.mean


def fit_projection(statistics: npt.NDArray[np.float32], components: int) -> Projection:
    """Principal components, each scaled to unit variance."""
    centre, spread = statistics.mean(0, dtype=np.float64), statistics.std(0, dtype=np.float64) + 1e-3
    scaled = np.clip((statistics - centre) / spread, -CLIP, CLIP).astype(np.float32)
    variances, directions = np.linalg.eigh((scaled.T @ scaled / len(scaled)).astype(np.float64))
    kept = np.argsort(-variances)[:components]
    matrix = directions[:, kept] / np.sqrt(variances[kept] * components)
    return Projection(centre, spread, matrix)


def fit_kernel(points: Values, targets: Values, width: float, ridge: float) -> Kernel:
    """The regression through all points."""
    gram = _similarity(points, points, width).astype(np.float32)
    gram[np.diag_indices_from(gram)] += np.float32(ridge)
    mean = float(targets.mean())
    weights = cho_solve(cho_factor(gram, overwrite_a=True, check_finite=False), (targets - mean).astype(np.float32))
    return Kernel(points, weights.astype(np.float64), mean, width)


def _similarity(left: Values, right: Values, width: float) -> Values:
    squared = (left**2).sum(1)[:, None] + (right**2).sum(1)[None] - 2 * left @ right.T
    return np.asarray(np.exp(-width * np.maximum(squared, 0)))
