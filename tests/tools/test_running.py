"""Running tools: limits, bad input, cache and replacement."""

from __future__ import annotations

import contextlib
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from agenticiqa.cache import Cache
from agenticiqa.config import load_settings
from agenticiqa.errors import (
    AgenticIQAError,
    ImageError,
    ImageFormatError,
    ImageSizeMismatchError,
    ImageTooSmallError,
    ToolError,
    ToolTimeoutError,
    ToolUnavailableError,
)
from agenticiqa.images import LoadedImage, load_image
from agenticiqa.state import Region
from agenticiqa.tools import Calibration, Curve, ToolRegistry, default_registry
from agenticiqa.tools.catalogue import load_catalogue
from agenticiqa.tools.running import Room, same_pixels, spread_parts
from tests.support.fake_tools import Broken, Declining, MeanBrightness, MeanDifference, Missing, NotANumber, Slow
from tests.support.photos import photo

LINE = Calibration(method="ratings", data="made up", overall=Curve(knots=((0.0, 1.0), (255.0, 5.0)), spread=0.4))
FALLING = Calibration(method="ratings", data="made up", overall=Curve(knots=((0.0, 5.0), (255.0, 1.0)), spread=0.4))


def flat(value: int, height: int = 32, width: int = 32) -> LoadedImage:
    return load_image(np.full((height, width, 3), value, np.uint8))


def halves(left: int, right: int, height: int = 40, width: int = 80) -> LoadedImage:
    pixels = np.full((height, width, 3), left, np.uint8)
    pixels[:, width // 2 :] = right
    return load_image(pixels)


def test_raw_and_calibrated_values_come_with_spread_and_time() -> None:
    registry = ToolRegistry([MeanBrightness()], {"MEAN": LINE})

    said = registry.execute("MEAN", flat(51))

    assert (said.tool, said.raw, said.spread) == ("MEAN", 51.0, 0.4)
    assert said.calibrated == pytest.approx(1.8)
    assert said.seconds > 0


def test_a_tool_without_a_curve_is_reported_raw() -> None:
    said = ToolRegistry([MeanBrightness()]).execute("MEAN", flat(51))

    assert (said.raw, said.calibrated, said.spread) == (51.0, None, None)


def test_an_attribute_is_never_put_on_the_scale() -> None:
    said = ToolRegistry([MeanBrightness(role="attribute")], {"MEAN": LINE}).execute("MEAN", flat(51))

    assert said.calibrated is None


def test_a_region_is_all_the_tool_sees() -> None:
    registry = ToolRegistry([MeanBrightness()])

    said = registry.execute("MEAN", halves(10, 200), region=Region(left=40, top=0, right=80, bottom=40))

    assert said.raw == 200.0


def test_a_region_over_the_border_is_cut_and_noted() -> None:
    said = ToolRegistry([MeanBrightness()]).execute(
        "MEAN", flat(9), region=Region(left=16, top=16, right=99, bottom=99)
    )

    assert said.notes == ("region cut at the image's border to 16×16 pixels",)


def test_a_region_outside_the_image_is_an_error() -> None:
    with pytest.raises(ImageError, match="outside the image of 32×32"):
        ToolRegistry([MeanBrightness()]).execute("MEAN", flat(9), region=Region(left=50, top=0, right=60, bottom=9))


def test_images_of_different_size_are_an_error_that_offers_to_align() -> None:
    registry = ToolRegistry([MeanDifference()])

    with pytest.raises(ImageSizeMismatchError, match=r"32×32 and the reference 64×64.*set align to resize"):
        registry.execute("DIFFERENCE", flat(9), flat(9, 64, 64))


def test_aligning_scales_the_reference_and_says_so() -> None:
    registry = ToolRegistry([MeanDifference()])

    said = registry.execute("DIFFERENCE", flat(9), flat(19, 64, 64), align="resize")

    assert said.raw == 10.0
    assert said.notes == ("reference scaled from 64×64 to 32×32",)


def test_a_comparing_tool_without_a_reference_names_the_remedy() -> None:
    with pytest.raises(ToolUnavailableError, match="give the original too"):
        ToolRegistry([MeanDifference()]).execute("DIFFERENCE", flat(9))


def test_an_image_too_small_for_the_tool_is_told_so() -> None:
    with pytest.raises(ImageTooSmallError, match="at least 64 pixels on each side and got 32×32"):
        ToolRegistry([MeanBrightness(min_side=64)]).execute("MEAN", flat(9))


def test_an_unavailable_tool_gives_its_reason() -> None:
    with pytest.raises(ToolUnavailableError, match="pip install something"):
        ToolRegistry([Missing("AWAY")]).execute("AWAY", flat(9))


def test_an_identical_pair_reads_exactly_five() -> None:
    registry = ToolRegistry([MeanDifference()], {"DIFFERENCE": FALLING})

    said = registry.execute("DIFFERENCE", flat(9), flat(9))

    assert said.calibrated == 5.0
    assert "test and reference are identical" in said.notes


def test_a_value_outside_the_tools_range_does_not_vote() -> None:
    registry = ToolRegistry([MeanBrightness(raw_range=(0, 100))], {"MEAN": LINE})

    said = registry.execute("MEAN", flat(200))

    assert (said.raw, said.calibrated) == (200.0, None)
    assert "outside the range" in said.notes[0]


@pytest.mark.parametrize(
    ("tool", "message"),
    [(Broken("T"), "ZeroDivisionError: nothing to divide"), (Declining("T"), "not today"), (NotANumber("T"), "nan")],
)
def test_whatever_a_tool_does_wrong_is_a_tool_error(tool: MeanBrightness, message: str) -> None:
    with pytest.raises(ToolError, match=message):
        ToolRegistry([tool]).execute("T", flat(9))


def test_a_tool_that_takes_too_long_is_given_up() -> None:
    registry = ToolRegistry([Slow("SLOW")], timeout=0.05)

    with pytest.raises(ToolTimeoutError, match=r"longer than 0\.05 s"):
        registry.execute("SLOW", flat(9))


def test_above_the_budget_the_tiles_mean_is_the_whole_mean() -> None:
    tool = MeanBrightness(max_pixels=1000)

    said = ToolRegistry([tool]).execute("MEAN", halves(10, 200))

    assert said.raw == pytest.approx(105.0)
    assert tool.calls == 4
    assert said.notes == ("80×40 pixels exceed the budget of 1000: mean over 2×2 tiles, weighted by their area",)


def test_above_the_budget_a_tool_that_works_at_viewing_size_sees_a_smaller_image() -> None:
    said = ToolRegistry([MeanBrightness(max_pixels=800, oversize="shrink")]).execute("MEAN", halves(10, 200))

    assert said.raw == pytest.approx(105.0, abs=0.5)
    assert said.notes == ("80×40 pixels exceed the budget of 800: shrunk to 40×20 by area averaging",)


def test_evenly_spread_parts_stand_for_a_picture_that_is_larger_still() -> None:
    tool = MeanBrightness(max_pixels=700 * 700, sampled_above=1_000_000)
    ramp = np.broadcast_to(np.arange(2400, dtype=np.float32) / 2400 * 200, (1200, 2400))
    picture = load_image(np.repeat(ramp.astype(np.uint8)[:, :, None], 3, axis=2))

    said = ToolRegistry([tool]).execute("MEAN", picture)

    assert said.raw == pytest.approx(100, abs=1)
    assert tool.calls == 8
    assert said.notes == ("2400×1200 pixels: mean over 8 parts of 576×576, evenly spread",)


@pytest.mark.parametrize("size", [(7000, 7000), (800, 51_000), (51_000, 800), (8000, 6000), (600, 20_000)])
def test_the_parts_lie_within_the_picture_and_reach_its_ends(size: tuple[int, int]) -> None:
    parts = spread_parts(*size)

    assert 1 < len(parts) <= 9
    for axis, length in enumerate(size):
        assert min(part[axis].start for part in parts) >= 0
        assert max(part[axis].stop for part in parts) <= length
        assert max(part[axis].stop for part in parts) > length - 576


def test_equal_pictures_are_told_from_those_that_differ_in_the_last_pixel() -> None:
    first = np.zeros((300, 20, 3), np.uint8)
    second = first.copy()
    second[-1, -1, 2] = 1

    assert same_pixels(first, first.copy())
    assert not same_pixels(first, second)
    assert not same_pixels(first, first[:-1])


def test_an_image_that_cannot_be_cut_to_the_budget_is_an_error() -> None:
    with pytest.raises(ImageTooSmallError, match="crop the image"):
        ToolRegistry([MeanBrightness(min_side=30, max_pixels=500)]).execute("MEAN", flat(9))


def test_the_same_image_is_measured_once(tmp_path: Path) -> None:
    tool, cache = MeanBrightness(), Cache(tmp_path / "cache.sqlite")
    registry = ToolRegistry([tool], cache=cache)

    first, second = registry.execute("MEAN", flat(9)), registry.execute("MEAN", flat(9))

    assert tool.calls == 1
    assert first.raw == second.raw
    cache.close()


def test_another_process_finds_the_result_on_disk(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache.sqlite")
    before, after = MeanBrightness(max_pixels=500), MeanBrightness(max_pixels=500)
    first = ToolRegistry([before], cache=cache).execute("MEAN", flat(9))

    second = ToolRegistry([after], cache=cache).execute("MEAN", flat(9))

    assert after.calls == 0
    assert (second.raw, second.notes) == (first.raw, first.notes)
    assert cache.statistics()["tools"].hits == 1
    cache.close()


def test_another_pixel_budget_is_another_measurement(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache.sqlite")
    ToolRegistry([MeanBrightness()], cache=cache).execute("MEAN", flat(9))
    tool = MeanBrightness(max_pixels=500)

    tiled = ToolRegistry([tool], cache=cache).execute("MEAN", flat(9))

    assert tool.calls > 1
    assert any("exceed the budget of 500" in note for note in tiled.notes)
    cache.close()


@pytest.mark.parametrize("change", ["version", "region", "image"])
def test_a_result_is_not_used_for_anything_else(change: str, tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache.sqlite")
    ToolRegistry([MeanBrightness()], cache=cache).execute("MEAN", flat(9))
    tool = MeanBrightness(version="2" if change == "version" else "1")
    region = Region(left=0, top=0, right=16, bottom=16) if change == "region" else None

    ToolRegistry([tool], cache=cache).execute("MEAN", flat(10 if change == "image" else 9), region=region)

    assert tool.calls == 1
    cache.close()


def test_a_failing_tool_is_replaced_by_the_cheapest_suitable_one_and_marked() -> None:
    tools = [Broken("FIRST"), MeanBrightness("DEAR", cost="heavy"), MeanBrightness("CHEAP")]
    registry = ToolRegistry(tools, {"DEAR": LINE, "CHEAP": LINE})

    logs = registry.execute_with_fallback("FIRST", flat(51), object_name="car", distortion="Blurs")

    assert [(log.tool_name, log.fallback, log.error is None) for log in logs] == [
        ("FIRST", False, False),
        ("CHEAP", True, True),
    ]
    assert logs[-1].normalized_score == pytest.approx(1.8)
    assert (logs[-1].object_name, logs[-1].distortion) == ("car", "Blurs")


def test_when_no_tool_is_left_the_record_says_so() -> None:
    registry = ToolRegistry([Broken("FIRST"), Declining("SECOND")], {"SECOND": LINE})

    logs = registry.execute_with_fallback("FIRST", flat(51))

    assert [log.tool_name for log in logs] == ["FIRST", "SECOND"]
    assert logs[-1].error == "not today"
    assert logs[-1].notes == ["no suitable tool is left to replace it"]


def test_a_tool_named_by_the_query_is_not_replaced() -> None:
    registry = ToolRegistry([Broken("FIRST"), MeanBrightness("OTHER")], {"OTHER": LINE})

    logs = registry.execute_with_fallback("FIRST", flat(51), substitute=False)

    assert [log.tool_name for log in logs] == ["FIRST"]


def test_a_pair_of_different_size_falls_back_to_a_tool_without_reference() -> None:
    registry = ToolRegistry(
        [MeanDifference("A"), MeanDifference("B"), MeanBrightness("C")], {"A": FALLING, "B": FALLING, "C": LINE}
    )

    logs = registry.execute_with_fallback("A", flat(51), flat(51, 64, 64))

    assert [log.tool_name for log in logs] == ["A", "C"]


BUILT_IN = [name for name, card in load_catalogue().items() if card.implementation.startswith("builtin:")]
BUILT_IN_FR = ("PSNR", "SSIM", "MS_SSIM", "GMSD", "MS_GMSDc", "FSIM", "VSI", "MDSI", "HaarPSI", "VIF")


@pytest.fixture(scope="module")
def registry() -> ToolRegistry:
    return default_registry(load_settings(overrides={"pipeline": {"cache": {"enabled": False}}}))


def noisy(pixels: NDArray[np.uint8], sigma: float) -> NDArray[np.uint8]:
    noise = np.random.default_rng(1).normal(0, sigma, pixels.shape)
    return np.clip(pixels + noise, 0, 255).astype(np.uint8)


@pytest.mark.parametrize("name", BUILT_IN_FR)
def test_a_batch_over_threads_equals_one_at_a_time(registry: ToolRegistry, name: str) -> None:
    reference = load_image(photo("coffee")[:200, :240])
    tests = [load_image(noisy(reference.pixels, sigma)) for sigma in (2, 5, 10, 20)]
    fresh = default_registry(load_settings(overrides={"pipeline": {"cache": {"enabled": False}}}))

    single = [registry.execute(name, test, reference).raw for test in tests]
    with ThreadPoolExecutor(4) as pool:
        batch = [said.raw for said in pool.map(lambda test: fresh.execute(name, test, reference), tests)]

    assert batch == single


def uniform_noise() -> NDArray[np.uint8]:
    return np.random.default_rng(2).integers(0, 256, (224, 224, 3), dtype=np.uint8)


ODD_PICTURES: dict[str, NDArray[np.uint8]] = {
    "black": np.zeros((192, 192, 3), np.uint8),
    "white": np.full((192, 192, 3), 255, np.uint8),
    "red": np.tile(np.array([200, 10, 10], np.uint8), (192, 192, 1)),
    "noise": uniform_noise(),
    "grey": np.repeat(np.asarray(photo("coffee")[:200, :200].mean(2), np.uint8)[..., None], 3, axis=2),
    "narrow": np.full((300, 8, 3), 90, np.uint8),
    "small": np.full((8, 8, 3), 90, np.uint8),
}


@pytest.mark.parametrize("picture", ODD_PICTURES)
@pytest.mark.parametrize("name", BUILT_IN)
def test_odd_pictures_get_a_number_or_a_typed_error(registry: ToolRegistry, name: str, picture: str) -> None:
    image = load_image(ODD_PICTURES[picture])
    other = load_image(noisy(image.pixels, 3))

    with contextlib.suppress(AgenticIQAError):
        said = registry.execute(name, image, other)
        assert np.isfinite(said.raw)
        assert said.calibrated is None or 1 <= said.calibrated <= 5


@pytest.mark.parametrize("picture", ["black", "white", "red", "noise", "grey"])
@pytest.mark.parametrize("name", BUILT_IN_FR)
def test_an_identical_pair_is_the_top_of_every_scale(registry: ToolRegistry, name: str, picture: str) -> None:
    image = load_image(ODD_PICTURES[picture])

    assert registry.execute(name, image, load_image(ODD_PICTURES[picture].copy())).calibrated == 5.0


@pytest.mark.parametrize("name", [name for name in BUILT_IN if name not in BUILT_IN_FR])
def test_pure_noise_does_not_score_as_good(registry: ToolRegistry, name: str) -> None:
    said = registry.execute(name, load_image(ODD_PICTURES["noise"]))

    assert said.calibrated is None or said.calibrated < 2.5


def test_an_image_one_pixel_wide_is_refused_when_it_is_loaded() -> None:
    with pytest.raises(ImageTooSmallError):
        load_image(np.zeros((100, 1, 3), np.uint8))


def test_pixels_that_are_no_numbers_are_refused_when_they_are_loaded() -> None:
    pixels = np.full((64, 64), 0.5, np.float32)
    pixels[3, 4] = np.nan

    with pytest.raises(ImageFormatError, match="NaN"):
        load_image(pixels)


def test_tools_on_large_pictures_wait_for_each_other() -> None:
    room, together, most = Room(10), 0, 0

    def look(pixels: int) -> None:
        nonlocal together, most
        with room.taken(pixels):
            together += pixels
            most = max(most, together)
            time.sleep(0.01)
            together -= pixels

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(look, [6, 6, 3, 4, 1, 10, 6, 2]))

    assert most <= 10
    with room.taken(1000), room.taken(1000):
        assert most > 0
