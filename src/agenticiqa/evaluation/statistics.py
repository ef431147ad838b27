"""How well predicted quality agrees with people, and how sure that figure is.

Rank correlations are taken as they are; PLCC and RMSE after the usual five-parameter logistic
β1·(1/2 − 1/(1 + exp(β2(x − β3)))) + β4·x + β5. Where that does not converge the four-parameter form without the slope
β4 is fitted within bounds, and where that fails too a straight line; so is one to fewer than 15 pictures, which five
parameters would follow whatever they say. Which curve was used is part of the result.
Intervals are percentile bootstraps with a seed. Pictures of one reference or one burst are not
independent: give their common name as `clusters`, and whole clusters are drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from agenticiqa.errors import require_extra
from agenticiqa.evaluation.resampling import (
    Clusters,
    Counts,
    Values,
    draw_counts,
    many_krcc,
    many_mean,
    many_plcc,
    many_rmse,
    many_srcc,
)
from agenticiqa.tools.curve_fitting import ranks

Statistic = Callable[[Values, Values], float]
Numbers = Sequence[float] | npt.NDArray[Any]
# Three pictures for each of its parameters; a curve through five of them would agree with any five.
FEWEST_FOR_LOGISTIC = 15


@dataclass(frozen=True)
class LogisticFit:
    """The fitted curve, whether the fit converged, and which form it has."""

    parameters: tuple[float, float, float, float, float]
    converged: bool
    message: str
    form: Literal["five-parameter", "four-parameter", "line"] = "five-parameter"

    def __call__(self, predicted: Numbers) -> Values:
        return _logistic(_values(predicted), np.array(self.parameters))


@dataclass(frozen=True)
class Agreement:
    """The four figures of a score against mean opinions."""

    srcc: float
    krcc: float
    plcc: float
    rmse: float
    fit: LogisticFit
    count: int


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
    """Spearman's rank correlation, ties sharing their mean rank."""
    return plcc(ranks(predicted), ranks(observed))


def krcc(predicted: Numbers, observed: Numbers) -> float:
    """Kendall's tau-b."""
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
    """Root of the mean squared difference."""
    return float(np.sqrt(np.mean((_values(predicted) - _values(observed)) ** 2)))


def mean(values: Numbers, observed: Numbers = ()) -> float:
    """The mean of the values, for shares and accuracies; what was observed does not matter."""
    return float(_values(values).mean())


def fit_logistic(predicted: Numbers, observed: Numbers) -> LogisticFit:
    """The five-parameter curve from predicted to observed, by least squares; a simpler one where it has no minimum."""
    require_scipy()
    from scipy.optimize import least_squares

    x, y = _values(predicted), _values(observed)
    centre, spread = x.mean(), x.std() or 1.0
    height = np.ptp(y) * (1 if plcc(x, y) >= 0 else -1)
    start = np.array([height, 1.0, 0.0, 0.0, y.mean()])
    scaled = (x - centre) / spread
    if len(x) < FEWEST_FOR_LOGISTIC:
        return _line(scaled, y, centre, spread, f"{len(x)} pictures are too few for a logistic; a straight line")
    found = least_squares(lambda b: _logistic(scaled, b) - y, start, method="lm", max_nfev=2_000)
    if found.success:
        return LogisticFit(_unscaled(found.x, centre, spread), True, str(found.message))
    return _simpler(scaled, y, start, centre, spread)


def _simpler(scaled: Values, y: Values, start: Values, centre: float, spread: float) -> LogisticFit:
    """The curve without its slope, within bounds that keep it on the data; else the straight line."""
    from scipy.optimize import least_squares

    reach = 10 * max(float(np.ptp(y)), 1e-6)
    free = [0, 1, 2, 4]
    low, high = np.array([-reach, 1e-3, -10.0, y.min() - reach]), np.array([reach, 50.0, 10.0, y.max() + reach])

    def whole(b: Values) -> Values:
        return np.array([b[0], b[1], b[2], 0.0, b[3]])

    found = least_squares(
        lambda b: _logistic(scaled, whole(b)) - y, np.clip(start[free], low, high), bounds=(low, high), max_nfev=2_000
    )
    if found.success:
        told = "five parameters did not converge; four did"
        return LogisticFit(_unscaled(whole(found.x), centre, spread), True, told, "four-parameter")
    return _line(scaled, y, centre, spread, "no logistic converged; a straight line")


def _line(scaled: Values, y: Values, centre: float, spread: float, told: str) -> LogisticFit:
    slope = float(scaled @ (y - y.mean()) / max(float(scaled @ scaled), 1e-12))
    line = np.array([0.0, 1.0, 0.0, slope, float(y.mean())])
    return LogisticFit(_unscaled(line, centre, spread), True, told, "line")


def agreement(predicted: Numbers, observed: Numbers) -> Agreement:
    """All four figures, PLCC and RMSE after the logistic fit."""
    fit = fit_logistic(predicted, observed)
    fitted = fit(predicted)
    return Agreement(
        srcc(predicted, observed), krcc(predicted, observed), plcc(fitted, observed), rmse(fitted, observed),
        fit, len(_values(observed)),
    )  # fmt: skip


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


def _values(numbers: Numbers) -> Values:
    return np.asarray(numbers, dtype=np.float64)


def _logistic(x: Values, b: Values) -> Values:
    # 1/2 − 1/(1+exp(z)) is half of tanh(z/2), which cannot overflow.
    return np.asarray(b[0] * 0.5 * np.tanh(b[1] * (x - b[2]) / 2) + b[3] * x + b[4])


def _unscaled(b: Values, centre: float, spread: float) -> tuple[float, float, float, float, float]:
    slope = b[3] / spread
    return float(b[0]), float(b[1] / spread), float(b[2] * spread + centre), float(slope), float(b[4] - slope * centre)


def _drawn(statistic: Statistic, x: Values, y: Values, counts: Counts) -> Values:
    """The statistic of every resample, all at once where that is known how."""
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


def _percentiles(drawn: Sequence[float] | Values, level: float) -> tuple[float, float]:
    tail = (1 - level) / 2
    low, high = np.nanquantile(np.asarray(drawn), [tail, 1 - tail])
    return float(low), float(high)


_TOGETHER: dict[Statistic, Callable[[Values, Values, Counts], Values]] = {
    srcc: many_srcc, krcc: many_krcc, plcc: many_plcc, rmse: many_rmse, mean: many_mean,
}  # fmt: skip
