"""Score fusion: worked examples, published softmax values, and what must hold for all inputs."""

from __future__ import annotations

import logging
import math
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax

from agenticiqa.score_fusion import ProbabilityMode, ScoreFusion

scores = st.floats(1, 5)
score_lists = st.lists(scores, min_size=1, max_size=8)
etas = st.floats(0, 1e6)
beliefs = st.lists(st.floats(0, 1), min_size=5, max_size=5).filter(lambda p: sum(p) > 1e-9)


def as_levels(values: list[float]) -> dict[int, float]:
    return dict(zip(range(1, 6), values, strict=True))


def test_perceptual_weights_are_the_softmax_of_the_squared_distances_to_the_tool_mean() -> None:
    weights = ScoreFusion(eta=1.0).compute_perceptual_weights([2.5, 2.7, 2.6])

    expected = softmax([-((2.6 - c) ** 2) for c in range(1, 6)])
    assert list(weights.values()) == pytest.approx(list(expected))


def test_tools_without_opinion_of_the_model_decide_the_score() -> None:
    fusion = ScoreFusion()

    assert fusion.fuse_scores([2.6], fusion.uniform()) == pytest.approx(2.6, abs=0.15)


def test_tools_and_a_model_that_agree_give_a_score_between_them() -> None:
    fusion = ScoreFusion()

    fused = fusion.fuse_scores([2.5, 2.7, 2.4], fusion.extract_vlm_probabilities("C"))

    assert 2.5 <= fused <= 3.0


def test_tools_that_contradict_the_model_pull_the_score_to_their_side() -> None:
    fusion = ScoreFusion()

    fused = fusion.fuse_scores([2.0], {1: 0.1, 2: 0.1, 3: 0.1, 4: 0.1, 5: 0.6})

    assert abs(fused - 2.0) < abs(fused - 5.0)
    # By hand: α ∝ e^-1, 1, e^-1, e^-4, e^-9; (.1·(1α1+2α2+3α3+4α4) + .6·5α5) / (.1·(α1+α2+α3+α4) + .6·α5)
    a = [math.exp(-1), 1.0, math.exp(-1), math.exp(-4), math.exp(-9)]
    top = 0.1 * (a[0] + 2 * a[1] + 3 * a[2] + 4 * a[3]) + 0.6 * 5 * a[4]
    assert fused == pytest.approx(top / (0.1 * sum(a[:4]) + 0.6 * a[4]))


def test_without_normalising_the_sum_is_the_one_the_paper_prints() -> None:
    fusion = ScoreFusion()
    p = fusion.uniform()

    printed = fusion.fuse_scores([3.0], p, normalize=False)

    alpha = softmax([-((3.0 - c) ** 2) for c in range(1, 6)])
    assert printed == pytest.approx(sum(a * 0.2 * c for a, c in zip(alpha, range(1, 6), strict=True)))
    assert printed < 1


def test_no_tool_scores_give_uniform_weights_and_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        weights = ScoreFusion().compute_perceptual_weights([])

    assert weights == dict.fromkeys(range(1, 6), pytest.approx(0.2))
    assert "no tool scores" in caplog.text


def test_log_probabilities_become_their_softmax_even_when_extreme() -> None:
    fusion = ScoreFusion()

    p = fusion.extract_vlm_probabilities({"A": -1000.0, "B": -1001.0, "C": -2000.0, "D": -math.inf, "E": -1e308})

    expected = softmax([-1000.0, -1001.0])
    assert (p[5], p[4]) == pytest.approx(tuple(expected))
    assert p[3] == p[2] == p[1] == 0


def test_values_that_sum_to_one_are_taken_as_probabilities_unless_called_log_values() -> None:
    fusion = ScoreFusion()
    values = {1: 0.0, 2: 0.1, 3: 0.6, 4: 0.3, 5: 0.0}

    assert fusion.extract_vlm_probabilities(values) == pytest.approx(values)
    as_logits = fusion.extract_vlm_probabilities(values, mode="logits")
    assert list(as_logits.values()) == pytest.approx(list(softmax(list(values.values()))))


def test_a_single_letter_gets_four_fifths_and_the_others_share_the_rest() -> None:
    p = ScoreFusion().extract_vlm_probabilities("b", mode="classification")

    assert p == pytest.approx({1: 0.05, 2: 0.05, 3: 0.05, 4: 0.8, 5: 0.05})


@pytest.mark.parametrize("answer", ["B", "Good", "good", "B. Good", "(B) Good"])
def test_a_level_is_understood_by_its_letter_its_name_or_both(answer: str) -> None:
    assert ScoreFusion().extract_vlm_probabilities(answer)[4] == pytest.approx(0.8)


def test_log_probabilities_may_be_given_by_the_levels_names() -> None:
    by_name = ScoreFusion().extract_vlm_probabilities({"Good": -0.1, "E. Bad": -3.0})

    assert by_name == pytest.approx(ScoreFusion().extract_vlm_probabilities({"B": -0.1, "E": -3.0}))


@pytest.mark.parametrize("answer", ["Unable to determine", "--5", "³", "6", {}, {"final_answer": "maybe"}])
def test_an_answer_that_names_no_level_gives_uniform_probabilities_and_a_warning(
    answer: str | dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        p = ScoreFusion().extract_vlm_probabilities(answer)

    assert p == pytest.approx(dict.fromkeys(range(1, 6), 0.2))
    assert "names no quality level" in caplog.text


@pytest.mark.parametrize("bad", [{"Z": 0.5}, {9: 1.0}, {"A": math.nan}, {"A": -math.inf}])
def test_values_for_no_level_or_of_no_size_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"level|log-values"):
        ScoreFusion().extract_vlm_probabilities({**bad})


@pytest.mark.parametrize("mode", [None, "logits", "classification"])
def test_a_whole_reply_counts_by_its_final_answer(mode: ProbabilityMode | None) -> None:
    fusion = ScoreFusion()

    read = fusion.extract_vlm_probabilities({"final_answer": "B", "quality_reasoning": "Soft."}, mode)

    assert read == fusion.extract_vlm_probabilities("B")


@pytest.mark.parametrize("output", ["B", {"A": -0.1, "B": -2.0}, {}])
def test_a_mode_nobody_knows_gives_uniform_probabilities_as_the_document_prints(
    output: str | dict[str, float], caplog: pytest.LogCaptureFixture
) -> None:
    mode: Any = "tokens"

    with caplog.at_level(logging.WARNING):
        assert ScoreFusion().extract_vlm_probabilities(output, mode) == dict.fromkeys(range(1, 6), 0.2)

    assert "'tokens'" in caplog.text


@pytest.mark.parametrize(
    ("score", "letter"),
    [(5.0, "A"), (4.5, "A"), (4.49, "B"), (3.5, "B"), (3.0, "C"), (2.5, "C"), (2.4, "D"), (1.5, "D"), (1.0, "E")],
)
def test_a_score_maps_to_the_nearest_level_and_halves_go_up(score: float, letter: str) -> None:
    assert ScoreFusion().map_to_level(score) == letter


def test_own_thresholds_replace_the_halves() -> None:
    fusion = ScoreFusion()

    assert fusion.map_to_level(3.1, thresholds=[1.8, 2.6, 3.4, 4.2]) == "C"
    assert fusion.map_to_level(4.2, thresholds=[1.8, 2.6, 3.4, 4.2]) == "A"
    with pytest.raises(ValueError, match="ascending"):
        fusion.map_to_level(3.0, thresholds=[4, 3, 2, 1])


def test_a_scale_of_seven_levels_works_throughout() -> None:
    fusion = ScoreFusion(quality_levels=[1, 2, 3, 4, 5, 6, 7])

    fused = fusion.fuse_scores([6.0], fusion.extract_vlm_probabilities("A"))

    assert 6.0 < fused <= 7.0
    assert fusion.map_to_level(7.0) == "A"
    assert fusion.map_to_level(1.0) == "G"


@pytest.mark.parametrize("eta", [-1.0, math.inf, math.nan])
def test_an_impossible_eta_is_refused(eta: float) -> None:
    with pytest.raises(ValueError, match="eta"):
        ScoreFusion(eta=eta)


@settings(deadline=None)
@given(score_lists, beliefs, etas)
def test_the_fused_score_never_leaves_the_scale(tools: list[float], p: list[float], eta: float) -> None:
    fused = ScoreFusion(eta=eta).fuse_scores(tools, as_levels(p))

    assert 1 <= fused <= 5


@settings(deadline=None)
@given(scores, scores, beliefs, st.floats(0, 100))
def test_better_tool_scores_never_lower_the_fused_score(a: float, b: float, p: list[float], eta: float) -> None:
    fusion = ScoreFusion(eta=eta)

    worse, better = (fusion.fuse_scores([mean], as_levels(p)) for mean in sorted((a, b)))

    assert better >= worse - 1e-9


@settings(deadline=None)
@given(score_lists, beliefs, st.floats(0, 100), st.randoms(use_true_random=False))
def test_the_order_of_the_tools_does_not_matter(
    tools: list[float], p: list[float], eta: float, shuffler: random.Random
) -> None:
    shuffled = tools.copy()
    shuffler.shuffle(shuffled)
    fusion = ScoreFusion(eta=eta)

    assert fusion.fuse_scores(shuffled, as_levels(p)) == fusion.fuse_scores(tools, as_levels(p))


def test_values_that_miss_a_sum_of_one_by_a_hundredth_are_log_values() -> None:
    nearly = {1: 0.2, 2: 0.2, 3: 0.2, 4: 0.2, 5: 0.21}

    found = ScoreFusion().extract_vlm_probabilities(nearly)

    # Softmax by hand: 1 / (4 e^-0.01 + 1); as probabilities it would be 0.21 / 1.01 = 0.2079.
    assert found[5] == pytest.approx(1 / (4 * 0.9900498337 + 1), abs=1e-9)


@pytest.mark.parametrize(
    "beliefs", [{1: -0.5, 2: 1.5}, {1: float("nan"), 2: 1.0}, {1: float("inf")}, {1: 0.0}, {9: 1.0}]
)
def test_beliefs_that_are_no_probabilities_are_refused(beliefs: dict[int, float]) -> None:
    with pytest.raises(ValueError, match="probabilities must be finite, not negative"):
        ScoreFusion().fuse_scores([3.0], beliefs)


def test_a_model_sure_of_an_end_of_the_scale_is_taken_at_its_word() -> None:
    fusion = ScoreFusion()

    assert fusion.fuse_scores([], {1: 1.0}) == 1.0
    assert fusion.fuse_scores([], {5: 1.0}) == 5.0
