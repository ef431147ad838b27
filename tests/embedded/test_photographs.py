"""Flaws of real photographs: what is measured, in whose words it is said, where it lies."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt
import pytest

from agenticiqa.embedded.distortions.distortion_detector import find_distortions
from agenticiqa.embedded.distortions.hues import hue_name
from agenticiqa.embedded.distortions.measurements import measure_readings
from agenticiqa.embedded.distortions.photograph_model import FLAWS, HEIGHTS, main_first, on_scale
from agenticiqa.embedded.distortions.tile_features import cut_tiles
from agenticiqa.embedded.trunk import load_backbone
from agenticiqa.state import SEVERITIES
from agenticiqa.values import Distortion
from tests.support.photos import photo

Pixels = npt.NDArray[np.uint8]


def found(pixels: Pixels, category: str) -> Distortion:
    findings = find_distortions(pixels, load_backbone().features(pixels))
    return next(finding for finding in findings if finding.category == category)


def at_least(finding: Distortion, severity: str) -> bool:
    return SEVERITIES.index(finding.severity) >= SEVERITIES.index(severity)


def exposed(pixels: Pixels, stops: float) -> Pixels:
    """The picture as a camera with another exposure would have taken it: in linear light, with clipping."""
    light = (pixels / 255.0) ** 2.2 * 2.0**stops
    return np.asarray(np.rint(255 * np.clip(light, 0, 1) ** (1 / 2.2)), np.uint8)


def test_a_picture_burnt_out_by_a_third_is_over_exposed() -> None:
    finding = found(exposed(photo("coffee"), 5), "Brightness change")

    assert finding.kind == "brighten"
    assert at_least(finding, "moderate")


def test_a_nearly_black_photograph_is_under_exposed() -> None:
    finding = found(exposed(photo("coffee"), -6), "Brightness change")

    assert finding.kind == "darken"
    assert at_least(finding, "moderate")


def test_a_white_page_of_print_is_not_over_exposed() -> None:
    page = np.full((300, 400, 3), 255, np.uint8)
    for row in range(20, 290, 18):
        cv2.putText(page, "plain words on paper", (10, row), cv2.FONT_HERSHEY_SIMPLEX, 0.6, (0, 0, 0), 1)

    assert not at_least(found(page, "Brightness change"), "moderate")


@pytest.mark.parametrize(
    ("red", "yellow", "name"),
    [(30, 0, "red"), (20, 30, "orange"), (3, 40, "yellow"), (-30, 20, "green"), (0, -40, "blue"), (35, -25, "magenta")],
)
def test_a_cast_is_called_by_its_colour(red: float, yellow: float, name: str) -> None:
    assert hue_name(red, yellow) == name


def test_tiles_cover_all_corners_of_a_picture_of_any_size() -> None:
    for height, width in ((33, 300), (512, 512), (3000, 400)):
        tiles = cut_tiles(np.zeros((height, width, 3), np.uint8))
        last = tiles.region(8)

        assert len(tiles.pixels) == 9
        assert height - last.bottom < 16 + tiles.side % 16
        assert width - last.right < 16 + tiles.side % 16


def test_blur_outside_the_middle_of_the_picture_is_measured() -> None:
    picture = cv2.GaussianBlur(photo("astronaut"), (0, 0), 3)
    picture[160:352, 160:352] = 128

    radius = measure_readings(picture)["Blurs"][0]

    assert radius.name == "blur radius"
    assert radius.value == pytest.approx(3, rel=0.35)


def test_a_picture_dark_all_over_lacks_light_even_if_only_slightly() -> None:
    dim = np.asarray(photo("coffee") * 0.3, np.uint8)

    finding = found(dim, "Brightness change")

    assert at_least(finding, "slight")
    assert finding.kind == "darken"


def test_a_burnt_out_picture_is_no_darker_for_it() -> None:
    dark, bright = found(exposed(photo("coffee"), 5), "Brightness change").directions

    assert at_least(bright, "moderate")
    assert not at_least(dark, "slight")


def strengths(**found: float) -> npt.NDArray[np.float64]:
    """One row of the flaws, 0 where none is given."""
    return np.array([[found.get(flaw, 0.0) for flaw in FLAWS]])


def test_of_flaws_equally_severe_the_one_with_the_largest_output_leads() -> None:
    led = main_first(strengths(blur=1.6, dark=2.2), strengths(blur=1.5, dark=1.2), np.array([0.1]))[0]

    assert FLAWS[int(led.argmax())] == "blur"
    assert np.floor(led.max() + 0.5) == 2


def test_a_more_severe_flaw_is_not_overtaken() -> None:
    led = main_first(strengths(blur=1.2, dark=2.2), strengths(blur=1.5, dark=1.2), np.array([0.1]))[0]

    assert FLAWS[int(led.argmax())] == "dark"


def test_where_no_output_is_large_nothing_is_even_slight() -> None:
    led = main_first(strengths(blur=0.9, dark=0.7), strengths(blur=0.7, dark=0.6), np.array([0.5]))[0]

    assert led.max() < 0.5
    assert led[FLAWS.index("blur")] > led[FLAWS.index("dark")]


def test_the_curves_of_elsewhere_count_as_far_as_a_picture_is_unlike_home() -> None:
    home = np.tile(np.array([-1.0, 0.5, 1.2, 2.0, 3.2]), (len(FLAWS), 1))
    outputs = np.concatenate([strengths(dark=0.8), [[0.2, 0.2, 0.6, 0.1]]], axis=1)

    at_home, between, away = (on_scale(outputs, np.array([like]), home, home / 2)[0] for like in (1.0, 0.05, -1.0))

    dark = FLAWS.index("dark")
    assert at_home[dark] < 1.5 < away[dark]
    assert at_home[dark] < between[dark] < away[dark]
    assert away[dark] == pytest.approx(np.interp(0.8, home[0] / 2, HEIGHTS))
