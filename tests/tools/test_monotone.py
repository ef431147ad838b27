"""Between its knots a curve is SciPy's monotone interpolation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import PchipInterpolator

from agenticiqa.tools.calibration import Curve

steps = st.lists(st.floats(0.001, 10).map(lambda value: round(value, 3)), min_size=1, max_size=7)


@settings(deadline=None)
@given(steps, st.integers(0, 1000), st.booleans())
def test_the_curve_equals_scipys(rises: list[float], seed: int, falling: bool) -> None:
    x = np.cumsum(np.random.default_rng(seed).uniform(0.1, 3, len(rises) + 1))
    y = 1 + 4 * np.cumsum([0.0, *rises]) / (sum(rises) * 1.0001)
    y = y[::-1] if falling else y
    at = np.linspace(x[0], x[-1], 57)

    curve = Curve(knots=tuple(zip(x.tolist(), y.tolist(), strict=True)), spread=0.1)

    assert [curve.score(place) for place in at.tolist()] == pytest.approx(PchipInterpolator(x, y)(at), abs=1e-9)


def test_two_knots_make_a_straight_line() -> None:
    assert Curve(knots=((0.0, 1.0), (2.0, 5.0)), spread=0.1).score(0.5) == pytest.approx(2.0)
