"""A question that names which way a flaw goes is about that way, in every language."""

from __future__ import annotations

import pytest

from agenticiqa.embedded.answers.answering import answer
from agenticiqa.embedded.answers.evidence import Evidence
from agenticiqa.question.asking import read_question
from agenticiqa.question.understanding import understand
from agenticiqa.state import DistortionCategory
from agenticiqa.values import Distortion


def found(category: DistortionCategory, kind: str) -> Evidence:
    return Evidence(findings=(Distortion(category, 0.9, 2.0, kind),))


FLAT, HARD = found("Contrast", "contrast_down"), found("Contrast", "contrast_up")
FADED, VIVID = found("Color distortions", "saturation_down"), found("Color distortions", "saturation_up")
MOVED, DEFOCUSED = found("Blurs", "motion_blur"), found("Blurs", "defocus_blur")


@pytest.mark.parametrize(
    ("query", "this", "other"),
    [
        ("Is the contrast too strong?", HARD, FLAT),
        ("Is it too contrasty?", HARD, FLAT),
        ("Are the colours too strong?", VIVID, FADED),
        ("Are the colours washed out?", FADED, VIVID),
        ("颜色太艳吗？", VIVID, FADED),
        ("Ist der Kontrast zu hoch?", HARD, FLAT),
        ("Sind die Farben übersättigt?", VIVID, FADED),
        ("¿El contraste es demasiado alto?", HARD, FLAT),
        ("Le contraste est-il trop faible ?", FLAT, HARD),
        ("Ist das Foto verwackelt?", MOVED, DEFOCUSED),
        ("Est-ce un flou de bougé ?", MOVED, DEFOCUSED),
        ("ピンボケですか？", DEFOCUSED, MOVED),
    ],
)
def test_what_goes_the_other_way_is_a_no(query: str, this: Evidence, other: Evidence) -> None:
    question = read_question(query)

    assert (answer(question, this).value, answer(question, other).value) == (True, False)


def test_a_word_for_any_blur_names_no_kind() -> None:
    assert understand("¿Está borrosa la foto?").kind is None


@pytest.mark.parametrize(
    "query", ["not sharp?", "Not enough contrast?", "not enough color?", "Is it undersaturated?", "是不是没对上焦？"]
)
def test_whoever_leaves_out_half_of_the_question_suspects_the_flaw(query: str) -> None:
    question = understand(query)

    assert (question.intent, question.yes_means) == ("yesno", "flaw")


def test_a_flaw_that_is_denied_by_name_stays_denied() -> None:
    assert understand("Not noisy?").yes_means == "fine"
    assert understand("No green shift in this one, right?").yes_means == "fine"
