"""Curves from raw values to the common scale, and how they are fitted."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from scipy.interpolate import PchipInterpolator
from scipy.optimize import nnls
from scipy.stats import spearmanr

from agenticiqa.errors import CalibrationError
from agenticiqa.tools.calibration import Calibration, Curve, packaged_calibrations, parse_calibrations, same_scale
from agenticiqa.tools.catalogue import load_catalogue
from agenticiqa.tools.curve_fitting import evaluate, fit_curve, nonnegative_least_squares, shrink

CARDS = load_catalogue()
# The learned tools are on the scale already; their entries hold only how far they err.
PACKAGED = {name: found for name, found in packaged_calibrations().items() if name in CARDS}
OPEN = {name: found for name, found in packaged_calibrations("commercial").items() if name in CARDS}
SIMILARITIES = ("SSIM", "MS_SSIM", "FSIM", "VSI", "HaarPSI")
DISTANCES = ("GMSD", "MS_GMSDc", "MDSI")
RISING = Curve(knots=((0.0, 1.5), (10.0, 3.0), (20.0, 4.5)), spread=0.3)


def calibration(**kinds: Curve) -> Calibration:
    return Calibration(method="ratings", data="made up", overall=RISING, kinds=kinds)


def raw_values(name: str) -> st.SearchStrategy[float]:
    """Raw values over and beyond the part of the tool's range its curve was fitted on."""
    places = [x for x, _ in PACKAGED[name].overall.knots]
    width = places[-1] - places[0]
    low, high = CARDS[name].raw_range
    return st.floats(
        max(places[0] - 0.3 * width, -math.inf if low is None else low),
        min(places[-1] + 0.3 * width, math.inf if high is None else high),
    )


def test_between_knots_the_curve_is_scipys_monotone_interpolation() -> None:
    expected = PchipInterpolator([0, 10, 20], [1.5, 3.0, 4.5])

    assert [RISING.score(x) for x in (0.0, 3.3, 14.2, 20.0)] == pytest.approx(expected([0, 3.3, 14.2, 20]))


def test_beyond_the_knots_the_curve_approaches_the_ends_of_the_scale() -> None:
    # Slope 0.15 at the last knot with 0.5 left: 5 − 0.5·exp(−0.15·10/0.5).
    assert RISING.score(30.0) == pytest.approx(5 - 0.5 * math.exp(-3))
    assert RISING.score(-10.0) == pytest.approx(1 + 0.5 * math.exp(-3))
    assert RISING.score(1e9) == 5.0


@pytest.mark.parametrize(
    "knots",
    [((0.0, 1.0),), ((0.0, 1.0), (0.0, 2.0)), ((0.0, 1.0), (1.0, 3.0), (2.0, 2.0)), ((0.0, 0.5), (1.0, 3.0))],
)
def test_knots_that_are_not_strictly_monotone_on_the_scale_are_refused(knots: tuple[tuple[float, float], ...]) -> None:
    with pytest.raises(ValidationError):
        Curve(knots=knots, spread=0.1)


def test_without_kinds_the_overall_curve_decides() -> None:
    assert calibration(Blurs=same_scale("", 0.1).overall).score(10.0) == (3.0, 0.3)


def test_the_score_is_the_mean_over_kinds_with_five_percent_left_for_others() -> None:
    high = Curve(knots=((0.0, 4.0), (20.0, 5.0)), spread=0.3)

    score, spread = calibration(Blurs=high).score(10.0, {"Blurs": 1.0})

    assert score == pytest.approx(0.95 * 4.5 + 0.05 * 3.0)
    variance = 0.3**2 + 0.95 * (4.5 - score) ** 2 + 0.05 * (3.0 - score) ** 2
    assert spread == pytest.approx(math.sqrt(variance))


def test_a_kind_without_a_curve_counts_as_other() -> None:
    high = Curve(knots=((0.0, 4.0), (20.0, 5.0)), spread=0.3)

    score, _ = calibration(Blurs=high).score(10.0, {"Blurs": 0.4, "Noise": 0.6})

    assert score == pytest.approx(0.4 * 4.5 + 0.6 * 3.0)


def test_probabilities_that_sum_above_one_are_shared_out() -> None:
    high = Curve(knots=((0.0, 4.0), (20.0, 5.0)), spread=0.3)

    score, _ = calibration(Blurs=high).score(10.0, {"Blurs": 1.0, "Noise": 1.0})

    assert score == pytest.approx(0.5 * 4.5 + 0.5 * 3.0)


@pytest.mark.parametrize("share", [-0.1, float("nan"), float("inf")])
def test_probabilities_that_are_none_are_refused(share: float) -> None:
    with pytest.raises(CalibrationError, match="finite and not negative"):
        calibration(Blurs=RISING).score(10.0, {"Blurs": share})


def test_a_tool_on_the_common_scale_is_read_as_it_is() -> None:
    learned = same_scale("ratings", spread=0.25)

    assert [learned.score(value)[0] for value in (1.0, 2.75, 5.0)] == pytest.approx([1.0, 2.75, 5.0])


@pytest.mark.parametrize("increasing", [True, False])
def test_a_fit_recovers_a_known_curve(increasing: bool) -> None:
    random = np.random.default_rng(3)
    raw = random.uniform(0, 10, 400)
    known = 1.2 + 3.5 / (1 + np.exp(-(raw - 5)))
    scores = known if increasing else 6 - known

    curve = fit_curve(raw, scores + random.normal(0, 0.1, 400), increasing=increasing)

    assert evaluate(curve, raw) == pytest.approx(scores, abs=0.25)
    assert curve.spread == pytest.approx(0.1, abs=0.05)
    assert curve.increasing is increasing


def test_an_anchored_fit_reads_five_at_the_best_value() -> None:
    raw = np.linspace(0.5, 0.98, 50)

    curve = fit_curve(raw, 1 + 3 * raw, increasing=True, best=1.0)

    assert curve.score(1.0) == 5.0
    assert curve.score(1.0001) == 5.0


@given(st.lists(st.tuples(st.floats(-50, 50), st.floats(1, 5)), min_size=12, max_size=40), st.booleans())
@settings(max_examples=60, deadline=None)
def test_whatever_the_data_the_curve_rises_strictly(points: list[tuple[float, float]], increasing: bool) -> None:
    raw, scores = np.array(points).T
    if np.unique(raw).size < 8 or np.ptp(raw) < 1e-3:
        return

    curve = fit_curve(raw, scores, increasing=increasing)

    heights = evaluate(curve, np.linspace(raw.min(), raw.max(), 50))
    assert (np.diff(heights) * (1 if increasing else -1) > 0).all()
    assert (heights >= 1).all()
    assert (heights <= 5).all()


def test_too_few_values_are_no_fit() -> None:
    with pytest.raises(CalibrationError, match="8 different raw values"):
        fit_curve([1.0] * 20, [3.0] * 20, increasing=True)


def test_a_value_that_is_no_number_is_no_fit() -> None:
    with pytest.raises(CalibrationError, match="finite"):
        fit_curve([*range(19), math.nan], [3.0] * 20, increasing=True)


@pytest.mark.parametrize(("points", "references", "share"), [(30, 5, 1.0), (15, 5, 0.5), (60, 2, 0.4), (15, 2, 0.2)])
def test_a_curve_with_little_data_leans_on_the_overall_one(points: int, references: int, share: float) -> None:
    other = Curve(knots=((0.0, 2.5), (10.0, 4.0), (20.0, 4.8)), spread=0.3, points=points, references=references)

    leaning = shrink(other, RISING)

    assert leaning.score(10.0) == pytest.approx(share * 4.0 + (1 - share) * 3.0)


def test_no_curve_leaves_the_overall_one_by_more_than_its_reach() -> None:
    other = Curve(knots=((0.0, 2.5), (10.0, 4.0), (20.0, 4.8)), spread=0.3, points=30, references=5)

    bounded = shrink(other, RISING, reach=0.2)

    gaps = evaluate(bounded, np.linspace(0, 20, 40)) - evaluate(RISING, np.linspace(0, 20, 40))
    assert np.abs(gaps).max() <= 0.21
    # Worked by hand at the middle knot: 3 + 0.2·tanh(1/0.2).
    assert bounded.score(10.0) == pytest.approx(3 + 0.2 * math.tanh(5))


@pytest.mark.parametrize("name", sorted(PACKAGED))
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_packaged_curves_rise_strictly_with_quality(name: str, data: st.DataObject) -> None:
    first, second = sorted((data.draw(raw_values(name)), data.draw(raw_values(name))))
    found = PACKAGED[name]
    span = found.overall.knots[-1][0] - found.overall.knots[0][0]
    if second - first < 1e-4 * span:
        return
    sign = 1 if CARDS[name].higher_is_better else -1

    assert sign * (found.overall.score(second) - found.overall.score(first)) > 0
    for curve in found.kinds.values():
        assert sign * (curve.score(second) - curve.score(first)) >= 0


@pytest.mark.parametrize("name", sorted(PACKAGED))
def test_a_packaged_curve_does_not_change_any_order(name: str) -> None:
    places = [x for x, _ in PACKAGED[name].overall.knots]
    random = np.random.default_rng(5)
    raw = random.uniform(places[0], places[-1], 300)
    truth = random.normal(size=300) + raw / np.std(raw)

    before = abs(spearmanr(raw, truth).statistic)
    after = abs(spearmanr(evaluate(PACKAGED[name].overall, raw), truth).statistic)

    assert after == pytest.approx(before, abs=1e-6)


def test_every_built_in_quality_metric_has_a_curve() -> None:
    ours = {
        name for name, card in CARDS.items() if card.implementation.startswith("builtin:") and card.role == "metric"
    }

    assert ours <= set(PACKAGED)


def test_no_two_tools_share_a_curve() -> None:
    curves = [found.overall.knots for found in PACKAGED.values()]

    assert len(set(curves)) == len(curves)


@pytest.mark.parametrize(
    ("name", "identical"),
    [("PSNR", 100), *((name, 1) for name in SIMILARITIES), *((name, 0) for name in DISTANCES)],
)
def test_the_value_of_an_identical_pair_reads_exactly_five(name: str, identical: float) -> None:
    assert PACKAGED[name].overall.score(identical) == 5.0


@pytest.mark.parametrize("name", sorted(name for name in PACKAGED if name in CARDS and CARDS[name].reference == "FR"))
def test_a_wrong_kind_costs_at_most_two_hundredths_and_a_true_one_gains(name: str) -> None:
    study = PACKAGED[name].study

    for level in ("kind", "category"):
        assert study["global"] - study[f"{level} wrong"] <= 0.02
        assert study[f"{level} true"] >= study["global"] - 0.005


def test_under_commercial_terms_curves_have_seen_no_research_data() -> None:
    assert {"PSNR", "SSIM", "VSI", "MDSI", "PIQE"} <= set(OPEN)
    assert not any(found.research_only or found.method == "ratings" for found in OPEN.values())
    assert not any(CARDS[name].research_only for name in OPEN)


@pytest.mark.parametrize("name", sorted(OPEN))
def test_open_curves_rise_strictly_with_quality(name: str) -> None:
    places = [x for x, _ in OPEN[name].overall.knots]
    heights = evaluate(OPEN[name].overall, np.linspace(places[0], places[-1], 200))

    assert (np.diff(heights) * (1 if CARDS[name].higher_is_better else -1) > 0).all()


@pytest.mark.parametrize(
    ("content", "culprit"),
    [
        ([1, 2], "entries by name"),
        (
            {"PSNR": {"calibration": "ratings", "data": "x", "overall": {"knots": [[0, 1]], "spread": 1}}},
            "PSNR.overall",
        ),
        ({"PSNR": {"calibration": "guess", "data": "x"}}, "PSNR.calibration"),
    ],
)
def test_a_broken_calibration_is_named(content: object, culprit: str) -> None:
    with pytest.raises(CalibrationError, match=culprit):
        parse_calibrations(content, "file.yaml")


@given(st.integers(0, 2**32 - 1))
def test_nonnegative_least_squares_equals_scipys(seed: int) -> None:
    random = np.random.default_rng(seed)
    rows = random.normal(size=(int(random.integers(3, 40)), int(random.integers(1, 12))))
    wanted = random.normal(size=len(rows))

    found = nonnegative_least_squares(rows, wanted)

    assert (found >= 0).all()
    assert np.linalg.norm(rows @ found - wanted) == pytest.approx(nnls(rows, wanted)[1], rel=1e-8, abs=1e-10)
