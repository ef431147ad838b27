"""The full-reference judgement: order, edge cases, changes on purpose, disagreement, and the tool it is offered as."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from agenticiqa.embedded.answers.answering import answer
from agenticiqa.embedded.answers.evidence import Evidence
from agenticiqa.embedded.answers.reasons import explain
from agenticiqa.embedded.full_reference.judge import FullReferenceJudge, shipped_judge
from agenticiqa.embedded.tools import learned_tools
from agenticiqa.errors import ImageSizeMismatchError, ImageTooSmallError, ToolUnavailableError
from agenticiqa.question.read import read_question
from agenticiqa.tools.synthetic.kinds import LEVELS, distort
from tests.support.photos import photo

Pixels = NDArray[np.uint8]


@pytest.fixture(scope="module")
def judge() -> FullReferenceJudge:
    return shipped_judge()


@pytest.fixture(scope="module")
def picture() -> Pixels:
    """A photograph in no training list, small so that a pair costs little."""
    return np.ascontiguousarray(cv2.resize(photo("coffee"), (384, 256), interpolation=cv2.INTER_AREA))


def test_an_identical_pair_is_at_the_top_of_the_scale(judge: FullReferenceJudge, picture: Pixels) -> None:
    judgement = judge.judge_pixels(picture, picture.copy())

    assert judgement.score == 5.0
    assert judgement.levels == {"A": 1.0, "B": 0.0, "C": 0.0, "D": 0.0, "E": 0.0}
    assert judgement.severity == "none"
    assert judgement.kinds == {}


@pytest.mark.parametrize("kind", ["gaussian_blur", "white_noise", "jpeg", "mean_shift"])
def test_stronger_damage_never_scores_better(judge: FullReferenceJudge, picture: Pixels, kind: str) -> None:
    scores = [judge.judge_pixels(distort(picture, kind, level), picture).score for level in LEVELS]

    assert scores == sorted(scores, reverse=True)
    assert scores[0] - scores[-1] > 1


@pytest.mark.parametrize(
    ("kind", "category"),
    [
        ("gaussian_blur", "Blurs"),
        ("white_noise", "Noise"),
        ("jpeg", "Compression"),
        ("mean_shift", "Brightness change"),
    ],
)
def test_the_category_of_clear_damage_is_recognised(
    judge: FullReferenceJudge, picture: Pixels, kind: str, category: str
) -> None:
    judgement = judge.judge_pixels(distort(picture, kind, 4), picture)

    assert max(judgement.categories, key=lambda name: judgement.categories[name]) == category


@pytest.mark.parametrize("kind", ["mean_shift", "contrast_up", "saturation_down"])
def test_a_picture_changed_on_purpose_is_not_broken(judge: FullReferenceJudge, picture: Pixels, kind: str) -> None:
    changed = judge.judge_pixels(distort(picture, kind, 1), picture)

    assert changed.score > 3.5
    assert any("detail is intact" in note for note in changed.notes)


def test_damage_is_not_taken_for_a_change_on_purpose(judge: FullReferenceJudge, picture: Pixels) -> None:
    judgement = judge.judge_pixels(distort(picture, "white_noise", 4), picture)

    assert not any("detail is intact" in note for note in judgement.notes)


def test_the_tone_of_a_picture_counts_less_than_damage_of_the_same_error(
    judge: FullReferenceJudge, picture: Pixels
) -> None:
    brighter = np.clip(picture.astype(np.int16) + 20, 0, 255).astype(np.uint8)
    error = float(np.sqrt(np.mean((brighter.astype(np.float64) - picture) ** 2)))
    noise = np.random.default_rng(1).normal(0, error, picture.shape)
    noisy = np.clip(np.rint(picture + noise), 0, 255).astype(np.uint8)

    assert judge.judge_pixels(brighter, picture).score > judge.judge_pixels(noisy, picture).score + 0.5


def test_a_swapped_pair_has_a_judgement(judge: FullReferenceJudge, picture: Pixels) -> None:
    blurred = distort(picture, "gaussian_blur", 3)

    judgement = judge.judge_pixels(picture, blurred)

    assert 1 <= judgement.score < 5


def test_a_shift_by_one_pixel_is_found_and_undone(judge: FullReferenceJudge, picture: Pixels) -> None:
    test, reference = picture[:, :-1], picture[:, 1:]

    judgement = judge.judge_pixels(np.ascontiguousarray(test), np.ascontiguousarray(reference))

    assert judgement.score == 5.0
    assert any("displaced by 1 × 0 pixels" in note for note in judgement.notes)


def test_equal_damage_per_pixel_scores_alike_at_every_size(judge: FullReferenceJudge) -> None:
    large = np.asarray(cv2.resize(photo("coffee"), (1800, 1200), interpolation=cv2.INTER_CUBIC), np.uint8)
    versions = [large, np.asarray(cv2.resize(large, (600, 400), interpolation=cv2.INTER_AREA), np.uint8)]

    scores = [judge.judge_pixels(distort(version, "white_noise", 3), version).score for version in versions]

    assert abs(scores[0] - scores[1]) < 0.4


def test_a_picture_enlarged_by_four_is_recognised_and_scored_for_what_is_left(judge: FullReferenceJudge) -> None:
    reference = np.ascontiguousarray(photo("coffee"))
    height, width = reference.shape[:2]
    small = cv2.resize(reference, (width // 4, height // 4), interpolation=cv2.INTER_AREA)
    enlarged = np.asarray(cv2.resize(small, (width, height), interpolation=cv2.INTER_CUBIC), np.uint8)

    judgement = judge.judge_pixels(enlarged, reference)

    assert judgement.kind == "upscale"
    assert judgement.score < 3.2


def test_the_way_of_viewing_is_a_setting_and_the_notes_name_it() -> None:
    reference = np.asarray(cv2.resize(photo("coffee"), (1500, 1000), interpolation=cv2.INTER_CUBIC), np.uint8)
    damaged = distort(reference, "white_noise", 3)

    native, screen = (shipped_judge(viewing=way).judge_pixels(damaged, reference) for way in ("native", "screen"))

    assert any("resized by" in note for note in screen.notes)
    assert any("native resolution" in note for note in native.notes)
    assert screen.score > native.score


def test_a_coder_nobody_rated_is_judged_by_the_metrics_and_the_judgement_says_so(
    judge: FullReferenceJudge, picture: Pixels
) -> None:
    rated = judge.judge_pixels(distort(picture, "white_noise", 3), picture)
    unrated = judge.judge_pixels(distort(picture, "webp", 3), picture)

    assert rated.out_of_domain is None
    assert "consensus of metrics" in str(unrated.out_of_domain)


def test_pairs_of_different_size_are_refused(judge: FullReferenceJudge, picture: Pixels) -> None:
    with pytest.raises(ImageSizeMismatchError, match="384×256"):
        judge.judge_pixels(picture, picture[:-1])


def test_a_pair_too_small_to_judge_is_refused(judge: FullReferenceJudge, picture: Pixels) -> None:
    with pytest.raises(ImageTooSmallError, match="32 on each side"):
        judge.judge_pixels(picture[:20], picture[:20])


def test_a_grey_reference_gives_a_judgement_with_a_remark(judge: FullReferenceJudge, picture: Pixels) -> None:
    grey = np.repeat(cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY)[..., None], 3, axis=2)

    judgement = judge.judge_pixels(picture, grey)

    assert 1 <= judgement.score < 5
    assert any("reference has no colour" in note for note in judgement.notes)


def test_a_flat_reference_gives_a_low_judgement_with_a_remark(judge: FullReferenceJudge, picture: Pixels) -> None:
    judgement = judge.judge_pixels(picture, np.full_like(picture, 128))

    assert judgement.score < 3
    assert not any("detail is intact" in note for note in judgement.notes)
    assert any("one flat colour" in note for note in judgement.notes)


def test_a_judgement_is_the_same_in_every_thread(judge: FullReferenceJudge, picture: Pixels) -> None:
    damaged = distort(picture, "jpeg", 3)

    with ThreadPoolExecutor(4) as threads:
        scores = set(threads.map(lambda _: judge.judge_pixels(damaged, picture).score, range(4)))

    assert len(scores) == 1


def test_the_interval_holds_the_score(judge: FullReferenceJudge, picture: Pixels) -> None:
    judgement = judge.judge_pixels(distort(picture, "jpeg", 4), picture)

    low, high = judgement.interval or (5.0, 1.0)
    assert low < judgement.score < high


def test_the_open_weights_judge_without_any_opinion(picture: Pixels) -> None:
    opened = shipped_judge("open")

    scores = [opened.judge_pixels(distort(picture, "jpeg", level), picture).score for level in (1, 3, 5)]

    assert scores == sorted(scores, reverse=True)


def test_the_tool_says_what_the_judge_says(judge: FullReferenceJudge, picture: Pixels) -> None:
    (tool,) = [tool for tool in learned_tools() if tool.name == "AIQA_FR"]
    damaged = distort(picture, "jpeg", 3)

    assert tool.measure(damaged, picture) == judge.judge_pixels(damaged, picture).score
    assert tool.card.research_only
    with pytest.raises(ToolUnavailableError, match="reference"):
        tool.measure(damaged)


def test_commercial_terms_get_the_tool_without_research_data() -> None:
    (tool,) = [tool for tool in learned_tools("commercial") if tool.name == "AIQA_FR"]

    assert not tool.card.research_only


def test_the_summary_says_which_metrics_disagree_and_which_is_trusted(
    judge: FullReferenceJudge, picture: Pixels
) -> None:
    judgement = judge.judge_pixels(distort(picture, "saturation_down", 4), picture)
    question = read_question("How good is the quality of this image?")
    evidence = Evidence(judgement=judgement, has_reference=True)

    sentences = explain(question, evidence, answer(question, evidence))

    # Metrics of brightness alone cannot see that colour is missing.
    (told,) = [sentence.text for sentence in sentences if "The metrics disagree" in sentence.text]
    assert "SSIM" in told
    assert judgement.disagreement is not None
    assert f"{judgement.disagreement.trusted.name} is trusted, because for" in told
