"""Things are found by their name and judged with their surroundings in mind."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt
import pytest

from agenticiqa.assessor import assess
from agenticiqa.embedded.combined_models import ShippedPerception
from agenticiqa.embedded.objects.object_detector import Located, merged, view_of_parts
from agenticiqa.embedded.objects.scene import Scene, in_words, without_repeats
from agenticiqa.images import LoadedImage, load_image
from agenticiqa.question.asked import Flaw, Question, Reply, Score, Topic, YesNo
from agenticiqa.state import DOUBTFUL, UNABLE, LocatedRegion
from tests.support.answered import assessed
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
    image, eyes = cat_beside_a_cup(blurred), ShippedPerception("research")
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
    image, eyes = load_image(scene), ShippedPerception("research")

    for name in ("cat", "background"):
        blur = eyes.look(image, region=eyes.locate(image, name)).finding("Blurs")
        assert blur is not None
        assert blur.severity == "none"


def test_whether_something_is_blurred_that_was_not_found_is_not_guessed_from_the_rest() -> None:
    image = cat_beside_a_cup("cup")

    found = assess(image.pixels, "Is the horse blurry?")

    assert found.answer == UNABLE
    assert found.regions == {"horse": None}
    assert "No horse could be found in the picture" in found.reasoning
    assert "Seen there: cat" in found.reasoning


@pytest.mark.parametrize(
    "question",
    [
        Score(Topic(scope=("car",)), Reply(form="number")),
        YesNo(Topic(Flaw("blur"), ("zebra",)), Reply(form="yesno"), "fine"),
        YesNo(Topic(Flaw("dark"), ("bus",)), Reply(form="yesno"), "fine"),
    ],
)
def test_what_is_not_there_is_not_judged_and_the_whole_pictures_score_has_its_own_name(question: Question) -> None:
    whole = assess(photo("chelsea"))
    (thing,) = question.topic.scope

    found = assessed(question, photo("chelsea"))

    assert found.answer == UNABLE
    assert found.reasoning.startswith(f"No {thing} could be found in the picture")
    assert f"rates the {thing}" not in found.reasoning
    assert "The embedded model rates the image" in found.reasoning
    assert found.score == whole.score
    assert found.gap == f"Missing analysis for {{'{thing}'}}"
    assert found.regions[thing] is None
    assert {each.object_name for each in found.distortions} <= {"Global"}
    assert {each.object_name for each in found.tools} == {"Global"}
    assert found.iterations == 0


def test_of_two_things_the_one_that_is_there_is_judged_and_the_other_is_said_to_be_missing() -> None:
    found = assessed(YesNo(Topic(Flaw("blur"), ("cat", "zebra")), Reply(form="yesno"), "fine"), photo("chelsea"))

    assert found.gap == "Missing analysis for {'zebra'}"
    assert "No zebra could be found in the picture." in found.reasoning
    assert "Blur in the cat" in found.reasoning


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


def test_a_faint_find_is_judged_and_said_to_be_doubtful_with_what_is_clearly_there() -> None:
    found = assess(photo("chelsea"), "Is the dog blurry?")

    dog = found.regions["dog"]
    assert dog is not None
    assert dog.confidence is not None
    assert dog.confidence < DOUBTFUL
    assert "It is not sure that this is the dog" in found.reasoning
    assert "it sees: cat" in found.reasoning


def test_a_clear_find_is_not_called_doubtful() -> None:
    found = assess(photo("chelsea"), "Is the cat blurry?")

    assert found.regions["cat"] is not None
    assert "not sure that this is" not in found.reasoning


def test_a_part_of_a_thing_and_a_box_around_two_are_not_counted_again() -> None:
    left, right = Located("dog", 0.8, (0.1, 0.2, 0.45, 0.9)), Located("dog", 0.7, (0.5, 0.2, 0.9, 0.9))
    head = Located("dog", 0.5, (0.15, 0.2, 0.35, 0.4))
    both = Located("dog", 0.9, (0.08, 0.18, 0.92, 0.92))

    assert without_repeats([both, left, right, head]) == [left, right]


def test_one_thing_and_its_part_are_one_thing() -> None:
    whole, part = Located("dog", 0.8, (0.1, 0.1, 0.9, 0.9)), Located("dog", 0.6, (0.2, 0.2, 0.5, 0.5))

    assert without_repeats([whole, part]) == [whole]


@pytest.mark.parametrize("upright", [False, True])
def test_the_two_parts_show_a_thing_at_its_place_in_the_whole_picture(upright: bool) -> None:
    """In a frame three times as long as high the cat lies at one end."""
    frame = np.full((300, 900, 3), 120, np.uint8)
    frame[:, 550:850] = cv2.resize(photo("chelsea"), (300, 300), interpolation=cv2.INTER_AREA)
    picture: Pixels = np.ascontiguousarray(frame.transpose(1, 0, 2)[:, ::-1]) if upright else frame

    cat = next(each for each in merged([view_of_parts(picture).things(["cat"])]) if each.kind == "cat")

    start, end = (cat.box[1], cat.box[3]) if upright else (cat.box[0], cat.box[2])
    assert start > 0.55
    assert end < 0.99


@pytest.mark.parametrize("name", ["wall", "hands", "fence"])
def test_what_is_no_class_is_said_to_be_missing_and_the_finding_is_of_the_whole_image(name: str) -> None:
    found = assess(photo("chelsea"), f"How noisy is the {name}?")

    assert found.regions == {name: None}
    assert f"{name} could not be located (it sees: cat); this describes the whole image" in found.reasoning
    assert f"in the {name}" not in found.reasoning
