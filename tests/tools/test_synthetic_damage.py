"""Damage made on purpose: ordered, repeatable, and on the pixels only."""

from __future__ import annotations

import io
import itertools

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image
from skimage import data

from agenticiqa.errors import UsageError
from agenticiqa.tools.synthetic.kinds import KINDS, LEVELS, distort, mix

CATEGORIES = {"Blurs", "Color distortions", "Compression", "Noise", "Brightness change", "Sharpness", "Contrast"}


@pytest.fixture(scope="module")
def photograph() -> npt.NDArray[np.uint8]:
    return np.ascontiguousarray(data.astronaut()[32:288, 64:320])


def error(image: npt.NDArray[np.uint8], other: npt.NDArray[np.uint8]) -> float:
    return float(((image.astype(float) - other) ** 2).mean())


@pytest.mark.parametrize("kind", KINDS)
def test_every_stronger_level_is_further_from_the_original(kind: str, photograph: npt.NDArray[np.uint8]) -> None:
    errors = [error(photograph, distort(photograph, kind, level, seed=3)) for level in LEVELS]

    assert errors[0] > 0
    assert all(weaker < stronger for weaker, stronger in itertools.pairwise(errors))


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_seed_gives_the_same_picture_and_leaves_the_original_alone(
    kind: str, photograph: npt.NDArray[np.uint8]
) -> None:
    before = photograph.copy()

    first, second = (distort(photograph, kind, 3, seed=11) for _ in range(2))

    assert np.array_equal(first, second)
    assert np.array_equal(photograph, before)
    assert first.dtype == np.uint8
    assert first.shape == photograph.shape


@pytest.mark.parametrize("kind", KINDS)
def test_a_picture_of_odd_and_small_size_can_be_damaged(kind: str, photograph: npt.NDArray[np.uint8]) -> None:
    small = photograph[:33, :47]

    assert distort(small, kind, 5).shape == small.shape


def test_there_are_kinds_of_every_category() -> None:
    assert len(KINDS) >= 25
    assert {kind.category for kind in KINDS.values()} == CATEGORIES
    assert all(name == kind.name for name, kind in KINDS.items())


def test_white_noise_has_the_strength_the_table_promises() -> None:
    grey = np.full((256, 256, 3), 128, np.uint8)

    noisy = distort(grey, "white_noise", 3)

    assert noisy.astype(float).std() == pytest.approx(KINDS["white_noise"].amounts[2], rel=0.02)


def test_jpeg_equals_what_the_codec_writes_at_that_quality(photograph: npt.NDArray[np.uint8]) -> None:
    stream = io.BytesIO()
    Image.fromarray(photograph).save(stream, "JPEG", quality=int(KINDS["jpeg"].amounts[2]), subsampling=2)

    expected = np.asarray(Image.open(stream))

    assert np.array_equal(distort(photograph, "jpeg", 3), expected)


def test_impulse_noise_hits_the_promised_share_of_samples() -> None:
    grey = np.full((256, 256, 3), 128, np.uint8)

    hit = (distort(grey, "impulse_noise", 4) != 128).mean()

    assert 100 * hit == pytest.approx(KINDS["impulse_noise"].amounts[3], rel=0.05)


def test_halving_the_contrast_keeps_the_mean() -> None:
    ramp = np.broadcast_to(np.arange(56, 201, dtype=np.uint8)[None, :, None], (40, 145, 3))

    flat = distort(np.ascontiguousarray(ramp), "contrast_down", 5)

    assert flat.mean() == pytest.approx(128, abs=0.5)
    assert np.ptp(flat) == pytest.approx(0.16 * 144, abs=1.5)


def test_a_mix_applies_its_parts_in_turn(photograph: npt.NDArray[np.uint8]) -> None:
    mixed = mix(photograph, [("gaussian_blur", 2), ("white_noise", 3)], seed=5)

    by_hand = distort(distort(photograph, "gaussian_blur", 2, seed=5), "white_noise", 3, seed=6)
    assert np.array_equal(mixed, by_hand)


def test_an_unknown_kind_or_level_is_refused_with_the_choices(photograph: npt.NDArray[np.uint8]) -> None:
    with pytest.raises(UsageError, match="gaussian_blur"):
        distort(photograph, "gausian_blur", 1)
    with pytest.raises(UsageError, match="1 to 5"):
        distort(photograph, "jpeg", 6)
