"""Measured attributes against known damage, hand-worked values and scikit-image."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from agenticiqa.tools.metrics.attributes import (
    banding,
    colour_cast,
    contrast,
    overexposed_share,
    saturation,
    underexposed_share,
)
from agenticiqa.tools.metrics.blur_radius import blur_radius, sharpness
from agenticiqa.tools.metrics.jpeg import blockiness, jpeg_quality
from agenticiqa.tools.metrics.noise import noise_sigma
from agenticiqa.tools.synthetic.degradations import gaussian_blur
from tests.support.built_in_metrics import Pixels
from tests.support.photos import photo

PHOTOGRAPHS = ("astronaut", "chelsea", "coffee", "rocket", "motorcycle_left")


def as_bytes(values: object) -> Pixels:
    return np.asarray(np.clip(np.rint(np.asarray(values)), 0, 255), np.uint8)


def through_jpeg(image: Pixels, quality: int) -> Pixels:
    stream = io.BytesIO()
    Image.fromarray(image).save(stream, "JPEG", quality=quality)
    return np.asarray(Image.open(stream))


@pytest.mark.parametrize("sigma", [4, 8, 14, 24, 40])
def test_added_noise_is_found_within_a_fifth(sigma: float) -> None:
    random = np.random.default_rng(3)
    noisy = [as_bytes(photo(name) + random.normal(0, sigma, photo(name).shape)) for name in PHOTOGRAPHS]

    found = [noise_sigma(image) for image in noisy]

    assert sum(abs(value / sigma - 1) <= 0.2 for value in found) >= 4, found


def test_noise_on_a_plain_surface_is_found_within_three_percent() -> None:
    noisy = as_bytes(np.random.default_rng(5).normal(128, 10, (300, 300, 3)))

    # Rounding to whole grey levels adds a variance of one twelfth.
    assert noise_sigma(noisy) == pytest.approx(np.sqrt(100 + 1 / 12), rel=0.03)


@pytest.mark.parametrize("quality", [5, 10, 20, 35, 60, 80, 90])
@pytest.mark.parametrize("name", PHOTOGRAPHS)
def test_jpeg_quality_is_found_from_the_pixels(quality: int, name: str) -> None:
    assert abs(jpeg_quality(through_jpeg(photo(name), quality)) - quality) <= 2


def test_the_block_grid_is_found_after_a_crop() -> None:
    cropped = through_jpeg(photo("astronaut"), 40)[3:, 6:]

    assert abs(jpeg_quality(cropped) - 40) <= 2


@pytest.mark.parametrize("name", ["astronaut", "chelsea", "coffee"])
def test_a_photograph_kept_without_loss_shows_no_jpeg_traces_and_blocks_grow_with_compression(name: str) -> None:
    ladder = [blockiness(through_jpeg(photo(name), quality)) for quality in (80, 40, 20, 8)]

    assert jpeg_quality(photo(name)) >= 90
    assert ladder == sorted(ladder)


@pytest.mark.parametrize("sigma", [1.1, 1.9, 3.2, 5.5])
def test_added_blur_is_found_within_a_quarter_on_most_photographs(sigma: float) -> None:
    random = np.random.default_rng(0)
    found = [blur_radius(as_bytes(gaussian_blur(photo(name), sigma, random))) for name in PHOTOGRAPHS]

    assert sum(abs(value / sigma - 1) <= 0.25 for value in found) >= 4, found


@pytest.mark.parametrize("name", PHOTOGRAPHS)
def test_sharpness_is_one_less_the_blur_effect_of_scikit_image(name: str) -> None:
    from skimage.measure import blur_effect

    luma = np.rint(photo(name) @ np.array([0.299, 0.587, 0.114]))

    assert sharpness(photo(name)) == pytest.approx(1 - blur_effect(luma), abs=2e-3)


def test_banding_is_the_share_of_pixels_on_steps_between_flat_stretches() -> None:
    bands = np.repeat(np.arange(10) * 8, 20).astype(np.uint8)
    image = np.repeat(np.tile(bands, (64, 1))[..., None], 3, axis=2)

    # Nine steps in each row of 200 pixels, none in the columns.
    assert banding(image) == pytest.approx(9 / 200)


def test_a_smooth_gradient_and_a_hard_edge_are_not_banding() -> None:
    smooth = np.repeat(np.tile(np.arange(200, dtype=np.uint8), (64, 1))[..., None], 3, axis=2)
    edge = np.repeat(np.tile(np.repeat([20, 220], 100).astype(np.uint8), (64, 1))[..., None], 3, axis=2)

    assert banding(smooth) == banding(edge) == 0


def test_exposure_and_contrast_of_a_picture_half_black_half_white() -> None:
    image = np.zeros((10, 10, 3), np.uint8)
    image[:5] = 255

    assert overexposed_share(image) == underexposed_share(image) == pytest.approx(0.5)
    assert contrast(image) == pytest.approx(0.5)


@pytest.mark.parametrize("name", ["astronaut", "coffee"])
def test_colour_cast_and_saturation_agree_with_lab_of_scikit_image(name: str) -> None:
    from skimage.color import rgb2lab

    lab = rgb2lab(photo(name))
    means = lab[..., 1].mean(), lab[..., 2].mean()

    assert colour_cast(photo(name)) == pytest.approx(float(np.hypot(*means)), abs=0.1)
    assert saturation(photo(name)) == pytest.approx(float(np.hypot(lab[..., 1], lab[..., 2]).mean()), abs=0.1)


def test_a_grey_picture_has_neither_cast_nor_saturation() -> None:
    grey = np.repeat(np.arange(256, dtype=np.uint8)[None, :, None], 3, axis=2).repeat(20, axis=0)

    assert colour_cast(grey) < 0.05
    assert saturation(grey) < 0.05
