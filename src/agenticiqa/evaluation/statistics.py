"""How well predicted quality agrees with people, and how sure that figure is.

Rank correlations are taken as they are; PLCC and RMSE after the usual five-parameter logistic
β1·(1/2 − 1/(1 + exp(β2(x − β3)))) + β4·x + β5. Where that does not converge the four-parameter form without the slope
β4 is fitted within bounds, and where that fails too a straight line; so is one to fewer than 15 pictures, which five
parameters would follow whatever they say. Which curve was used is part of the result.
Intervals are percentile bootstraps with a seed. Pictures of one reference or one burst are not independent: give their
common name as `clusters`, and whole clusters are drawn. A resample is how often each picture was drawn, so nothing is
sorted or fitted again: the statistics of all resamples follow from the counts, and equal those of drawing one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from agenticiqa.errors import require_extra
from agenticiqa.tools.curve_fitting import ranks

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
    blocks = (counts[rows] for rows in _slices(*counts.shape))
    return np.concatenate([_pearson(_ranks(x, block), _ranks(y, block), block) for block in blocks])


def many_krcc(x: Values, y: Values, counts: Counts) -> Values:
    """Kendall's tau-b of each resample: concordant less discordant pairs, weighted by how often both were drawn."""
    total = np.zeros(len(counts))
    for rows in _slices(len(x), len(x)):
        signs = np.sign(x[rows, None] - x[None]) * np.sign(y[rows, None] - y[None])
        total += np.einsum("bi,bi->b", counts[:, rows], counts @ signs.T.astype(np.float32), dtype=np.float64)
    pairs = counts.sum(1, dtype=np.float64) ** 2
    untied = [pairs - (_tie_sizes(values, counts)[0] ** 2).sum(1) for values in (x, y)]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(total / np.sqrt(untied[0] * untied[1]), np.float64)


def _ranks(values: Values, counts: Counts) -> Values:
    """Mean ranks within each resample; of pictures that were not drawn the rank does not matter."""
    sizes, group = _tie_sizes(values, counts)
    return np.asarray((np.cumsum(sizes, axis=1) - (sizes - 1) / 2)[:, group])


def _tie_sizes(values: Values, counts: Counts) -> tuple[Values, npt.NDArray[np.intp]]:
    """How many pictures of each resample share each value, the values rising, and the place of each picture's value."""
    _, group, sizes = np.unique(values, return_inverse=True, return_counts=True)
    order, starts = np.argsort(group, kind="stable"), np.concatenate([[0], np.cumsum(sizes)[:-1]])
    return np.add.reduceat(counts[:, order], starts, axis=1).astype(np.float64), group


def _pearson(x: Values, y: Values, counts: Counts) -> Values:
    total = counts.sum(1, dtype=np.float64)[:, None]
    first, second = (values - _row_sums(counts, values)[:, None] / total for values in (x, y))
    weighted = counts * first
    squares = _row_sums(weighted, first) * _row_sums(counts, second * second)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(_row_sums(weighted, second) / np.sqrt(squares), np.float64)


def _row_sums(first: npt.NDArray[Any], second: Values) -> Values:
    return np.asarray(np.einsum("bi,bi->b", first, second, dtype=np.float64))


def _slices(length: int, width: int) -> Iterator[slice]:
    step = max(1, _BLOCK // max(1, width))
    return (slice(start, start + step) for start in range(0, length, step))


Statistic = Callable[[Values, Values], float]
Numbers = Sequence[float] | npt.NDArray[Any]
# Three pictures for each of its parameters; a curve through five of them would agree with any five.
FEWEST_FOR_LOGISTIC = 15


@dataclass(frozen=True)
class LogisticFit:
    """The fitted curve, what the fit said, and which form it has."""

    parameters: tuple[float, float, float, float, float]
    message: str
    form: Literal["five-parameter", "four-parameter", "line"] = "five-parameter"

    def __call__(self, predicted: Numbers) -> Values:
        return _logistic(_values(predicted), np.array(self.parameters))


@dataclass(frozen=True)
class Interval:
    """A statistic with its bootstrap interval; of one cluster there is none: NaN ends and no repetitions."""

    value: float
    low: float
    high: float
    repetitions: int


@dataclass(frozen=True)
class Difference:
    """How much one score's statistic exceeds another's on the same pictures; `p_value` is two-sided."""

    value: float
    low: float
    high: float
    p_value: float
    repetitions: int


def srcc(predicted: Numbers, observed: Numbers) -> float:
    return plcc(ranks(predicted), ranks(observed))


def krcc(predicted: Numbers, observed: Numbers) -> float:
    require_scipy()
    from scipy.stats import kendalltau

    return float(kendalltau(_values(predicted), _values(observed)).statistic)


def require_scipy() -> None:
    """Nothing, unless SciPy is missing: an evaluation needs it, an assessment does not."""
    require_extra("evaluating against opinions", "evaluation", "scipy")


def plcc(predicted: Numbers, observed: Numbers) -> float:
    """Pearson's correlation of the values as given; NaN where one of them is constant."""
    first, second = (v - v.mean() for v in (_values(predicted), _values(observed)))
    size = float(np.sqrt((first @ first) * (second @ second)))
    return float(first @ second) / size if size > 0 else float("nan")


def rmse(predicted: Numbers, observed: Numbers) -> float:
    return float(np.sqrt(np.mean((_values(predicted) - _values(observed)) ** 2)))


def mean(values: Numbers, observed: Numbers = ()) -> float:
    """The mean of the values, for shares and accuracies; what was observed does not matter."""
    return float(_values(values).mean())


def fit_logistic(predicted: Numbers, observed: Numbers) -> LogisticFit:
    """The five-parameter curve from predicted to observed, by least squares; a simpler one where it has no minimum."""
    require_scipy()
    from scipy.optimize import least_squares

    x, y = _values(predicted), _values(observed)
    centre, spread = float(x.mean()), float(x.std()) or 1.0
    scaled = (x - centre) / spread

    def fitted(b: Values, message: str, form: Literal["five-parameter", "four-parameter", "line"]) -> LogisticFit:
        # Back from the scaled predictions to those given.
        height, steepness, middle, slope, level = b.tolist()
        slope = float(slope / spread)
        parameters = height, steepness / spread, middle * spread + centre, slope, level - slope * centre
        return LogisticFit(parameters, message, form)

    line = np.array([0.0, 1.0, 0.0, scaled @ (y - y.mean()) / max(float(scaled @ scaled), 1e-12), y.mean()])
    if len(x) < FEWEST_FOR_LOGISTIC:
        return fitted(line, f"{len(x)} pictures are too few for a logistic; a straight line", "line")
    height = np.ptp(y) * (1 if plcc(x, y) >= 0 else -1)
    start = np.array([height, 1.0, 0.0, 0.0, y.mean()])
    found = least_squares(lambda b: _logistic(scaled, b) - y, start, method="lm", max_nfev=2_000)
    if found.success:
        return fitted(found.x, str(found.message), "five-parameter")
    # Without its slope, and within bounds that keep it on the data.
    reach = 10 * max(float(np.ptp(y)), 1e-6)
    low, high = np.array([-reach, 1e-3, -10.0, y.min() - reach]), np.array([reach, 50.0, 10.0, y.max() + reach])
    found = least_squares(
        lambda b: _logistic(scaled, np.insert(b, 3, 0.0)) - y,
        np.clip(np.delete(start, 3), low, high), bounds=(low, high), max_nfev=2_000,
    )  # fmt: skip
    if found.success:
        return fitted(np.insert(found.x, 3, 0.0), "five parameters did not converge; four did", "four-parameter")
    return fitted(line, "no logistic converged; a straight line", "line")


def bootstrap(
    statistic: Statistic,
    predicted: Numbers,
    observed: Numbers,
    *,
    clusters: Clusters | None = None,
    repetitions: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> Interval:
    """The statistic and its percentile interval over resampled clusters."""
    x, y = _values(predicted), _values(observed)
    if clusters is not None and len(set(clusters)) < 2:
        # Resampling one cluster whole gives itself every time, which would look like certainty.
        return Interval(statistic(x, y), float("nan"), float("nan"), 0)
    low, high = _percentiles(_drawn(statistic, x, y, draw_counts(len(x), clusters, repetitions, seed)), level)
    return Interval(statistic(x, y), low, high, repetitions)


def paired_bootstrap(
    statistic: Statistic,
    first: Numbers,
    second: Numbers,
    observed: Numbers,
    *,
    clusters: Clusters | None = None,
    repetitions: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> Difference:
    """The first score's statistic minus the second's, both taken on the same resamples."""
    a, b, y = _values(first), _values(second), _values(observed)
    counts = draw_counts(len(y), clusters, repetitions, seed)
    drawn = _drawn(statistic, a, y, counts) - _drawn(statistic, b, y, counts)
    low, high = _percentiles(drawn, level)
    return Difference(statistic(a, y) - statistic(b, y), low, high, _two_sided(drawn), repetitions)


@dataclass(frozen=True)
class Resampling:
    """How the intervals of an evaluation are drawn."""

    repetitions: int = 1000
    seed: int = 0

    def interval(self, statistic: Statistic, predicted: Numbers, observed: Numbers, clusters: Clusters) -> Interval:
        return bootstrap(
            statistic, predicted, observed, clusters=clusters, repetitions=self.repetitions, seed=self.seed
        )

    def difference(
        self, statistic: Statistic, first: Numbers, second: Numbers, observed: Numbers, clusters: Clusters
    ) -> Difference:
        return paired_bootstrap(
            statistic, first, second, observed, clusters=clusters, repetitions=self.repetitions, seed=self.seed
        )


USUAL = Resampling()


def _values(numbers: Numbers) -> Values:
    return np.asarray(numbers, dtype=np.float64)


def _logistic(x: Values, b: Values) -> Values:
    # 1/2 − 1/(1+exp(z)) is half of tanh(z/2), which cannot overflow.
    return np.asarray(b[0] * 0.5 * np.tanh(b[1] * (x - b[2]) / 2) + b[3] * x + b[4])


def _drawn(statistic: Statistic, x: Values, y: Values, counts: Counts) -> Values:
    together = _TOGETHER.get(statistic)
    if together is not None:
        return together(x, y, counts)
    rows = (np.repeat(np.arange(len(x)), row.astype(np.intp)) for row in counts)
    return np.array([statistic(x[chosen], y[chosen]) for chosen in rows])


def _two_sided(drawn: Values) -> float:
    """Twice the smaller share of differences on one side of zero, one more counted so that it is never 0."""
    # A resample in which a score is constant has no correlation and speaks for neither side.
    known = drawn[np.isfinite(drawn)]
    # Half of a tie counts for each side, so that two equal scores have p = 1.
    below = (np.sum(known < 0) + 0.5 * np.sum(known == 0) + 0.5) / (len(known) + 1)
    return float(min(1.0, 2 * min(below, 1 - below)))


def _percentiles(drawn: Values, level: float) -> tuple[float, float]:
    low, high = np.nanquantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


# Ranking and counting pairs anew for every resample would take most of the time of an evaluation.
_TOGETHER: dict[Statistic, Callable[[Values, Values, Counts], Values]] = {
    srcc: many_srcc, krcc: many_krcc,
}  # fmt: skip
