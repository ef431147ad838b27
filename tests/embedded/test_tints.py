"""Questions about the color of a cast, answered from the color that was measured."""

from __future__ import annotations

import pytest

from agenticiqa.embedded.answers.answering import answer
from agenticiqa.embedded.answers.evidence import Evidence
from agenticiqa.question.read import read_question
from agenticiqa.state import UNABLE, Severity
from agenticiqa.values import Distortion


def tinted(manner: str | None, severity: Severity = "moderate") -> Evidence:
    color = manner.removesuffix(" cast") if manner else None
    finding = Distortion.called("Color distortions", severity, 0.9, "color_cast", colour=color)
    return Evidence(findings=(finding,))


@pytest.mark.parametrize(
    "query",
    [
        "Is it too blue?",
        "Is the cast blue?",
        "Is there a green tint?",
        "Is the picture greenish?",
        "Is it too cold?",
        "Does it have a bluish cast?",
        "Hat das Bild einen Blaustich?",
    ],
)
def test_a_cast_of_another_color_than_the_one_named_is_a_no_that_tells_it(query: str) -> None:
    said = answer(read_question(query), tinted("orange cast"))

    assert said.text.startswith(("No (", "Nein (")), said.text
    if read_question(query).reply.language == "en":
        assert said.text.startswith("No (moderate orange cast, not ")


@pytest.mark.parametrize(
    ("query", "manner"),
    [
        ("Is it too blue?", "blue cast"),
        ("Does it have a yellowish tint?", "yellow cast"),
        ("Is it too warm?", "orange cast"),
        ("Is it too red?", "orange cast"),
    ],
)
def test_a_cast_of_the_color_named_or_of_one_it_may_be_called_is_a_yes(query: str, manner: str) -> None:
    said = answer(read_question(query), tinted(manner))

    assert said.text == f"Yes (moderate {manner})"


def test_that_there_is_no_cast_of_a_color_holds_where_the_cast_has_another() -> None:
    assert answer(read_question("Is it free of any green tint?"), tinted("orange cast")).text.startswith("Yes")
    assert answer(read_question("Is it free of any green tint?"), tinted("green cast")).text.startswith("No")


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("Which colour is the cast?", "moderate orange cast"),
        ("What color is the tint?", "moderate orange cast"),
        ("What color cast does it have?", "moderate orange cast"),
        ("偏什么颜色？", "中等偏橙"),
        ("Welche Farbe hat der Farbstich?", "mäßiger orangefarbener Farbstich"),
    ],
)
def test_the_color_of_the_cast_is_told_where_it_is_asked_for(query: str, told: str) -> None:
    assert answer(read_question(query), tinted("orange cast")).text == told


def test_without_a_cast_there_is_no_color_to_tell() -> None:
    assert answer(read_question("Which colour is the cast?"), tinted(None, "none")).text == "no visible color problem"


@pytest.mark.parametrize("query", ["Which colour is the cast?", "Is it too blue?", "How blue is the cast?"])
def test_the_color_of_a_cast_that_was_not_measured_is_not_guessed(query: str) -> None:
    said = answer(read_question(query), tinted(None))

    assert (said.text, said.why_not) == (UNABLE, "color_untold")


def test_how_strong_a_cast_of_another_color_is_is_none_with_the_one_found() -> None:
    assert (
        answer(read_question("How strong is the blue cast?"), tinted("orange cast")).text
        == "none (moderate orange cast, not blue cast)"
    )


def test_a_colored_thing_is_no_cast() -> None:
    assert read_question("Is the blue dress oversaturated?").topic.flaw.colours == ()
    assert read_question("Are the colors natural?").topic.flaw.colours == ()


@pytest.mark.parametrize(
    ("query", "orange", "green"),
    [
        ("Is the cast warm, cool or green?", "warm", "green"),
        ("Which color is the cast? A) bluish B) orange C) a green tint D) no cast", "B", "C"),
        ("整体色调是偏橙、偏蓝还是偏绿，还是正常？", "偏橙", "偏绿"),
    ],
)
def test_of_several_colors_offered_the_one_measured_is_chosen(query: str, orange: str, green: str) -> None:
    question = read_question(query)

    assert answer(question, tinted("orange cast")).text.startswith(orange)
    assert answer(question, tinted("green cast")).text.startswith(green)


def test_without_a_cast_no_color_is_chosen() -> None:
    query = "Which color is the cast? A) bluish B) orange C) a green tint D) no cast"

    assert answer(read_question(query), tinted(None, "none")).text.startswith("D")
