"""Questions are read as a person would, in seven languages, or said not to be understood."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agenticiqa.question.asked import (
    Advice,
    Choose,
    Compare,
    Declined,
    Degree,
    Measure,
    Open,
    Score,
    Where,
    YesNo,
)
from agenticiqa.question.read import read_question
from tests.support.steps import steps_of


@pytest.mark.parametrize(
    ("query", "kind", "attribute", "yes_means"),
    [
        ("Is the image blurry?", YesNo, "blur", "flaw"),
        ("Is it blurry? Do not explain.", YesNo, "blur", "flaw"),
        ("I have no idea, is it sharp?", YesNo, "blur", "fine"),
        ("No explanation needed. Is it noisy?", YesNo, "noise", "flaw"),
        ("Is the noise acceptable?", YesNo, "noise", "fine"),
        ("Is it noisy, or is it not?", YesNo, "noise", "flaw"),
        ("True or false: the photo is too dark.", YesNo, "dark", "flaw"),
        ("How sharp is this?", Degree, "blur", "fine"),
        ("How noisy is the picture?", Degree, "noise", "flaw"),
        ("Rate the sharpness from 1 to 5", Score, "blur", "fine"),
        ("Rate the noise level from 0 to 10.", Score, "noise", "flaw"),
        ("What is wrong with this photo?", Open, "overall", None),
        ("How can I fix this photo?", Advice, "overall", None),
        ("Where is the noise?", Where, "noise", None),
        ("Which one is the noisiest?", Compare, "noise", "flaw"),
        ("这张照片模糊吗？", YesNo, "blur", "flaw"),
        ("画面清晰吗，不用解释", YesNo, "blur", "fine"),
        ("没有噪点吧", YesNo, "noise", "fine"),
        ("Ist das Bild scharf?", YesNo, "blur", "fine"),
        ("¿Está borrosa la foto?", YesNo, "blur", "flaw"),
        ("La photo est-elle trop sombre ?", YesNo, "dark", "flaw"),
        ("A foto está nítida?", YesNo, "blur", "fine"),
        ("ノイズはありますか？", YesNo, "noise", "flaw"),
        ("Would you print this?", YesNo, "overall", "fine"),
        ("Would you hang it on the wall?", YesNo, "overall", "fine"),
        ("Should I retake this one?", YesNo, "overall", "flaw"),
        ("¿Están borrosas las fotos?", YesNo, "blur", "flaw"),
        ("¿Son nítidas las imágenes?", YesNo, "blur", "fine"),
        ("Ist das ein unscharfes Bild?", YesNo, "blur", "flaw"),
        ("Sind das scharfe Aufnahmen?", YesNo, "blur", "fine"),
        ("Gibt es überbelichtete Stellen?", YesNo, "bright", "flaw"),
    ],
)
def test_a_question_is_read_with_its_attribute_and_its_polarity(
    query: str, kind: type, attribute: str, yes_means: str | None
) -> None:
    question = read_question(query)

    assert (type(question), question.topic.flaw.attribute) == (kind, attribute)
    # What is not sure is left open, and never told the other way round.
    assert getattr(question, "polarity", None) in (None, yes_means)


ASIDES = ["No explanation needed. {q}", "{q} Do not explain.", "I have no idea, {q}", "There is no hurry. {q}"]
PLAIN = ["Is it sharp?", "is this pic blurry", "No noise, right?", "Is it too dark?", "Would you print this?"]


@pytest.mark.parametrize(("aside", "query"), list(itertools.product(ASIDES, PLAIN)))
def test_a_stray_negation_never_turns_the_answer(aside: str, query: str) -> None:
    alone, around = read_question(query), read_question(aside.format(q=query))

    assert isinstance(alone, YesNo)
    assert getattr(around, "polarity", None) in (None, alone.polarity)


@pytest.mark.parametrize("query", ["What animal is this?", "Tell me a joke", "这是什么花", "How do I centre a div?"])
def test_what_is_not_about_quality_is_declined(query: str) -> None:
    assert isinstance(read_question(query), Declined)


def test_several_conditions_are_kept_together() -> None:
    question = read_question("Are the focus and the exposure both fine?")

    assert isinstance(question, YesNo)
    assert question.conditions is not None
    assert question.conditions.combined == "both"
    assert {flaw.attribute for flaw in question.conditions.flaws} == {"blur", "exposure"}


def test_what_is_left_out_is_not_asked_about() -> None:
    assert read_question("What is wrong with it except the noise?").topic.excepted == ("Noise",)


def test_the_middle_of_a_scale_may_be_the_best() -> None:
    question = read_question("Brightness from -3 (much too dark) to +3 (much too bright)?")

    assert isinstance(question, Score)
    assert question.scale is not None
    assert (question.scale.ends, question.polarity) == (("dark", "bright"), None)


def test_the_ends_that_are_named_say_what_more_means() -> None:
    question = read_question("Rate the picture, 1 = excellent, 6 = terrible.")

    assert isinstance(question, Score)
    assert question.polarity == "flaw"


@pytest.mark.parametrize(
    ("query", "fact"),
    [
        ("How many pixels does it have?", "size"),
        ("Largest print at 300 dpi?", "print"),
        ("Which colour space is it in?", "colour_space"),
        ("Wie viele Bit pro Kanal?", "bit_depth"),
        ("有没有透明通道？", "alpha"),
        # The size says it; whether it is enough for what was named is for the asker to see.
        ("Is it at least 1600 pixels wide?", "size"),
        ("Is the resolution enough for a 4K monitor?", "size"),
    ],
)
def test_a_fact_of_the_file_is_asked_for(query: str, fact: str) -> None:
    question = read_question(query)

    assert isinstance(question, Measure)
    assert question.fact == fact


def test_what_a_picture_is_wanted_for_is_kept() -> None:
    question = read_question("Is it sharp enough to print at A3 with 300 dpi?")

    assert question.topic.use is not None
    assert (question.topic.use.purpose, question.topic.use.inches) == ("print", 16.5)


def test_an_alternative_is_a_choice_and_or_not_is_none() -> None:
    question = read_question("Is it sharp or blurry?")

    assert isinstance(question, Choose)
    assert list(question.options) == ["sharp", "blurry"]
    assert isinstance(read_question("Is it blurry or not?"), YesNo)


def test_choices_given_as_data_win_over_written_ones() -> None:
    question = read_question("Which is worse? A. Noise B. Blur", {"X": "JPEG", "Y": "Too dark"})

    assert question.reply.choices == {"X": "JPEG", "Y": "Too dark"}


def test_a_tool_takes_the_spelling_of_the_registry() -> None:
    assert read_question("Rate it with topiq", tools=["TOPIQ_NR"]).topic.tool == "TOPIQ_NR"
    assert read_question("Rate it with ms ssim", tools=["MS_SSIM", "SSIM"]).topic.tool == "MS_SSIM"
    assert read_question("Rate it with ssim", tools=["MS_SSIM", "SSIM"]).topic.tool == "SSIM"


def test_a_word_for_a_distortion_is_no_tool_unless_spelled_as_one() -> None:
    tools = ["CONTRAST", "JPEG_QUALITY"]

    named = [
        read_question(text, tools=tools).topic.tool for text in ("How is the contrast?", "What JPEG quality was used?")
    ]

    assert named == [None, None]
    assert read_question("Report CONTRAST", tools=tools).topic.tool == "CONTRAST"
    assert read_question("Use jpeg_quality", tools=tools).topic.tool == "JPEG_QUALITY"


def test_a_form_of_answer_is_no_tool() -> None:
    question = read_question("Is it blurry? Respond with JSON only.")

    assert question.topic.tool is None
    assert (type(question), question.reply.form) == (YesNo, "json")


@pytest.mark.parametrize(
    ("query", "language"),
    [
        ("Is the image blurry?", "en"),
        ("这张图的JPEG压缩严重吗？", "zh"),
        ("この画像はぼやけていますか？", "ja"),
        ("Ist das Bild zu dunkel?", "de"),
        ("¿La foto tiene mucho ruido?", "es"),
        ("L'image est-elle nette ?", "fr"),
        ("A imagem está escura demais?", "pt"),
    ],
)
def test_the_language_is_that_of_the_question(query: str, language: str) -> None:
    assert read_question(query).reply.language == language


@given(st.text(max_size=300))
@settings(max_examples=60, deadline=None)
def test_any_text_is_understood_or_said_not_to_be(text: str) -> None:
    assert read_question(text)


@pytest.mark.parametrize("text", ["A. x B. y " * 200, "color " * 340, "a" * 2000])
def test_a_question_of_twice_the_length_takes_at_most_about_twice_the_work(text: str) -> None:
    read_question(text)

    once, twice = steps_of(lambda: read_question(text + "b")), steps_of(lambda: read_question(text * 2 + "b"))

    assert twice <= 2.2 * once


@pytest.mark.parametrize(
    "query", ["No grain, no blur, no blocks: is that right?", "Sharp, well exposed and free of noise, is it?"]
)
def test_no_condition_of_a_list_is_dropped(query: str) -> None:
    question = read_question(query)

    assert isinstance(question, YesNo)
    assert question.conditions is not None
    assert len(question.conditions.flaws) == 3


def test_a_name_in_a_yes_or_no_is_no_unknown_tool() -> None:
    assert read_question("Does it comply with ICAO?").topic.tool is None
    assert read_question("Rate it with FOO_IQA.").topic.tool == "FOO_IQA"
