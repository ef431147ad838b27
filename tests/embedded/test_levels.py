"""Levels around a score: probabilities whose mean it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenticiqa.state import LEVEL_SCORES
from agenticiqa.values import level_probabilities


@given(st.floats(1, 5), st.floats(0.05, 2.5))
def test_level_probabilities_have_the_score_as_their_mean(score: float, error: float) -> None:
    levels = level_probabilities(score, error)

    assert sum(levels.values()) == pytest.approx(1)
    assert min(levels.values()) >= 0
    assert sum(LEVEL_SCORES[letter] * share for letter, share in levels.items()) == pytest.approx(score, abs=1e-6)


def test_a_symmetric_score_has_symmetric_levels() -> None:
    levels = level_probabilities(3.0, 0.7)
    shares = list(levels.values())

    assert shares == pytest.approx(shares[::-1])
    # The middle level holds |z| < 0.5/0.7 of a normal: erf(0.5/0.7/√2) = 0.5249
    assert levels["C"] == pytest.approx(0.5249, abs=1e-4)
