"""Agreement with people: against SciPy, against values worked out by hand, and by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from agenticiqa.evaluation.statistics import (
    bootstrap,
    draw_counts,
    fit_logistic,
    krcc,
    many_krcc,
    many_srcc,
    paired_bootstrap,
    plcc,
    rmse,
    srcc,
)

scores = st.lists(st.tuples(st.integers(-20, 20), st.integers(-20, 20)), min_size=3, max_size=40)


@given(scores)
def test_correlations_equal_scipys_with_and_without_ties(pairs: list[tuple[int, int]]) -> None:
    first, second = np.array(pairs, dtype=float).T
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        assert np.isnan(srcc(first, second))
        return

    assert srcc(first, second) == pytest.approx(stats.spearmanr(first, second).statistic, abs=1e-9)
    assert plcc(first, second) == pytest.approx(stats.pearsonr(first, second).statistic, abs=1e-9)


def test_spearman_of_one_swap_is_worked_by_hand() -> None:
    # 1 − 6·Σd²/(n(n²−1)) with d = (0, 1, −1, 0): 1 − 12/60
    assert srcc([1, 2, 3, 4], [10, 30, 20, 40]) == pytest.approx(0.8)


def test_kendall_of_one_swap_is_worked_by_hand() -> None:
    # five concordant pairs, one discordant: (5 − 1)/6
    assert krcc([1, 2, 3, 4], [10, 30, 20, 40]) == pytest.approx(2 / 3)


def test_kendall_with_a_tie_is_tau_b_worked_by_hand() -> None:
    # pairs: two concordant, one tied in the first: 2/√((3−1)·3)
    assert krcc([1, 1, 2], [1, 2, 3]) == pytest.approx(2 / np.sqrt(6))


def test_rmse_is_worked_by_hand() -> None:
    assert rmse([1, 2, 3], [1, 4, 7]) == pytest.approx(np.sqrt(20 / 3))


@pytest.mark.parametrize("sign", [1, -1])
def test_the_logistic_fit_finds_the_curve_that_made_the_data(sign: int) -> None:
    x = np.linspace(20, 80, 200)
    y = sign * 3.0 * (0.5 - 1 / (1 + np.exp(0.2 * (x - 45)))) + 0.01 * x + 2

    fit = fit_logistic(x, y)

    assert fit.form == "five-parameter"
    assert fit.message
    assert rmse(fit(x), y) < 1e-6


def test_agreement_after_the_fit_forgives_a_monotone_bend_but_ranks_are_untouched() -> None:
    random = np.random.default_rng(1)
    observed = random.uniform(1, 5, 300)
    predicted = 1 / (1 + np.exp(-3 * (observed - 3)))

    fitted = fit_logistic(predicted, observed)(predicted)

    assert srcc(predicted, observed) == pytest.approx(1)
    assert krcc(predicted, observed) == pytest.approx(1)
    assert plcc(fitted, observed) > plcc(predicted, observed)


def test_the_interval_covers_the_truth_as_often_as_it_claims() -> None:
    correlation, covered = 0.8, 0
    truth = 6 / np.pi * np.arcsin(correlation / 2)  # Spearman's value for a bivariate normal
    for repetition in range(200):
        random = np.random.default_rng(repetition)
        sample = random.multivariate_normal([0, 0], [[1, correlation], [correlation, 1]], 150)
        found = bootstrap(srcc, sample[:, 0], sample[:, 1], repetitions=300, seed=repetition)
        covered += found.low <= truth <= found.high

    assert 0.90 <= covered / 200 <= 0.99


def test_a_seed_fixes_the_interval() -> None:
    random = np.random.default_rng(0)
    x = random.normal(size=60)
    y = x + random.normal(size=60)

    first, second, other = (bootstrap(srcc, x, y, seed=seed, repetitions=200) for seed in (1, 1, 2))

    assert first == second
    assert first != other


def test_copies_of_a_picture_do_not_narrow_a_clustered_interval() -> None:
    random = np.random.default_rng(3)
    x = random.normal(size=80)
    y = x + random.normal(size=80)
    names = np.repeat(np.arange(80), 10)

    single = bootstrap(srcc, x, y, repetitions=400)
    naive = bootstrap(srcc, np.repeat(x, 10), np.repeat(y, 10), repetitions=400)
    clustered = bootstrap(srcc, np.repeat(x, 10), np.repeat(y, 10), clusters=names, repetitions=400)

    width = single.high - single.low
    assert naive.high - naive.low < 0.5 * width
    assert clustered.high - clustered.low == pytest.approx(width, rel=0.2)


def test_a_better_score_is_found_better_and_equal_scores_are_not_told_apart() -> None:
    random = np.random.default_rng(4)
    truth = random.normal(size=200)
    good, poor = truth + 0.3 * random.normal(size=200), truth + 2 * random.normal(size=200)

    better = paired_bootstrap(srcc, good, poor, truth, repetitions=300)
    equal = paired_bootstrap(srcc, good, good, truth, repetitions=300)

    assert better.low > 0
    assert better.p_value < 0.02
    assert equal.value == equal.low == equal.high == 0
    assert equal.p_value == 1


def test_a_resample_without_a_correlation_speaks_for_neither_side() -> None:
    # A resample is both clusters (the first score is behind), a twice (a tie), or b twice (the first is constant).
    first, second, truth = [1, 2, 3, 5, 5, 5], [1, 2, 3, 4, 5, 6], [1, 2, 3, 7, 8, 9]
    clusters = ["a", "a", "a", "b", "b", "b"]

    found = paired_bootstrap(srcc, first, second, truth, clusters=clusters, repetitions=200)

    # Of what can be told, a alone is a tie and both together are behind: never is the first score ahead.
    counts = draw_counts(6, clusters, 200, 0)
    behind, ties = int((counts.min(1) > 0).sum()), int((counts[:, 0] == 2).sum())
    below = (behind + 0.5 * ties + 0.5) / (behind + ties + 1)
    assert found.p_value == pytest.approx(2 * (1 - below))


def test_one_cluster_has_a_figure_but_no_interval() -> None:
    found = bootstrap(srcc, [1, 2, 3], [1, 3, 2], clusters=["same"] * 3)

    assert found.value == pytest.approx(0.5)
    assert np.isnan([found.low, found.high]).all()
    assert found.repetitions == 0


@given(scores, st.integers(0, 1000))
def test_all_resamples_at_once_equal_scipy_on_each(pairs: list[tuple[int, int]], seed: int) -> None:
    x, y = np.array(pairs, dtype=float).T
    counts = draw_counts(len(x), None, 5, seed)

    together = [many(x, y, counts) for many in (many_srcc, many_krcc)]

    for place, row in enumerate(counts):
        drawn = np.repeat(np.arange(len(x)), row.astype(int))
        a, b = x[drawn], y[drawn]
        if np.ptp(a) == 0 or np.ptp(b) == 0:
            continue
        expected = [stats.spearmanr(a, b).statistic, stats.kendalltau(a, b).statistic]
        assert [values[place] for values in together] == pytest.approx(expected, abs=1e-7)


def test_clusters_are_drawn_whole_and_as_many_as_there_are() -> None:
    counts = draw_counts(6, ["a", "a", "b", "b", "b", "c"], 200, seed=2)

    assert (counts[:, 0] == counts[:, 1]).all()
    assert (counts[:, 2] == counts[:, 3]).all()
    assert (counts[:, 0] + counts[:, 2] + counts[:, 5] == 3).all()


def test_a_statistic_of_ones_own_is_drawn_one_by_one() -> None:
    random = np.random.default_rng(5)
    x = random.normal(size=40)
    y = x + random.normal(size=40)

    known = bootstrap(srcc, x, y, repetitions=100)
    own = bootstrap(lambda a, b: float(stats.spearmanr(a, b).statistic), x, y, repetitions=100)

    assert (own.value, own.low, own.high) == pytest.approx((known.value, known.low, known.high))


@pytest.mark.parametrize("seed", range(12))
def test_the_curve_of_plcc_always_converges_and_says_its_form(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = np.round(rng.normal(0, 1, 30), 1)
    y = np.where(x > 0, 4.0, 2.0) + rng.normal(0, 0.001 * seed, 30)

    fit = fit_logistic(x, y)

    assert fit.form in ("five-parameter", "four-parameter", "line")
    assert plcc(fit(x), y) > 0.9


def test_a_handful_of_pictures_gets_a_straight_line_and_says_so() -> None:
    # Five parameters go through any five points: PLCC would be 1 whatever was predicted.
    predicted, observed = [1.0, 2.0, 3.0, 4.0, 5.0], [2.0, 4.5, 1.0, 3.0, 5.0]

    fit = fit_logistic(predicted, observed)

    assert fit.form == "line"
    assert "5 pictures are too few for a logistic" in fit.message
    assert plcc(fit(predicted), observed) == pytest.approx(stats.pearsonr(predicted, observed).statistic)
