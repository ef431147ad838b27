"""Labelled photographs at other sizes: what changes with the size, and what does not."""

from __future__ import annotations

import numpy as np
import pytest

from training.looks import FLAWS
from training.resized import at_scale, list_varied, vary


def photograph() -> np.ndarray:
    return np.random.default_rng(3).integers(0, 256, (512, 512, 3), np.uint8)


def test_a_photograph_varies_in_size_and_shape_and_the_same_seed_gives_the_same() -> None:
    pictures = [vary(photograph(), np.random.default_rng(seed))[0] for seed in range(12)]
    again = [vary(photograph(), np.random.default_rng(seed))[0] for seed in range(12)]

    assert len({picture.shape for picture in pictures}) > 6
    assert all(np.array_equal(first, second) for first, second in zip(pictures, again, strict=True))


def test_what_the_model_sees_is_never_larger_than_the_photograph() -> None:
    noted = [note for _, note in list_varied(((str(n), photograph()) for n in range(8)), 1)]

    assert all(0 < float(str(note["scale"])) <= 1 for note in noted)
    assert [note["names"] for note in noted] == [str(n) for n in range(8)]


@pytest.mark.parametrize(("flaw", "left"), [("blur", 1.0), ("noise", 1.3), ("dark", 2.0), ("colour", 2.0)])
def test_a_picture_of_half_the_size_loses_a_step_of_blur_and_none_of_its_darkness(flaw: str, left: float) -> None:
    severities = np.full((1, len(FLAWS)), 2.0)

    assert at_scale(severities, np.array([0.5]))[0, FLAWS.index(flaw)] == pytest.approx(left)


def test_no_flaw_becomes_less_than_none() -> None:
    assert at_scale(np.zeros((1, len(FLAWS))), np.array([0.4])).min() == 0.0
