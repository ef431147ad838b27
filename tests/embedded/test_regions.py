"""Where things are in a picture, and the picture of it."""

from __future__ import annotations

import io

import cv2
import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from agenticiqa.embedded.objects.scene import Scene
from agenticiqa.embedded.overlay import BAD, GOOD, LINE, draw_overlay
from agenticiqa.embedded.regions import places
from agenticiqa.embedded.regions.places import focus_box, overlap
from agenticiqa.state import Region
from tests.support.photos import photo

Pixels = npt.NDArray[np.uint8]


def locate(picture: Pixels, name: str) -> Region | None:
    return places.locate(Scene(picture), name)


def sharp_square_before_a_soft_ground() -> Pixels:
    """600 × 400 soft noise with a sharp checkerboard from (60, 100) to (260, 300)."""
    random = np.random.default_rng(0)
    ground = cv2.GaussianBlur(random.uniform(0, 255, (400, 600, 3)).astype(np.float32), (0, 0), 12)
    picture: Pixels = np.clip(ground, 0, 255).astype(np.uint8)
    rows, columns = np.mgrid[100:300, 60:260]
    picture[100:300, 60:260] = np.where((rows // 4 + columns // 4) % 2, 230, 20)[..., None]
    return picture


@pytest.mark.parametrize(
    ("name", "box"),
    [
        ("left", (0, 0, 320, 480)),
        ("top right", (320, 0, 640, 240)),
        ("bottom", (0, 240, 640, 480)),
        ("centre", (160, 120, 480, 360)),
    ],
)
def test_a_place_word_has_a_fixed_box(name: str, box: tuple[int, int, int, int]) -> None:
    picture = np.zeros((480, 640, 3), np.uint8)

    region = locate(picture, name)

    assert region is not None
    assert (region.left, region.top, region.right, region.bottom) == box


def test_foreground_is_what_is_in_focus_and_background_lies_beside_it() -> None:
    picture = sharp_square_before_a_soft_ground()

    foreground, background = locate(picture, "foreground"), locate(picture, "background")

    assert foreground is not None
    assert background is not None
    assert overlap(foreground, Region(left=40, top=80, right=280, bottom=320)) > 0.9
    assert overlap(background, foreground) == 0
    assert (background.right, background.bottom) == (600, 400)


def test_a_picture_without_detail_has_no_part_in_focus() -> None:
    assert focus_box(np.full((200, 300, 3), 127, np.uint8)) is None


@pytest.mark.parametrize("name", ["dog", "vehicle", "edges", "unicorn", ""])
def test_an_object_is_never_guessed(name: str) -> None:
    assert locate(sharp_square_before_a_soft_ground(), name) is None


def test_a_face_is_found_where_it_is_and_nowhere_else() -> None:
    portrait, cup = photo("astronaut"), photo("coffee")

    face = locate(portrait, "face")

    assert face is not None
    assert overlap(face, Region(left=165, top=50, right=300, bottom=190)) > 0.9
    assert locate(cup, "face") is None


def test_the_overlay_shows_map_and_boxes() -> None:
    picture = np.full((200, 300, 3), 100, np.uint8)
    quality = np.full((4, 6), 5.0, np.float32)

    png = draw_overlay(picture, quality, {"worst": Region(left=50, top=40, right=250, bottom=160)})

    drawn = np.asarray(Image.open(io.BytesIO(png)))
    assert drawn.shape == picture.shape
    # 55 % of grey 100 and 45 % of the blue (33, 102, 172) that stands for level 5.
    assert drawn[5, 5].tolist() == [70, 101, 132]
    assert tuple(drawn[40, 240]) == LINE
    assert tuple(drawn[159, 51]) == LINE


def test_a_map_of_good_qualities_is_nowhere_red() -> None:
    """Between qualities of 4.2 and 4.8 no part is red: the text beside it says that nothing is visible."""
    picture = np.full((200, 300, 3), 100, np.uint8)
    quality = np.repeat(np.linspace(4.2, 4.8, 100, dtype=np.float32)[None], 50, axis=0)

    drawn = np.asarray(Image.open(io.BytesIO(draw_overlay(picture, quality)))).astype(int)

    assert (drawn[:150, :, 0] < drawn[:150, :, 2]).all()
    assert drawn[10, -2, 0] < drawn[10, 1, 0]


def test_a_map_has_a_legend_of_its_range() -> None:
    picture = np.full((200, 300, 3), 100, np.uint8)
    quality = np.repeat(np.linspace(4.2, 4.8, 100, dtype=np.float32)[None], 50, axis=0)

    corner = np.asarray(Image.open(io.BytesIO(draw_overlay(picture, quality))))[-30:, -120:].reshape(-1, 3)

    # The bar has the colours unmixed, which a part of the picture never has.
    assert (np.abs(corner.astype(int) - GOOD).max(axis=1) <= 4).any()
    assert (np.abs(corner.astype(int) - BAD).max(axis=1) <= 4).any()


def test_without_map_and_boxes_the_overlay_is_the_image() -> None:
    picture = sharp_square_before_a_soft_ground()

    drawn = np.asarray(Image.open(io.BytesIO(draw_overlay(picture))))

    np.testing.assert_array_equal(drawn, picture)


def test_a_box_without_a_name_is_only_a_frame() -> None:
    grey = np.full((200, 300, 3), 128, np.uint8)

    drawn = np.asarray(
        Image.open(io.BytesIO(draw_overlay(grey, None, {"": Region(left=50, top=40, right=250, bottom=160)})))
    )

    assert tuple(drawn[40, 60]) == LINE
    assert (drawn[45:150, 60:240] == 128).all()
