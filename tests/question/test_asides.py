"""Remarks beside a question never turn its answer."""

from __future__ import annotations

import itertools

import pytest

from agenticiqa.question.composition import without_asides
from agenticiqa.question.understanding import understand

QUESTIONS = [
    "Is it sharp?",
    "is this pic blurry",
    "Isn't it too dark?",
    "No noise, right?",
    "Is the exposure anything but fine?",
    "Would you print this?",
    "True or false: the picture is not in focus.",
    "Did I miss focus",
    "Am I wrong to call this sharp?",
    "thumbs up?",
]
ASIDES = [
    "No explanation needed. {q}", "{q} Do not explain.", "I have no idea, {q}", "{q} No other text.",
    "I'm not an expert, but {q}", "{q} Don't add anything.", "Never mind the subject. {q}", "{q} Not a word more.",
    "There is no hurry. {q}", "{q} I can't tell myself.", "I've never done this, so {q}", "{q} Nothing else.",
    "We don't have much time. {q}", "{q} Without any commentary.", "My boss won't stop asking, {q}",
    "{q} No essay please.",
]  # fmt: skip


@pytest.mark.parametrize(("aside", "query"), list(itertools.product(ASIDES, QUESTIONS)))
def test_a_stray_negation_never_turns_the_answer(aside: str, query: str) -> None:
    alone, around = understand(query), understand(aside.format(q=query))

    declined = "unclear" in (alone.intent, around.intent) or "decline" in (alone.intent, around.intent)
    assert declined or around.yes_means == alone.yes_means


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("I have no idea, is it sharp?", "is it sharp?"),
        ("is this sharp No other text.", "is this sharp"),
        ("is it blurry don't explain", "is it blurry"),
        ("My boss won't stop asking, is it too dark?", "is it too dark?"),
        ("There is no hurry. Anything but flat. Agree?", "Anything but flat. Agree?"),
        ("画面清晰吗,不用解释", "画面清晰吗"),
        ("Ist das Bild scharf? Keine Erklärung.", "Ist das Bild scharf?"),
        ("Sin explicaciones: ¿está nítida?", "¿está nítida?"),
    ],
)
def test_what_is_denied_beside_the_question_is_left_out(query: str, expected: str) -> None:
    assert without_asides(query) == expected


@pytest.mark.parametrize(
    "query",
    [
        "No noise, right?",
        "I don't see any noise, do you?",
        "There is no noise. Correct?",
        "Nothing else wrong, right?",
        "I think it isn't sharp. Am I wrong?",
        "I'd never hang this, would you?",
        "Kein Rauschen, oder?",
        "No está borrosa, ¿verdad?",
    ],
)
def test_a_negation_that_belongs_to_the_question_stays(query: str) -> None:
    assert without_asides(query) == query
