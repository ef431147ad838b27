"""Options and scales are found in a text however they are written."""

from __future__ import annotations

import pytest

from agenticiqa.question.asked import Choose
from agenticiqa.question.choices import match_choice, split_choices
from agenticiqa.question.model import read
from agenticiqa.question.read import read_question
from agenticiqa.question.scales import ends_said, scale_in


@pytest.mark.parametrize(
    ("text", "stem", "options"),
    [
        ("Which? A. Noise B. Blur", "Which?", {"A": "Noise", "B": "Blur"}),
        ("Which?\nA) Noise\nB) Blur", "Which?", {"A": "Noise", "B": "Blur"}),
        ("哪种？（A）噪声（B）模糊", "哪种?", {"A": "噪声", "B": "模糊"}),
        ("哪种？A.噪声B.模糊C.JPEG压缩", "哪种?", {"A": "噪声", "B": "模糊", "C": "JPEG压缩"}),
        ("Pick one: 1. yes 2. no", "Pick one:", {"1": "yes", "2": "no"}),
        ("Sharp (A) or soft (B)?", "Sharp (A) or soft (B)?", {"A": "Sharp", "B": "soft"}),
        ("Pick one. A - crisp, B - blurred.", "Pick one.", {"A": "crisp", "B": "blurred"}),
        ("Exposure? U = under, C = correct, O = over.", "Exposure?", {"U": "under", "C": "correct", "O": "over"}),
        ("清晰选A，模糊选B", "清晰选A,模糊选B", {"A": "清晰", "B": "模糊"}),
        ("Is vitamin A. good?", "Is vitamin A. good?", {}),
        ("Rate from 1 to 5.", "Rate from 1 to 5.", {}),
        ("Rate the grain, 1 = hardly any, 5 = sandstorm.", "Rate the grain, 1 = hardly any, 5 = sandstorm.", {}),
    ],
)
def test_labelled_options_are_split_from_the_question(text: str, stem: str, options: dict[str, str]) -> None:
    assert split_choices(text) == (stem, options)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("Is it sharp or blurry?", ["sharp", "blurry"]),
        ("Good, fair or poor?", ["Good", "fair", "poor"]),
        ("flat/balanced/harsh?", ["flat", "balanced", "harsh"]),
        ("清楚还是糊？", ["清楚", "糊"]),
        ("nette ou floue ?", ["nette", "floue"]),
        ('Say "poor", "fair" or "good".', ["poor", "fair", "good"]),
    ],
)
def test_alternatives_without_labels_are_found(text: str, options: list[str]) -> None:
    assert list(read(text).offered) == options


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("Rate it from 1 to 10.", 1, 10),
        ("quality outta 10", 0, 10),
        ("How many stars?", 1, 5),
        ("Bewerte von 0 bis 100", 0, 100),
        ("请按百分制打分", 0, 100),
        ("0 none, 3 heavy: which?", 0, 3),
        ("Sharpness in percent?", 0, 100),
        ("from −3 (dull) to +3 (garish)", -3, 3),
        ("out of 10, where 1 is awful", 1, 10),
    ],
)
def test_the_scale_of_a_rating_is_found(text: str, low: float, high: float) -> None:
    scale = scale_in(text)

    assert scale is not None
    assert (scale.low, scale.high) == (low, high)


def test_the_ends_of_a_scale_are_told_in_the_words_of_the_question() -> None:
    text = "Rate it from 1 (awful) to 10 (flawless)."
    scale = scale_in(text)

    assert scale is not None
    assert ends_said(text, scale) == ("awful", "flawless")


def test_who_offers_better_and_worse_wants_the_reference() -> None:
    query = "Compared with the reference image, how good is the quality of this image?"

    asked = read_question(query, {"A": "About the same", "B": "Better", "C": "Worse"})

    assert asked.topic.reference == "wanted"


@pytest.mark.parametrize("praise", ["fine", "OK", "just right", "correct"])
def test_plain_praise_beside_flaws_denies_them(praise: str) -> None:
    question = read_question(f"Which is it? i. {praise} ii. too dark iii. too bright")

    assert isinstance(question, Choose)
    assert question.options["I"].nothing
    assert (question.options["II"].attribute, question.options["III"].attribute) == ("dark", "bright")


@pytest.mark.parametrize("answer", ["III", "iii)", "III. too bright"])
def test_a_roman_label_is_an_answer(answer: str) -> None:
    assert match_choice(answer, {"I": "fine", "II": "too dark", "III": "too bright"}) == "III"
