"""Monotone interpolation agrees with SciPy's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import PchipInterpolator

from agenticiqa.tools.calibration import MonotoneCurve

heights = st.lists(st.floats(-10, 10).map(lambda value: round(value, 3)), min_size=2, max_size=8)


@settings(deadline=None)
@given(heights, st.integers(0, 1000))
def test_the_curve_equals_scipys(y: list[float], seed: int) -> None:
    x = np.cumsum(np.random.default_rng(seed).uniform(0.1, 3, len(y)))
    at = np.linspace(x[0], x[-1], 57)

    curve, peer = MonotoneCurve(x.tolist(), y), PchipInterpolator(x, y)

    assert curve(at) == pytest.approx(peer(at), abs=1e-9)


@settings(deadline=None)
@given(heights, st.integers(0, 1000))
def test_one_place_of_the_curve_is_what_many_give(y: list[float], seed: int) -> None:
    x = np.cumsum(np.random.default_rng(seed).uniform(0.1, 3, len(y)))
    at = np.linspace(x[0], x[-1], 13)

    curve = MonotoneCurve(x.tolist(), y)

    assert [curve.at(float(place)) for place in at] == pytest.approx(curve(at), abs=1e-12)


def test_two_knots_make_a_straight_line() -> None:
    assert MonotoneCurve([0.0, 2.0], [1.0, 5.0])(0.5) == pytest.approx(2.0)
