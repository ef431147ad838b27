"""The difference map: where, how strong, at native resolution."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt
import pytest

from agenticiqa.embedded.full_reference.difference_map import STRIP, difference_map, in_colours, visible_loss
from agenticiqa.errors import ImageSizeMismatchError

Pixels = npt.NDArray[np.uint8]


def picture(height: int = 600, width: int = 800) -> Pixels:
    random = np.random.default_rng(3)
    coarse = random.integers(40, 216, (height // 20, width // 20, 3)).astype(np.uint8)
    return np.asarray(cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC), np.uint8)


def test_the_map_has_the_pictures_size_and_is_dark_where_nothing_changed() -> None:
    reference = picture()
    test = reference.copy()
    test[100:200, 300:420] = np.random.default_rng(1).integers(0, 255, (100, 120, 3))

    found = difference_map(reference, test)

    assert found.shape == reference.shape[:2]
    assert found[300:].max() == 0
    assert found[110:190, 310:410].mean() > 0.3
    assert in_colours(found).shape == reference.shape
    assert in_colours(found)[300:].max() < in_colours(found)[110:190, 310:410].mean()


def test_an_identical_pair_has_an_empty_map_and_a_brighter_one_does_not() -> None:
    reference = picture(64, 64)

    same, brighter = difference_map(reference, reference), difference_map(reference, cv2.add(reference, 40))

    assert same.mean() == 0
    assert 0.3 < brighter.mean() < 1


@pytest.mark.parametrize("height", [STRIP - 1, STRIP + 2, STRIP + 31, 2 * STRIP + 5])
def test_strips_leave_no_seam(height: int) -> None:
    reference = picture(height // 20 * 20, 100)
    reference = np.asarray(cv2.resize(reference, (100, height)), np.uint8)
    test = np.asarray(cv2.GaussianBlur(reference, (0, 0), 3), np.uint8)

    whole = visible_loss(test, reference)
    below = visible_loss(test[2 * 60 :], reference[2 * 60 :])

    assert whole.shape[0] == (height + 1) // 2
    assert np.abs(whole[80:-4] - below[80 - 60 : -4][: len(whole) - 84]).max() < 1e-5


def test_pictures_of_different_size_are_refused() -> None:
    with pytest.raises(ImageSizeMismatchError):
        difference_map(picture(60, 80), picture(80, 60))
