"""What holds for every built-in metric, on good and on bad input."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from agenticiqa.errors import ImageSizeMismatchError, ImageTooSmallError, ToolError
from agenticiqa.tools.metrics.planes import percentile
from tests.support.built_in_metrics import ATTRIBUTES, FULL_REFERENCE, LOWER_IS_BETTER, MAPS, NO_REFERENCE, TOP, Pixels
from tests.support.metric_pictures import DAMAGES, pair
from tests.support.photos import photo

ONE_IMAGE = {**NO_REFERENCE, **ATTRIBUTES}


def plain(value: int, height: int = 180, width: int = 200) -> Pixels:
    return np.full((height, width, 3), value, np.uint8)


def static(seed: int = 0) -> Pixels:
    return np.random.default_rng(seed).integers(0, 256, (192, 192, 3), np.uint8)


def grey(name: str) -> Pixels:
    return np.repeat(photo(name).mean(axis=2, keepdims=True).astype(np.uint8), 3, axis=2)


STRANGE = {
    "black": plain(0),
    "white": plain(255),
    "one colour": np.full((180, 200, 3), (200, 30, 90), np.uint8),
    "pure noise": static(),
    "one pixel wide": photo("coffee")[:, :1],
    "one pixel": plain(7, 1, 1),
    "grey": grey("chelsea"),
    "very long": np.ascontiguousarray(np.tile(photo("coffee")[:200, :300], (1, 8, 1))),
}


@pytest.mark.parametrize("metric", FULL_REFERENCE)
@pytest.mark.parametrize("name", ["astronaut", "chelsea", "rocket"])
def test_an_identical_pair_gets_the_top_of_the_scale(metric: str, name: str) -> None:
    image = photo(name)

    value = FULL_REFERENCE[metric](image, image.copy())

    assert value == pytest.approx(TOP.get(metric, 1.0), abs=1e-6)


@pytest.mark.parametrize("metric", FULL_REFERENCE)
@pytest.mark.parametrize("kind", STRANGE)
def test_an_identical_strange_pair_gets_the_top_or_a_typed_error(metric: str, kind: str) -> None:
    image = STRANGE[kind]

    try:
        value = FULL_REFERENCE[metric](image, image)
    except ImageTooSmallError:
        assert min(image.shape[:2]) == 1
    else:
        assert value == pytest.approx(TOP.get(metric, 1.0), abs=1e-6)


@pytest.mark.parametrize("metric", FULL_REFERENCE)
@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_never_scores_as_well_as_the_original(metric: str, damage: str) -> None:
    test, reference = pair(f"coffee/{damage}")

    damaged, clean = FULL_REFERENCE[metric](test, reference), FULL_REFERENCE[metric](reference, reference)

    assert damaged > clean if metric in LOWER_IS_BETTER else damaged < clean


@pytest.mark.parametrize("metric", FULL_REFERENCE)
def test_noise_in_place_of_the_picture_is_worse_than_grain_on_it(metric: str) -> None:
    reference = photo("astronaut")
    grain, _ = pair("astronaut/grain")
    replaced = np.random.default_rng(1).integers(0, 256, reference.shape, np.uint8)

    with_grain, with_noise = FULL_REFERENCE[metric](grain, reference), FULL_REFERENCE[metric](replaced, reference)

    assert with_noise > with_grain if metric in LOWER_IS_BETTER else with_noise < with_grain


@pytest.mark.parametrize("metric", ["NSS_DISTANCE", "NSS_REGRESSION"])
def test_pure_noise_and_emptiness_score_worse_than_any_photograph(metric: str) -> None:
    names = ("astronaut", "chelsea", "coffee", "rocket")
    photographs = [NO_REFERENCE[metric](photo(name)) for name in names]
    empty = [NO_REFERENCE[metric](image) for image in (static(), plain(0), plain(255), plain(128))]

    if metric in LOWER_IS_BETTER:
        assert min(empty) > max(photographs)
    else:
        assert max(empty) < min(photographs)


@pytest.mark.parametrize("metric", ONE_IMAGE)
@pytest.mark.parametrize("kind", STRANGE)
def test_a_strange_image_gets_a_finite_value_or_a_typed_error(metric: str, kind: str) -> None:
    try:
        value = ONE_IMAGE[metric](STRANGE[kind])
    except ImageTooSmallError:
        assert min(STRANGE[kind].shape[:2]) == 1
    else:
        assert math.isfinite(value)


@pytest.mark.parametrize("metric", FULL_REFERENCE)
@pytest.mark.parametrize("kind", ["black", "white", "one colour"])
def test_a_photograph_against_a_plain_colour_gets_a_finite_value(metric: str, kind: str) -> None:
    photograph, plain_colour = photo("coffee")[:180, :200], STRANGE[kind]

    values = [FULL_REFERENCE[metric](photograph, plain_colour), FULL_REFERENCE[metric](plain_colour, photograph)]

    assert all(math.isfinite(value) for value in values)


@pytest.mark.parametrize("metric", FULL_REFERENCE)
def test_two_sizes_are_refused(metric: str) -> None:
    with pytest.raises(ImageSizeMismatchError, match="200×180"):
        FULL_REFERENCE[metric](plain(9), plain(9, 180, 199))


@pytest.mark.parametrize("metric", FULL_REFERENCE)
def test_floats_and_single_planes_are_refused(metric: str) -> None:
    floats, plane = plain(9).astype(np.float32), plain(9)[..., 0]

    for wrong in (floats, plane):
        with pytest.raises(ToolError, match="uint8"):
            FULL_REFERENCE[metric](wrong, wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("metric", MAPS)
def test_the_map_of_an_identical_pair_is_one_everywhere(metric: str) -> None:
    image = photo("chelsea")

    likeness = MAPS[metric](image, image)

    assert likeness.dtype == np.float32
    assert np.abs(likeness - 1).max() < 1e-6


@pytest.mark.parametrize("metric", MAPS)
def test_the_map_is_lowest_where_the_picture_was_spoilt(metric: str) -> None:
    reference = photo("astronaut")
    test = reference.copy()
    test[352:384, 96:128] = 255 - test[352:384, 96:128]

    likeness = MAPS[metric](test, reference)

    row, column = np.unravel_index(likeness.argmin(), likeness.shape)
    assert 344 <= row * 512 / likeness.shape[0] <= 392
    assert 88 <= column * 512 / likeness.shape[1] <= 136


def test_many_threads_get_the_values_of_one() -> None:
    test, reference = pair("chelsea/grain")
    functions = [partial(f, test, reference) for f in FULL_REFERENCE.values()]
    functions += [partial(f, test) for f in ONE_IMAGE.values()]
    alone = [function() for function in functions]

    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda function: function(), functions * 3))

    assert together == alone * 3


@pytest.mark.parametrize("metric", [*FULL_REFERENCE, *ONE_IMAGE])
def test_a_view_scores_like_its_copy_and_nothing_is_written_to(metric: str) -> None:
    big = photo("coffee")
    view = big[10:300, 20:400][:, ::-1]
    view.setflags(write=False)
    changed = np.ascontiguousarray(255 - view)
    copy = np.ascontiguousarray(view)

    if metric in FULL_REFERENCE:
        values = FULL_REFERENCE[metric](view, changed), FULL_REFERENCE[metric](copy, changed)
    else:
        values = ONE_IMAGE[metric](view), ONE_IMAGE[metric](copy)

    assert values[0] == values[1]


@settings(max_examples=25, deadline=None)
@given(arrays(np.uint8, (48, 52, 3)), arrays(np.uint8, (48, 52, 3)))
def test_any_two_small_images_stay_within_the_scale(test: Pixels, reference: Pixels) -> None:
    values = {name: f(test, reference) for name, f in FULL_REFERENCE.items() if name != "MS_SSIM"}

    assert all(math.isfinite(value) for value in values.values())
    assert 0 <= values["PSNR"] <= 100
    assert all(values[name] <= 1 + 1e-6 for name in ("SSIM", "FSIM", "VSI", "HaarPSI"))
    assert all(values[name] >= 0 for name in ("GMSD", "MS_GMSDc", "MDSI", "VIF", "FSIM", "HaarPSI"))


@settings(max_examples=25, deadline=None)
@given(arrays(np.uint8, (20, 24, 3)), st.integers(0, 255))
def test_psnr_is_the_same_in_both_directions_and_after_a_common_shift_of_channels(image: Pixels, value: int) -> None:
    other = np.full_like(image, value)

    forward = FULL_REFERENCE["PSNR"](image, other)

    assert forward == FULL_REFERENCE["PSNR"](other, image)
    assert forward == FULL_REFERENCE["PSNR"](image[..., ::-1], other)


def test_psnr_of_a_difference_of_one_grey_level_is_48_13_decibels() -> None:
    assert FULL_REFERENCE["PSNR"](plain(100), plain(101)) == pytest.approx(20 * math.log10(255))


@settings(deadline=None)
@given(
    st.sampled_from([np.float32, np.float64, np.uint8]),
    st.integers(1, 700),
    st.lists(st.integers(0, 1000).map(lambda tenths: tenths / 10), min_size=1, max_size=5),
)
def test_percentiles_are_numpys(kind: type[np.generic], size: int, percents: list[float]) -> None:
    values = np.random.default_rng(size).uniform(0, 255, size).astype(kind)

    assert percentile(values, percents) == pytest.approx(np.percentile(values, percents), rel=1e-6, abs=1e-4)
    assert percentile(values, percents[0]) == pytest.approx(np.percentile(values, percents[0]), rel=1e-6, abs=1e-4)
