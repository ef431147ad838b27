"""What is exact in a question: options without labels, the good end of a scale, and the sentences that ask."""

from __future__ import annotations

import pytest

from agenticiqa.question.choices import split_alternatives
from agenticiqa.question.composition import asking_part
from agenticiqa.question.scales import good_end, scale_in
from agenticiqa.question.understanding import understand


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("Label the grain.\n- low\n- high", ["low", "high"]),
        ("One class only:\n<blur>\n<noise>\n<fine>", ["blur", "noise", "fine"]),
        ("Choose from the list [crisp, soft, mushy]", ["crisp", "soft", "mushy"]),
        ("Is the light level too low, too high or neither?", ["too low", "too high", "neither"]),
        ("Should I lighten it, darken it or keep it?", ["lighten it", "darken it", "keep it"]),
        ("画質は良・可・不可のうち、どれ?", ["良", "可", "不可"]),
    ],
)
def test_options_are_found_without_labels(query: str, expected: list[str]) -> None:
    assert list(split_alternatives(query)[1]) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("Rate the focus from 1 to 6, 1 being the best.", "low"),
        ("Focus, 1 to 6, 6 = best?", "high"),
        ("Blur 0-10 where 10 is worst", "low"),
        ("锐度1到5分,5分最好", "high"),
        ("Rate it from 1 to 10.", None),
    ],
)
def test_the_good_end_of_a_scale_is_the_one_that_is_called_so(query: str, expected: str | None) -> None:
    scale = scale_in(query)

    assert scale is not None
    assert good_end(query, scale) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("I don't want an essay. Is it blurry?", "is it blurry?"),
        ("Is it blurry? No other text.", "is it blurry?"),
        ("He says it is blurry. Is he wrong?", "he says it is blurry. is he wrong?"),
        ("Is it blurry?", "Is it blurry?"),
    ],
)
def test_sentences_that_neither_ask_nor_judge_are_left_out(query: str, expected: str) -> None:
    assert asking_part(query, "en") == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("Which has the fewest JPEG artifacts?", "fine"),
        ("Which of these is the cleanest, with the least noise?", "fine"),
        ("Which one is the least sharp?", "flaw"),
        ("Which one is the noisiest?", "flaw"),
    ],
)
def test_the_least_of_a_flaw_is_the_good_end(query: str, expected: str) -> None:
    question = understand(query)

    assert (question.intent, question.yes_means) == ("compare", expected)
