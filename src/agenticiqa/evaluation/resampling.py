"""Bootstrap resamples as counts, and the statistics of all of them at once.

A resample is how often each picture was drawn, so nothing is sorted or fitted again: ranks, correlations and Kendall's
pairs follow from the counts. The results equal those of drawing the pictures one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]
Counts = npt.NDArray[np.float32]
Clusters = Sequence[Any] | npt.NDArray[Any]
# Resamples are worked off in blocks of about so many numbers, whatever the size of the set.
_BLOCK = 3_000_000


def draw_counts(count: int, clusters: Clusters | None, repetitions: int, seed: int) -> Counts:
    """How often each picture is in each resample, one row a resample; pictures of one cluster come together."""
    random = np.random.default_rng(seed)
    group = np.arange(count) if clusters is None else np.unique(np.asarray(clusters), return_inverse=True)[1]
    groups = int(group.max()) + 1 if count else 0
    draws = random.integers(0, groups, (repetitions, groups)) + groups * np.arange(repetitions)[:, None]
    drawn = np.bincount(draws.ravel(), minlength=repetitions * groups).reshape(repetitions, groups)
    return drawn.astype(np.float32)[:, group]


def many_srcc(x: Values, y: Values, counts: Counts) -> Values:
    """Spearman's correlation of each resample."""
    return _by_block(counts, lambda block: _pearson(_ranks(x, block), _ranks(y, block), block))


def many_plcc(x: Values, y: Values, counts: Counts) -> Values:
    """Pearson's correlation of each resample."""
    # Moments about the whole set's mean: nothing is lost to rounding, and matrix products do the work.
    first, second = x - x.mean(), y - y.mean()
    columns = np.stack([first, second, first * first, second * second, first * second], axis=1)
    a, b, aa, bb, ab = (counts.astype(np.float64) @ columns / counts.sum(1, dtype=np.float64)[:, None]).T
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((ab - a * b) / np.sqrt((aa - a * a) * (bb - b * b)), np.float64)


def many_rmse(x: Values, y: Values, counts: Counts) -> Values:
    """The root mean squared difference of each resample."""
    return np.asarray(np.sqrt(counts @ (x - y) ** 2 / counts.sum(1)), np.float64)


def many_mean(x: Values, y: Values, counts: Counts) -> Values:
    """The mean of the first values of each resample."""
    return np.asarray(counts @ x / counts.sum(1), np.float64)


def many_krcc(x: Values, y: Values, counts: Counts) -> Values:
    """Kendall's tau-b of each resample: concordant less discordant pairs, weighted by how often both were drawn."""
    total = np.zeros(len(counts))
    for rows in _slices(len(x), len(x)):
        signs = np.sign(x[rows, None] - x[None]) * np.sign(y[rows, None] - y[None])
        total += np.einsum("bi,bi->b", counts[:, rows], counts @ signs.T.astype(np.float32), dtype=np.float64)
    pairs = counts.sum(1, dtype=np.float64) ** 2
    untied = [pairs - _tied_pairs(values, counts) for values in (x, y)]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(total / np.sqrt(untied[0] * untied[1]), np.float64)


def _tied_pairs(values: Values, counts: Counts) -> Values:
    order, starts, _ = _groups(values)
    sizes = np.add.reduceat(counts[:, order], starts, axis=1).astype(np.float64)
    return np.asarray((sizes**2).sum(1))


def _ranks(values: Values, counts: Counts) -> Values:
    """Mean ranks within each resample; of pictures that were not drawn the rank does not matter."""
    order, starts, group = _groups(values)
    sizes = np.add.reduceat(counts[:, order], starts, axis=1).astype(np.float64)
    middle = np.cumsum(sizes, axis=1) - (sizes - 1) / 2
    return np.asarray(middle[:, group])


def _groups(values: Values) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """The sorting order, where each group of equal values starts in it, and the group of each value."""
    _, group, sizes = np.unique(values, return_inverse=True, return_counts=True)
    return np.argsort(group, kind="stable"), np.concatenate([[0], np.cumsum(sizes)[:-1]]), group


def _pearson(x: Values, y: Values, counts: Counts) -> Values:
    total = counts.sum(1, dtype=np.float64)[:, None]
    first, second = (values - _sum(counts, values)[:, None] / total for values in (x, y))
    weighted = counts * first
    squares = _sum(weighted, first) * _sum(counts, second * second)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(_sum(weighted, second) / np.sqrt(squares), np.float64)


def _sum(first: npt.NDArray[Any], second: Values) -> Values:
    rows = np.broadcast_to(second, first.shape)
    return np.asarray(np.einsum("bi,bi->b", first, rows, dtype=np.float64))


def _by_block(counts: Counts, statistic: Any) -> Values:
    return np.concatenate([statistic(counts[rows]) for rows in _slices(len(counts), counts.shape[1])])


def _slices(length: int, width: int) -> Iterator[slice]:
    step = max(1, _BLOCK // max(1, width))
    return (slice(start, start + step) for start in range(0, length, step))
