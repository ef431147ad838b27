"""A rating is a number on the scale asked for, and a better picture never gets the lower one."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agenticiqa.embedded.answers.answering import answer
from agenticiqa.embedded.answers.evidence import gather
from agenticiqa.embedded.answers.reasons import explain
from agenticiqa.embedded.client import plan_for
from agenticiqa.embedded.findings import Look
from agenticiqa.question.asked import Reply, Score, Topic
from agenticiqa.question.read import read_question
from agenticiqa.question.scales import Scale, ScaleEnd
from agenticiqa.state import GLOBAL
from agenticiqa.values import Distortion
from tests.support.looks import BLURRED, CLEAN, seen

REQUESTS = {
    "Rate this image from 0 to 100": (0, 100),
    "Rate this picture 0-100": (0, 100),
    "Rate this image from 0 to 10": (0, 10),
    "Please rate the quality of this image from 0 to 100.": (0, 100),
    "Rate the image 1-10": (1, 10),
    "Rate this picture 1-5": (1, 5),
    "Rate it out of 100": (0, 100),
    "Rate it out of 10.": (0, 10),
    "Rate 0-100": (0, 100),
    "Rate this photo 0-10": (0, 10),
    "Score this picture 0 to 10": (0, 10),
    "score this picture 0 to 10": (0, 10),
    "Give a score from 0 to 1": (0, 1),
    "How good is this picture, 0 to 100?": (0, 100),
    "Bewerte das Bild von 0 bis 100": (0, 100),
    "Bewerte dieses Foto von 1 bis 10": (1, 10),
    "从0到100打分": (0, 100),
    "请给这张照片打分，1到10分": (1, 10),
    "Note cette photo de 0 à 20": (0, 20),
    "Puntúa esta imagen de 0 a 10": (0, 10),
    "Avalie esta foto de 0 a 10": (0, 10),
    "この写真を0から100で評価してください": (0, 100),
}


def rated(query: str, score: float) -> float:
    """The number a picture of this score gets."""
    given_answer = answer(read_question(query), gather({GLOBAL: seen(score)}))
    assert isinstance(given_answer.value, float), given_answer.text
    return given_answer.value


@pytest.mark.parametrize("query", REQUESTS)
@settings(max_examples=20, deadline=None)
@given(scores=st.tuples(st.floats(1, 5), st.floats(1, 5)))
def test_a_better_picture_never_gets_the_lower_number(query: str, scores: tuple[float, float]) -> None:
    low, high = REQUESTS[query]

    worse, better = (rated(query, score) for score in sorted(scores))

    assert low <= worse <= better <= high


@pytest.mark.parametrize("query", REQUESTS)
def test_the_ends_of_the_scale_are_the_ends_of_quality(query: str) -> None:
    assert (rated(query, 1.0), rated(query, 5.0)) == REQUESTS[query]


@pytest.mark.parametrize(
    "query",
    [
        "How degraded is it, 0 to 10?",
        "Rate how bad this picture looks from 0 to 10",
        "On a scale from 1 (best) to 10 (worst), rate this image",
        "Rate the noise level from 0 to 10.",
    ],
)
def test_a_scale_of_what_is_bad_counts_the_other_way(query: str) -> None:
    question = read_question(query)

    assert isinstance(question, Score)
    assert question.polarity == "flaw"


@pytest.mark.parametrize(
    "query", ["score?", "quality", "Rate this picture", "Give me a quality score, please.", "打分"]
)
def test_a_plain_request_without_a_scale_asks_for_the_level(query: str) -> None:
    question = read_question(query)

    assert isinstance(question, Score)
    assert plan_for(question, has_reference=False).query_type == "IQA"


@pytest.mark.parametrize("query", [query for query in REQUESTS if REQUESTS[query] == (1, 5)])
def test_a_rating_with_a_scale_is_answered_with_a_number_even_on_our_own(query: str) -> None:
    question = read_question(query)

    assert plan_for(question, has_reference=False).query_type == "Other"
    assert answer(question, gather({GLOBAL: BLURRED})).text.endswith(" / 5")


@pytest.mark.parametrize("query", ["Is it a quality photo?", "How is the quality?"])
def test_what_asks_for_more_than_a_rating_is_left_as_it_was_read(query: str) -> None:
    assert not isinstance(read_question(query), Score)
    assert answer(read_question(query), gather({GLOBAL: CLEAN})).value not in (5.0, 100.0)


@pytest.mark.parametrize(
    "query",
    [
        "Rate the color from 0 to 100",
        "Score the colour reproduction from 0 to 10",
        "Rate the contrast out of 10",
        "给颜色打分，0到100",
        "Bewerte die Farben von 1 bis 10",
    ],
)
def test_of_what_is_neither_good_nor_bad_more_points_are_better(query: str) -> None:
    question = read_question(query)

    assert isinstance(question, Score)
    assert question.polarity == "fine"


@pytest.mark.parametrize("query", ["Rate the colour cast from 0 to 10", "Rate the color error from 0 to 10"])
def test_of_a_flaw_more_points_are_not_better(query: str) -> None:
    question = read_question(query)

    assert isinstance(question, Score)
    assert question.polarity == "flaw"


def standing(look: Look, *ends: ScaleEnd, low: float = -5.0, high: float = 5.0) -> object:
    question = Score(Topic(), Reply(), None, Scale(low, high, ends=ends))  # type: ignore[arg-type]
    return answer(question, gather({GLOBAL: look})).value


def test_a_scale_between_two_flaws_has_its_middle_where_neither_is() -> None:
    dark = seen(2.6, Brightness_change=(0.9, "severe", "darken"))
    bright = seen(2.6, Brightness_change=(0.9, "severe", "brighten"))
    faded = seen(2.6, Color_distortions=(0.9, "moderate", "saturation_down"))

    assert [standing(look, "dark", "bright") for look in (dark, CLEAN, bright)] == [-3.8, 0.0, 3.8]
    assert [standing(look, "bright", "dark") for look in (dark, CLEAN, bright)] == [3.8, 0.0, -3.8]
    assert standing(CLEAN, "dark", "bright", low=0.0, high=10.0) == 5.0
    assert standing(faded, "saturation_down", "saturation_up") == -2.5


@pytest.mark.parametrize(("colour", "value"), [("blue", -2.5), ("orange", 2.5), ("green", 0.0)])
def test_a_scale_from_cold_to_warm_is_answered_by_the_cast(colour: str, value: float) -> None:
    cast = Distortion("Color distortions", 0.9, 2.0, "color_cast", colour=colour)

    assert standing(seen(3.0, Color_distortions=cast), "cold", "warm") == value


def test_a_grade_is_a_letter_in_words_and_as_a_value() -> None:
    question, evidence = Score(Topic(), Reply(), "fine", Scale(0.0, 1.0, "letter")), gather({GLOBAL: BLURRED})

    told = answer(question, evidence)

    assert (told.text, told.value) == ("E", "E")
    assert all("scale asked for" not in reason.text for reason in explain(question, evidence, told))
