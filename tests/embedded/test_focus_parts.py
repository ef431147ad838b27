"""Whether everything is in focus is told by the softest part that has something to be in focus."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt
import pytest

from agenticiqa.assessor import assess
from agenticiqa.embedded.regions.sharpness import find_edges, focus_parts
from agenticiqa.images import load_image
from agenticiqa.question.asked import Flaw, Reply, Topic, YesNo
from agenticiqa.state import UNABLE
from agenticiqa.values import Language
from tests.support.answered import answered, assessed
from tests.support.looks import CLEAN, FixedEyes
from tests.support.photos import photo

Pixels = npt.NDArray[np.uint8]


def street() -> Pixels:
    """A sharp photograph with detail everywhere."""
    return np.ascontiguousarray(photo("motorcycle_left")[:480, :640])


def soft_on_the_right(sigma: float = 4.0) -> Pixels:
    picture = street().copy()
    picture[:, 400:] = cv2.GaussianBlur(picture, (0, 0), sigma)[:, 400:]
    return picture


def everything(language: Language = "en") -> YesNo:
    """ "Is everything in focus?"."""
    return YesNo(Topic(Flaw("blur")), Reply(language, "yesno"), "fine", part="all")


@pytest.mark.parametrize("language", ["en", "de", "zh"])
def test_everything_is_in_focus_only_where_no_part_is_soft(language: Language) -> None:
    sharp, mixed = (assessed(everything(language), each).answer for each in (street(), soft_on_the_right()))

    assert sharp.startswith(("Yes", "Ja", "是"))
    assert mixed.startswith(("No", "Nein", "否"))


def test_the_answer_says_where_it_is_soft_and_where_sharp() -> None:
    answer = assess(soft_on_the_right(), "Is everything in focus?").answer

    assert "softest in the" in answer
    assert "right" in answer.split(";")[0]
    assert "right" not in answer.split(";")[1]


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("Is anything out of focus?", "Yes"),
        ("Is any part of the picture blurry?", "Yes"),
        ("Is the whole picture blurry?", "No"),
        ("Is anything in focus?", "Yes"),
        ("Is nothing blurry?", "No"),
    ],
)
def test_any_and_all_and_sharp_and_soft_are_kept_apart(query: str, answer: str) -> None:
    assert assess(soft_on_the_right(), query).answer.startswith(answer)


def test_a_part_without_detail_is_neither_sharp_nor_soft() -> None:
    picture = street().copy()
    shade = np.linspace(140, 200, 200)[:, None, None]
    picture[:200] = np.broadcast_to(shade, (200, 640, 3)).astype(np.uint8)

    answer = assess(picture, "Is everything in focus?").answer

    assert answer.startswith("Yes")
    assert "of 16 parts that have detail" in answer


def test_a_picture_without_any_detail_has_no_parts() -> None:
    grey = np.full((300, 400, 3), 127, np.uint8)

    assert focus_parts(find_edges(grey), 400, 300) is None


def cat_before(sigma: float) -> Pixels:
    """A sharp cat before a ground of bricks of light, blurred or not."""
    cat = photo("chelsea")
    ground = np.asarray(cv2.resize(photo("motorcycle_left"), (900, 600), interpolation=cv2.INTER_AREA), np.uint8)
    if sigma:
        ground = np.asarray(cv2.GaussianBlur(ground, (0, 0), sigma), np.uint8)
    picture = ground.copy()
    picture[300:, 225:676] = cat
    return picture


def test_a_soft_background_is_soft_when_asked_although_it_is_no_flaw() -> None:
    assert assess(cat_before(6.0), "Is the background blurred?").answer.startswith("Yes")
    assert assess(cat_before(6.0), "Is the background sharp?").answer.startswith("No")
    assert assess(cat_before(0.0), "Is the background blurred?").answer.startswith("No")


def test_two_questions_in_one_sentence_get_two_answers() -> None:
    found = assess((street() * 0.15).astype(np.uint8), "Is it sharp and is it too dark?")

    first, second = found.answer.split("; ")
    assert first.startswith("1: Yes")
    assert second.startswith("2: Yes")


def test_crushed_shadows_are_told_by_the_share_of_black() -> None:
    picture = np.clip(street().astype(np.int16) - 120, 0, 255).astype(np.uint8)
    black = 100 * float((picture.max(axis=2) <= 2).mean())

    answer = assess(picture, "Are the shadows crushed?").answer

    assert black > 10
    assert answer.startswith("Yes (clipped shadows")


def test_no_highlights_are_blown_where_nothing_is_white() -> None:
    answer = assess((street() * 0.8).astype(np.uint8), "Are the highlights blown out?").answer

    assert answer.startswith("No (clipped highlights 0 %")


def test_of_a_small_thing_before_a_plain_ground_nobody_knows_whether_all_is_in_focus() -> None:
    picture = np.full((480, 640, 3), 170, np.uint8)
    picture[20:100, 20:140] = street()[200:280, 200:320]

    assert answered(everything(), load_image(picture), FixedEyes(CLEAN)).final_answer == UNABLE
    assert not assessed(everything(), picture).answer.startswith("Yes")


@pytest.mark.parametrize("query", ["Which part of the picture is blurred?", "Where is it soft?"])
def test_the_part_that_is_blurred_is_named_although_the_picture_is_not(query: str) -> None:
    result = assess(soft_on_the_right(1.5), query)

    assert "right" in result.answer
    assert "no visible blur" not in result.answer + result.reasoning
