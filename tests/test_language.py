"""Questions in English and Chinese are understood as a person would."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from agenticiqa.perception.choices import split_choices
from agenticiqa.perception.language import understand
from tests.steps import steps_of

ROWS: list[list[Any]] = yaml.safe_load((Path(__file__).parent / "data/questions.yaml").read_text(encoding="utf-8"))


def test_the_table_has_at_least_200_phrasings_in_two_languages() -> None:
    chinese = [row for row in ROWS if any("\u4e00" <= letter <= "\u9fff" for letter in row[0])]

    assert len({row[0] for row in ROWS}) >= 200
    assert len(chinese) >= 60


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_a_phrasing_is_understood(row: list[Any]) -> None:
    expected = row[2] if len(row) > 2 else {}

    question = understand(row[0])

    assert question.shape == row[1]
    assert sorted(question.categories) == sorted(expected.get("about", []))
    assert list(question.scope) == expected.get("scope", [])
    assert question.tool == expected.get("tool")
    assert question.wants_reference == expected.get("reference", False)
    assert question.claim.negated == expected.get("negated", False) or question.shape != "yes_no"
    assert len(question.choices) == expected.get("options", 0)


@pytest.mark.parametrize(
    ("text", "stem", "options"),
    [
        ("Which? A. Noise B. Blur", "Which?", {"A": "Noise", "B": "Blur"}),
        ("Which?\nA) Noise\nB) Blur", "Which?", {"A": "Noise", "B": "Blur"}),
        ("哪种？（A）噪声（B）模糊", "哪种?", {"A": "噪声", "B": "模糊"}),
        ("哪种？A.噪声B.模糊C.JPEG压缩", "哪种?", {"A": "噪声", "B": "模糊", "C": "JPEG压缩"}),
        ("哪种？Ａ、噪声；Ｂ、模糊。", "哪种?", {"A": "噪声", "B": "模糊"}),
        ("Pick one: 1. yes 2. no", "Pick one:", {"1": "yes", "2": "no"}),
        ("Is vitamin A. good?", "Is vitamin A. good?", {}),
        ("Rate from 1 to 5.", "Rate from 1 to 5.", {}),
    ],
)
def test_options_are_split_from_the_question(text: str, stem: str, options: dict[str, str]) -> None:
    assert split_choices(text) == (stem, options)


def test_choices_given_as_data_win_over_written_ones() -> None:
    question = understand("Which is worse? A. Noise B. Blur", {"X": "JPEG", "Y": "Too dark"})

    assert question.choices == {"X": "JPEG", "Y": "Too dark"}
    assert question.categories == ["Compression", "Brightness change"]


def test_a_tool_takes_the_spelling_of_the_registry() -> None:
    assert understand("Rate it with topiq", tools=["TOPIQ_NR"]).tool == "TOPIQ_NR"
    assert understand("Rate it with ms ssim", tools=["MS_SSIM", "SSIM"]).tool == "MS_SSIM"
    assert understand("Rate it with ssim", tools=["MS_SSIM", "SSIM"]).tool == "SSIM"


def test_a_word_for_a_distortion_is_no_tool_unless_spelled_as_one() -> None:
    tools = ["CONTRAST", "JPEG_QUALITY"]

    named = [understand(text, tools=tools).tool for text in ("How is the contrast?", "What JPEG quality was used?")]

    assert named == [None, None]
    assert understand("Report CONTRAST", tools=tools).tool == "CONTRAST"
    assert understand("Use jpeg_quality", tools=tools).tool == "JPEG_QUALITY"


def test_the_language_is_that_of_the_question() -> None:
    assert understand("Is the image blurry?").language == "en"
    assert understand("这张图的JPEG压缩严重吗？").language == "zh"
    assert understand("この画像はぼやけていますか？").language == "en"


@given(st.text(max_size=300))
@settings(max_examples=150, deadline=None)
def test_any_text_is_understood_or_said_not_to_be(text: str) -> None:
    question = understand(text)

    assert question.shape == "unclear" or question.text


@pytest.mark.parametrize("text", ["A. x B. y " * 200, "图像模糊吗" * 400, "color " * 340, "a" * 2000])
def test_a_question_of_twice_the_length_takes_at_most_twice_the_work(text: str) -> None:
    understand(text)

    once, twice = steps_of(lambda: understand(text)), steps_of(lambda: understand(text * 2))

    assert twice <= 2 * once
