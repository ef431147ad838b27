"""Facts of a photograph, a tool's value, and answers whose words and evidence fit together."""

from __future__ import annotations

import re

import pytest
from PIL import Image

from agenticiqa.embedded.answers.answering import answer
from agenticiqa.embedded.answers.evidence import gather
from agenticiqa.embedded.answers.gathering import Observer
from agenticiqa.embedded.answers.reasons import explain, in_one_text
from agenticiqa.embedded.findings import Look
from agenticiqa.images import load_image
from agenticiqa.question.read import read_question
from agenticiqa.state import GLOBAL, UNABLE
from agenticiqa.vlm_client.tasks import AnswerInputs
from tests.support.looks import BLURRED, CLEAN, FixedEyes, judged, seen
from tests.support.photos import photo

COLOURED = Image.fromarray(photo("chelsea"))
GREY = COLOURED.convert("L")
DARK = seen(1.5, Brightness_change=(0.99, "severe", "darken"), Contrast=(0.7, "slight", "contrast_down"))


def asked(query: str, picture: Image.Image, **inputs: object) -> tuple[str, str]:
    """The answer about a picture, and its reasons."""
    question = read_question(query, tools=("PIQE",))
    told = AnswerInputs(query=query, **inputs) if inputs else None
    evidence = Observer(FixedEyes(CLEAN), question, load_image(picture)).evidence(told)
    given = answer(question, evidence)
    return given.text, in_one_text(explain(question, evidence, given), "en")


def about(query: str, look: Look) -> tuple[str, str]:
    """The answer about a look, and its reasons."""
    question, evidence = read_question(query), gather({GLOBAL: look})
    given = answer(question, evidence)
    return given.text, in_one_text(explain(question, evidence, given), "en")


@pytest.mark.parametrize(
    ("query", "coloured", "grey"),
    [
        ("Is the image grayscale?", "No (in color)", "Yes (no color)"),
        ("Is it black and white?", "No (in color)", "Yes (no color)"),
        ("Is it in colour?", "Yes (in color)", "No (no color)"),
        ("Is this grayscale or colour?", "in color", "no color"),
    ],
)
def test_whether_a_photograph_has_colour_is_measured(query: str, coloured: str, grey: str) -> None:
    assert (asked(query, COLOURED)[0], asked(query, GREY)[0]) == (coloured, grey)


def test_the_size_is_width_by_height() -> None:
    assert asked("What is the resolution of the image?", COLOURED)[0] == "451 × 300 pixels"


def test_the_value_of_a_tool_is_the_number_it_measured() -> None:
    given, reasons = asked("What is the PIQE?", COLOURED, tool_values={"PIQE": 23.456})

    assert given == "23.46"
    assert "PIQE measures 23.46 on its own scale." in reasons
    assert asked("What is the PIQE?", COLOURED)[0] == UNABLE


def test_what_is_not_measured_says_so_and_what_is() -> None:
    given, reasons = asked("Does it have vignetting?", COLOURED)

    assert given == UNABLE
    assert reasons.startswith("Vignetting: this is not something I measure. I can tell blur")


def test_the_evidence_shows_what_the_answer_rests_on() -> None:
    given, reasons = about("Is it blurry or noisy?", BLURRED)

    assert given == "blurry"
    assert "Blur (severe)" in reasons


def test_advice_on_two_flaws_is_two_sentences() -> None:
    given, _ = about("How can I fix this photo?", DARK)

    assert ".;" not in given
    assert re.search(r"\. Slight low contrast: ", given)


def test_an_interval_of_the_whole_scale_is_called_uncertain() -> None:
    wide, narrow = (Look(judged(4.3, interval=interval), CLEAN.findings) for interval in ((1.0, 5.0), (3.5, 5.0)))

    assert "nearly the whole scale: the score is uncertain" in about("How good is it?", wide)[1]
    assert "uncertain" not in about("How good is it?", narrow)[1]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("Ist das Bild unterbelichtet?", "Ja (starke Unterbelichtung)"),
        ("¿Está subexpuesta la foto?", "Sí (subexposición de grado fuerte)"),
        ("La photo est-elle sous-exposée ?", "Oui (sous-exposition de degré fort)"),
    ],
)
def test_a_remark_is_grammatical_whatever_the_gender_of_the_flaw(query: str, expected: str) -> None:
    assert about(query, DARK)[0] == expected


def test_a_thing_named_in_another_language_is_told_in_that_language() -> None:
    question = read_question("Ist der Bär unscharf?")
    evidence = gather({"bär": BLURRED})

    reasons = in_one_text(explain(question, evidence, answer(question, evidence)), "de")

    assert reasons.startswith("Unschärfe – Bär (stark): Bewegungsunschärfe")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("Can I print this on A3?", "No (451 × 300 pixels, 27 per inch at that size)"),
        ("Can I print this as a poster?", "No (451 × 300 pixels, 27 per inch at that size)"),
        ("Is it good enough to print on A4?", "No (451 × 300 pixels, 39 per inch at that size)"),
    ],
)
def test_a_print_that_would_show_the_pixels_is_advised_against(query: str, expected: str) -> None:
    text, _ = asked(query, COLOURED)

    assert text.startswith(expected)
