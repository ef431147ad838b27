"""Faces: which of several was looked at, how soft a face may be to be called sharp, and the colour of skin."""

from __future__ import annotations

from typing import Literal

import cv2
import numpy as np
import numpy.typing as npt
import pytest

from agenticiqa.assessor import assess
from agenticiqa.embedded.combined_models import ShippedPerception
from agenticiqa.embedded.regions.object_look import skin_colour
from agenticiqa.embedded.regions.sharpness import FACE_WIDTH, face_softness
from agenticiqa.images import load_image
from agenticiqa.question.asked import Compare, Flaw, Reply, Topic, Use, Where, YesNo
from agenticiqa.state import UNABLE, Region
from tests.support.answered import assessed
from tests.support.photos import photo

Pixels = npt.NDArray[np.uint8]
# The astronaut's face in her photograph.
FACE = Region(left=165, top=50, right=300, bottom=205)


def portrait(sigma: float = 0.0) -> Pixels:
    """The astronaut, her head blurred by a Gaussian and the rest as it was; her face is about 130 pixels wide."""
    picture = photo("astronaut")
    if not sigma:
        return picture
    rows, columns = np.mgrid[:512, :512]
    share = np.clip((1.15 - np.hypot((columns - 228) / 105, (rows - 120) / 120)) / 0.3, 0, 1)[..., None]
    soft = cv2.GaussianBlur(picture, (0, 0), sigma)
    mixed: Pixels = np.rint(picture * (1 - share) + soft * share).astype(np.uint8)
    return mixed


def side_by_side(left: float, right: float) -> Pixels:
    """Two portraits, each blurred by its own Gaussian."""
    return np.concatenate([portrait(left), portrait(right)[:, ::-1]], axis=1)


def sharp(name: str) -> YesNo:
    """Whether what has this name is sharp."""
    return YesNo(Topic(Flaw("blur"), (name,)), Reply(form="yesno"), "fine")


def test_where_one_of_two_faces_is_soft_nobody_s_face_is_called_sharp() -> None:
    found = assess(side_by_side(0, 2.5), "Is the bride's face sharp?")

    assert found.answer == UNABLE
    assert "2 faces, and who is who cannot be told" in found.reasoning
    assert "1: no visible blur" in found.reasoning
    assert "2: moderate" in found.reasoning or "2: severe" in found.reasoning


@pytest.mark.parametrize(("side", "answer"), [("left", "Yes"), ("right", "No")])
def test_a_face_whose_side_is_named_is_the_one_judged(side: str, answer: str) -> None:
    assert assessed(sharp(f"face on the {side}"), side_by_side(0, 2.5)).answer.startswith(answer)


def test_what_holds_for_every_face_is_the_answer_whoever_is_meant() -> None:
    found = assess(side_by_side(0, 0), "Is my daughter's face in focus?")

    assert found.answer == "Yes (no visible blur; the same for all 2 faces)"
    assert "who is who cannot be told" in found.reasoning


def test_of_one_face_nothing_is_said_about_others() -> None:
    found = assess(portrait(), "Is the bride's face sharp?")

    assert found.answer == "Yes (no visible blur)"
    assert "who is who" not in found.reasoning


@pytest.mark.parametrize("everyone", ["faces", "everyone", "every face"])
def test_a_question_about_everyone_is_answered_by_the_softest_face(everyone: str) -> None:
    assert assessed(sharp(everyone), side_by_side(0, 2.5)).answer.startswith("No")
    assert assessed(sharp(everyone), side_by_side(0, 0)).answer.startswith("Yes")


def test_a_person_with_a_soft_face_is_not_in_focus() -> None:
    assert assess(portrait(), "Is my daughter in focus?").answer.startswith("Yes")
    assert assess(portrait(2.5), "Is my daughter in focus?").answer.startswith("No")


@pytest.mark.parametrize("width", [100, 135, 270])
def test_a_face_is_soft_from_a_blur_of_one_and_a_half_percent_of_its_width_on_however_large_it_is(width: int) -> None:
    eyes, scale = ShippedPerception("research"), width / (FACE.right - FACE.left)

    for sigma, soft in ((0.0, False), (2.0, True)):
        # A photograph shrunk or enlarged shows the same blur of the same face.
        picture = portrait(sigma)
        method = cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC
        image = load_image(np.asarray(cv2.resize(picture, None, fx=scale, fy=scale, interpolation=method), np.uint8))
        blur = eyes.look(image, region=eyes.locate(image, "face")).finding("Blurs")
        assert blur is not None
        assert (blur.severity != "none") == soft


def test_a_small_face_of_a_large_photograph_is_judged_by_its_own_pixels() -> None:
    """At the size the picture as a whole is looked at, a blur of 2.5 pixels of such a face is none any more."""
    eyes, blurs = ShippedPerception("research"), []
    for sigma in (0.0, 2.5):
        ground = cv2.resize(photo("coffee"), (1536, 1536), interpolation=cv2.INTER_CUBIC)
        ground[512:1024, 512:1024] = portrait(sigma)
        image = load_image(np.asarray(ground, np.uint8))
        face = eyes.locate(image, "face")
        assert face is not None
        blurs.append(eyes.look(image, region=face).finding("Blurs"))

    sharp, soft = blurs
    assert sharp is not None
    assert soft is not None
    assert sharp.severity == "none"
    assert soft.severity != "none"


@pytest.mark.parametrize("sigma", [2.0, 3.0, 4.0])
def test_the_softness_of_a_face_is_the_blur_it_was_given(sigma: float) -> None:
    """Two blurs one after the other add up as squares; the camera's own is measured on the portrait as it is."""
    own, blurred = (face_softness(picture, FACE) for picture in (portrait(), portrait(sigma)))

    assert own is not None
    assert blurred is not None
    scale = FACE_WIDTH / (FACE.right - FACE.left)
    assert blurred.sharp == pytest.approx(np.hypot(own.sharp, sigma * scale), rel=0.25)


def cast(red: float, green: float, blue: float) -> Pixels:
    tinted: Pixels = np.clip(photo("astronaut") * np.array([red, green, blue]), 0, 255).astype(np.uint8)
    return tinted


@pytest.mark.parametrize(
    "gains",
    [(0.5, 0.8, 1.5), (0.65, 1.3, 0.65), (0.55, 1.1, 1.1), (1.1, 0.5, 1.4)],
    ids=["blue", "green", "cyan", "magenta"],
)
def test_skin_of_a_colour_nobody_has_is_not_natural(gains: tuple[float, float, float]) -> None:
    assert assess(cast(*gains), "Do skin tones look natural?").answer.startswith("No")
    assert assess(cast(*gains), "Are the skin tones off?").answer.startswith("Yes")


@pytest.mark.parametrize(
    "gains", [(1.0, 1.0, 1.0), (0.6, 0.6, 0.6), (1.05, 1.0, 0.9)], ids=["as it is", "dark", "warm"]
)
def test_skin_in_ordinary_light_is_natural(gains: tuple[float, float, float]) -> None:
    assert assess(cast(*gains), "Do skin tones look natural?").answer.startswith("Yes")


def test_the_hue_of_skin_is_that_of_lab() -> None:
    """sRGB (222, 171, 127), a light skin, is Lab (73.6, 13.3, 29.6): hue 65.8 degrees, chroma 32.4."""
    picture = np.full((60, 60, 3), (222, 171, 127), np.uint8)

    found = skin_colour(picture, Region(left=0, top=0, right=60, bottom=60))

    assert found == pytest.approx((65.8, 32.4), abs=0.6)


def test_of_a_picture_without_colour_no_skin_is_called_natural() -> None:
    grey = np.repeat(cv2.cvtColor(photo("astronaut"), cv2.COLOR_RGB2GRAY)[..., None], 3, axis=2)

    found = assess(grey, "Do skin tones look natural?")

    assert found.answer == UNABLE
    assert "no color" in found.reasoning


def test_without_a_face_the_colour_of_skin_is_not_guessed() -> None:
    question = YesNo(Topic(Flaw("colour"), ("skin tones",)), Reply(form="yesno"), "fine")

    found = assessed(question, photo("coffee"))

    assert found.answer == UNABLE
    assert "No skin tones could be found" in found.reasoning


def which(of: Literal["any", "most", "least"]) -> Where:
    """Which face is blurred, the most blurred one or the sharpest."""
    return Where(Topic(Flaw("blur"), ("face",)), Reply(which=of), least=of == "least")


@pytest.mark.parametrize(
    ("of", "named"), [("any", "number 2 of 2"), ("most", "number 2 of 2"), ("least", "number 1 of 2")]
)
def test_which_of_several_is_told_by_its_place(of: Literal["any", "most", "least"], named: str) -> None:
    assert assessed(which(of), side_by_side(0, 2.5)).answer.startswith(named)


def test_which_of_several_sharp_ones_is_blurred_is_none() -> None:
    assert assess(side_by_side(0, 0), "Which face is out of focus?").answer.startswith(
        "no visible blur; the same for all 2 faces"
    )


def test_which_of_them_is_told_by_its_place_too() -> None:
    assert assess(side_by_side(0, 2.5), "Which of the faces is out of focus?").answer.startswith("number 2 of 2")


def test_whether_anyone_s_face_is_soft_is_told_by_the_softest() -> None:
    question = YesNo(Topic(Flaw("blur"), ("any face",)), Reply(form="yesno"), "flaw")

    assert assessed(question, side_by_side(0, 2.5)).answer.startswith("Yes")
    assert assessed(question, side_by_side(0, 0)).answer.startswith("No")


def test_two_names_for_one_kind_of_thing_are_not_compared() -> None:
    names = ("man", "woman")
    question = Compare(Topic(Flaw("blur"), names), Reply(form="yesno"), "fine", between=names)

    found = assessed(question, side_by_side(0, 2.5))

    assert found.answer == UNABLE
    assert "cannot be told apart" in found.reasoning


def test_few_pixels_are_not_sharp_enough_for_a_large_print() -> None:
    """512 pixels across 40 cm are 33 per inch."""
    topic = Topic(Flaw("blur"), use=Use("print", 40 / 2.54))

    found = assessed(YesNo(topic, Reply(form="yesno"), "fine", "acceptable", limit=40 / 2.54), portrait())

    assert found.answer == "No (no visible blur; 512 × 512 pixels, 33 per inch at that size)"
