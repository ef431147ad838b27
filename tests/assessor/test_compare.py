"""Ranking images, and the probability that one is better than another."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from agenticiqa.assessor.ranking import Pair, Ranking, ask_to_rank, probability_better, query_for_each, rank
from agenticiqa.assessor.wording import pair_in_words
from agenticiqa.errors import UsageError
from agenticiqa.images import ImageSource
from agenticiqa.parts import build_parts
from agenticiqa.tools.synthetic.kinds import distort
from agenticiqa.tools.synthetic.ladder import photographs
from agenticiqa.vlm_client.tasks import ComparedImage, RankReply
from tests.support.agent import picture
from tests.support.results import assessment, scripted_assessor

scores = st.floats(1, 5)
widths = st.floats(0.05, 2)


def compared(query: str, images: Sequence[ImageSource]) -> RankReply:
    """What the embedded backend says of the images."""
    return ask_to_rank(query, images, build_parts())[0]


def noise(first: Literal["most", "least"], *amounts: float, visible: Sequence[bool] | None = None) -> RankReply:
    seen = visible or [True] * len(amounts)
    images = [ComparedImage(amount=amount, visible=shown) for amount, shown in zip(amounts, seen, strict=True)]
    return RankReply(attribute="noise", first=first, images=images)


def test_images_are_ranked_from_the_best_to_the_worst() -> None:
    found = [assessment(2.0, (1.9, 2.1)), assessment(4.0, (3.9, 4.1)), assessment(3.0, (2.9, 3.1))]

    ranking = rank(["a", "b", "c"], found)

    assert [(entry.rank, entry.name) for entry in ranking.entries] == [(1, "b"), (2, "c"), (3, "a")]
    assert ranking.best is ranking.entries[0]
    assert [(pair.first, pair.second, pair.verdict) for pair in ranking.pairs] == [
        ("b", "c", "better"),
        ("b", "a", "better"),
        ("c", "a", "better"),
    ]


@given(scores, widths, scores, widths)
def test_the_probability_is_that_of_two_normal_scores(one: float, wide: float, other: float, narrow: float) -> None:
    left, right = assessment(one, (one - wide, one + wide)), assessment(other, (other - narrow, other + narrow))
    if left.provenance == right.provenance:
        return

    probability = probability_better(left, right)

    half = norm.ppf(0.975)
    expected = norm.sf(0, loc=one - other, scale=((wide / half) ** 2 + (narrow / half) ** 2) ** 0.5)
    assert probability == pytest.approx(expected, abs=1e-6)
    assert probability_better(right, left) == pytest.approx(1 - expected, abs=1e-6)


@pytest.mark.parametrize(("gap", "verdict"), [(0.0, "no clear difference"), (0.67, "no clear difference"),
                                              (0.68, "better")])  # fmt: skip
def test_up_to_75_percent_there_is_no_clear_difference(gap: float, verdict: str) -> None:
    # Each score has a standard error of sqrt(1/2), so that the gap's is 1: Φ(0.67) = .7486, Φ(0.68) = .7517.
    half = 1.959964 / 2**0.5
    one, other = assessment(3 + gap, (3 + gap - half, 3 + gap + half)), assessment(3.0, (3 - half, 3 + half))

    (pair,) = rank(["one", "other"], [one, other]).pairs

    assert pair.verdict == verdict


def test_without_an_interval_the_level_probabilities_say_how_sure_a_score_is() -> None:
    # Half on 4 and half on 2: a standard deviation of 1. All on 3: none at all.
    unsure = assessment(3.0, level_probabilities={"A": 0, "B": 0.5, "C": 0, "D": 0.5, "E": 0})
    sure = assessment(4.0, level_probabilities={"A": 0, "B": 0, "C": 1.0, "D": 0, "E": 0})

    assert probability_better(sure, unsure) == pytest.approx(norm.cdf(1.0))


def test_an_image_without_a_score_comes_last_and_is_not_judged() -> None:
    ranking = rank(["failed", "fine"], [assessment(None), assessment(3.0, (2.5, 3.5))])

    assert [(entry.rank, entry.name) for entry in ranking.entries] == [(1, "fine"), (None, "failed")]
    assert (ranking.pairs[0].probability, ranking.pairs[0].verdict) == (None, "unknown")


def test_the_same_image_twice_shows_no_difference(tmp_path: Path) -> None:
    path = picture(tmp_path)

    ranking = scripted_assessor().compare([path, path])

    assert (ranking.pairs[0].probability, ranking.pairs[0].verdict) == (0.5, "no clear difference")
    assert [entry.name for entry in ranking.entries] == [f"{path} 1", f"{path} 2"]


def test_files_and_pixels_are_compared_under_their_own_names(tmp_path: Path) -> None:
    import numpy as np

    path, pixels = picture(tmp_path), np.zeros((32, 48, 3), np.uint8)

    ranking = scripted_assessor().compare([path, pixels], reference=path)

    assert {entry.name for entry in ranking.entries} == {path, "image 2"}
    assert ranking.pair("image 2", path).probability == pytest.approx(0.5)
    assert Ranking.model_validate_json(ranking.to_json()) == ranking


@pytest.mark.parametrize("images", [[], ["one.png"]])
def test_one_image_cannot_be_compared(images: list[Any]) -> None:
    with pytest.raises(UsageError, match="at least two images"):
        scripted_assessor().compare(images)


@pytest.mark.parametrize(
    ("probability", "said"), [(0.9999, "probability > 99 %"), (0.8, "probability 80 %"), (0.001, "better: < 1 %")]
)
def test_what_is_nearly_certain_is_not_called_certain(probability: float, said: str) -> None:
    verdict: Literal["better", "no clear difference"] = "better" if probability > 0.75 else "no clear difference"

    words = pair_in_words(Pair(first="a", second="b", probability=probability, verdict=verdict))

    assert said in words


def test_a_question_for_an_attribute_ranks_by_it_whatever_the_scores() -> None:
    found = [assessment(4.0, (3.9, 4.1)), assessment(2.0, (1.9, 2.1)), assessment(3.0, (2.9, 3.1))]

    noisiest = rank(["a", "b", "c"], found, noise("most", 0.1, 0.4, 0.8))
    cleanest = rank(["a", "b", "c"], found, noise("least", 0.1, 0.4, 0.8))

    assert (noisiest.answer, [entry.name for entry in noisiest.entries]) == ("c", ["c", "b", "a"])
    assert cleanest.answer == "a"


def test_images_that_are_level_share_a_rank_and_are_named_together() -> None:
    found = [assessment(4.0, (3.9, 4.1)), assessment(2.0, (1.9, 2.1)), assessment(3.0, (2.9, 3.1))]

    ranking = rank(["a", "b", "c"], found, noise("most", 0.5, 0.5, 0.2))

    assert [entry.rank for entry in ranking.entries] == [1, 1, 3]
    assert ranking.answer == "no clear difference between a, b"


def test_every_image_shows_what_it_has_of_the_attribute_asked_for_and_ties_are_ties() -> None:
    clean = photographs()["chelsea"].pixels
    images = [clean, distort(clean, "gaussian_blur", 5), clean.copy()]

    asked = compared("Which one is the sharpest?", images)
    ranking = rank(["a", "b", "c"], [assessment(4.0), assessment(2.0), assessment(4.0)], asked)

    lines = str(ranking).splitlines()
    assert lines[0] == "Answer: no clear difference between a, c"
    assert [line.partition(":")[0] for line in lines[1:]] == ["=1. a", "=1. c", "3. b"]
    assert re.match(r"3\. b: blur \d\d of 100 \((severe|extreme), blur radius [\d.]+ px\); 2\.00 of 5", lines[3])
    assert all(entry.evidence for entry in ranking.entries)


def test_among_pictures_without_noise_none_is_the_noisiest_and_the_cleanest_is_still_named() -> None:
    clean = {"a": assessment(4.0), "b": assessment(4.1), "c": assessment(2.0)}
    amounts, visible = (0.07, 0.03, 0.6), (False, False, True)

    worst = rank(list(clean), list(clean.values()), noise("most", *amounts, visible=visible))
    two = rank(["a", "b"], [clean["a"], clean["b"]], noise("most", *amounts[:2], visible=visible[:2]))
    best = rank(list(clean), list(clean.values()), noise("least", *amounts, visible=visible))

    assert [(entry.rank, entry.name) for entry in worst.entries] == [(1, "c"), (2, "a"), (2, "b")]
    assert two.answer == "no clear difference between a, b"
    assert best.answer == "b"


def test_two_clean_photographs_are_level_in_noise() -> None:
    pictures = [photographs()[name].pixels for name in ("chelsea", "coffee")]

    asked = compared("Which one is the noisiest?", pictures)

    assert [image.visible for image in asked.images] == [False, False]


def test_equal_scores_share_a_rank() -> None:
    ranking = rank(["a", "b", "c"], [assessment(3.0), assessment(3.0), assessment(2.0)])

    assert [entry.rank for entry in ranking.entries] == [1, 1, 3]


def test_the_worst_one_is_the_last_by_score() -> None:
    found = [assessment(4.0, (3.9, 4.1)), assessment(2.0, (1.9, 2.1))]

    assert rank(["a", "b"], found, RankReply(first="least")).answer == "b"


def test_a_question_about_one_image_is_said_to_be_none_for_a_comparison() -> None:
    asked = compared("How can I fix this photo?", [])

    assert "cannot be answered by comparison" in str(asked.why_not)
    assert query_for_each("Which one is the noisiest?", 1000) is None


@pytest.mark.parametrize(
    "query",
    [
        "Which of my shots is best?",
        "Which shot is the best?",
        "Welches der Bilder ist am besten?",
    ],
)
def test_the_best_of_several_is_asked_for_as_a_whole(query: str) -> None:
    asked = compared(query, [])

    assert (asked.attribute, asked.first, asked.why_not) == ("overall", "most", None)


def test_a_comparison_of_one_thing_looks_at_that_thing() -> None:
    sharp = photographs()["astronaut"].pixels
    soft_face = sharp.copy()
    soft_face[:250, 100:350] = distort(sharp, "gaussian_blur", 3)[:250, 100:350]

    soft, clear = compared("In which one is her face sharpest?", [soft_face, sharp]).images

    assert soft.amount > clear.amount + 0.3


def test_a_thing_that_is_not_in_every_image_is_not_compared() -> None:
    images = [photographs()["astronaut"].pixels, photographs()["coffee"].pixels]

    asked = compared("In which one is her face sharpest?", images)

    assert "face could not be located in image 2" in str(asked.why_not)
