"""The values that stand for what is known: their parts cannot disagree."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenticiqa.state import DISTORTION_CATEGORIES, SEVERITIES, Region
from agenticiqa.values import Distortion, Reading

distortions = st.builds(
    Distortion,
    st.sampled_from(DISTORTION_CATEGORIES),
    st.floats(0, 1),
    st.floats(-1, 6),
    st.sampled_from([None, "motion_blur", "darken"]),
    colour=st.sampled_from([None, "blue"]),
    region=st.sampled_from([None, Region(left=0, top=0, right=1, bottom=1)]),
)


@given(distortions)
def test_severity_probability_and_presence_agree(found: Distortion) -> None:
    assert found.is_present == (found.severity != "none") == (found.probability >= 0.5) == (found.strength >= 0.5)
    assert found.is_present or (found.kind, found.colour, found.region) == (None, None, None)


@given(distortions, st.floats(0, 1), st.floats(0, 4))
def test_a_changed_copy_agrees_too(found: Distortion, probability: float, strength: float) -> None:
    changed = replace(found, probability=probability, strength=strength)

    assert changed.is_present == (changed.severity != "none") == (changed.probability >= 0.5)


@given(st.floats(0, 0.49), st.floats(0, 4), st.floats(0, 4))
def test_of_two_that_are_absent_the_stronger_stays_the_stronger(likely: float, one: float, other: float) -> None:
    weak, strong = (Distortion("Noise", likely, strength) for strength in sorted((one, other)))

    assert weak.strength <= strong.strength


@pytest.mark.parametrize("severity", SEVERITIES)
def test_a_severity_in_words_comes_back_as_it_was(severity: str) -> None:
    assert Distortion.called("Blurs", severity).severity == severity  # type: ignore[arg-type]


def test_a_probability_beyond_one_is_refused() -> None:
    with pytest.raises(ValueError, match="Noise must lie between 0 and 1"):
        Distortion("Noise", 1.2, 1.0)


@pytest.mark.parametrize(("mean", "direction"), [(200.0, "bright"), (40.0, "dark")])
def test_a_shifted_brightness_goes_to_the_side_of_its_mean(mean: float, direction: str) -> None:
    shifted = Distortion("Brightness change", 0.9, 2.0, "mean_shift", (Reading("mean brightness", mean),))

    assert shifted.direction == direction
