"""Things are found by their name and judged with their surroundings in mind."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt
import pytest

from agenticiqa.assessor import assess
from agenticiqa.embedded.combined_models import ShippedEyes
from agenticiqa.embedded.objects.scene import Scene, in_words
from agenticiqa.images import LoadedImage, load_image
from agenticiqa.state import UNABLE, LocatedRegion
from tests.support.photos import photo

Pixels = npt.NDArray[np.uint8]


def cat_beside_a_cup(blurred: str) -> LoadedImage:
    """Two photographs side by side, one of them blurred by a Gaussian of 5 pixels."""
    parts = {"cat": photo("chelsea"), "cup": photo("coffee")}
    parts = {name: cv2.resize(part, (480, 400), interpolation=cv2.INTER_AREA) for name, part in parts.items()}
    parts[blurred] = cv2.GaussianBlur(parts[blurred], (0, 0), 5)
    return load_image(np.concatenate([parts["cat"], parts["cup"]], axis=1))


@pytest.mark.parametrize(
    ("picture", "name", "kind"),
    [
        ("chelsea", "kitty", "cat"),
        ("astronaut", "Frau", "person"),
        ("coffee", "杯子", "cup"),
        ("astronaut", "eyes", "eyes"),
    ],
)
def test_a_thing_is_found_by_any_of_its_names(picture: str, name: str, kind: str) -> None:
    found = Scene(photo(picture)).find(name)

    assert found[0].kind == kind


@pytest.mark.parametrize(("picture", "name"), [("chelsea", "car"), ("coffee", "horse"), ("rocket", "face")])
def test_what_is_not_there_is_not_found(picture: str, name: str) -> None:
    assert Scene(photo(picture)).find(name) == ()


def test_what_is_clearly_there_is_listed_for_a_person() -> None:
    assert in_words(Scene(photo("chelsea")).listed) == "cat"
    assert in_words(Scene(photo("astronaut")).listed, "de") == "person"


@pytest.mark.parametrize("blurred", ["cat", "cup"])
def test_of_two_things_the_blurred_one_is_called_blurred_and_scores_less_than_the_picture(blurred: str) -> None:
    image, eyes = cat_beside_a_cup(blurred), ShippedEyes("research")
    whole = eyes.look(image)

    for name in ("cat", "cup"):
        region = eyes.locate(image, name)
        assert isinstance(region, LocatedRegion)
        look = eyes.look(image, region=region)
        blur = look.finding("Blurs")
        assert blur is not None
        assert (blur.severity != "none") == (name == blurred)
        assert (look.quality.score < whole.quality.score) or name != blurred


def test_a_sharp_subject_before_a_soft_background_is_not_blurred_and_neither_is_the_background_a_flaw() -> None:
    picture = photo("chelsea")
    height, width = picture.shape[:2]
    soft = cv2.GaussianBlur(photo("rocket"), (0, 0), 12)
    scene = cv2.resize(soft, (width * 2, int(height * 1.4)), interpolation=cv2.INTER_LINEAR)
    scene[-height:, width // 2 : width // 2 + width] = picture
    image, eyes = load_image(scene), ShippedEyes("research")

    for name in ("cat", "background"):
        blur = eyes.look(image, region=eyes.locate(image, name)).finding("Blurs")
        assert blur is not None
        assert blur.severity == "none"


def test_whether_something_is_blurred_that_was_not_found_is_not_guessed_from_the_rest() -> None:
    image = cat_beside_a_cup("cup")

    found = assess(image.pixels, "Is the horse blurry?")

    assert found.answer == UNABLE
    assert found.regions == {"horse": None}
    assert "it sees: cat" in found.reasoning


def two_cats(blurred: str) -> LoadedImage:
    """The same cat twice, side by side; one of the two, both or none is blurred by a Gaussian of 5 pixels."""
    cat = cv2.resize(photo("chelsea"), (480, 400), interpolation=cv2.INTER_AREA)
    soft: Pixels = np.asarray(cv2.GaussianBlur(cat, (0, 0), 5), np.uint8)
    halves = [soft if blurred in (side, "both") else cat for side in ("left", "right")]
    frame = np.full((480, 1080, 3), 120, np.uint8)
    frame[40:440, 40:520], frame[40:440, 560:1040] = halves
    return load_image(frame)


def test_a_plural_asks_about_all_of_a_class() -> None:
    found = assess(two_cats("right").pixels, "Are the cats sharp?")

    assert found.answer.startswith("No")
    assert list(found.regions) == ["cats", "cats 1", "cats 2"]
    left, right = found.regions["cats 1"], found.regions["cats 2"]
    assert left is not None
    assert right is not None
    assert "Blurs" not in [each.type for each in left.findings or ()]
    assert "Blurs" in [each.type for each in right.findings or ()]
    assert found.regions["cats"] is not None
    assert found.regions["cats"].score == right.score


def test_a_plural_is_sharp_where_all_of_them_are() -> None:
    assert assess(two_cats("none").pixels, "Are the cats sharp?").answer.startswith("Yes")
