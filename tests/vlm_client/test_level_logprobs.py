"""Level probabilities from token log-probabilities, against softmaxes worked out by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenticiqa.score_fusion import ScoreFusion
from agenticiqa.vlm_client.providers.logprobs import TokenLogprobs, answer_position, from_reported, level_logprobs

LETTERS = "ABCDE"


def shares(values: dict[str, float]) -> dict[str, float]:
    return {letter: math.exp(value) for letter, value in values.items()}


def reply(*tokens: str, at_answer: dict[str, float]) -> list[TokenLogprobs]:
    """A reply whose token with the answer's letter has these alternatives."""
    text = "".join(tokens)
    position, end, result = answer_position(text), 0, []
    assert position is not None
    for token in tokens:
        holds_letter = end <= position < end + len(token)
        end += len(token)
        logprob = at_answer.get(token, -0.1) if holds_letter else -0.1
        result.append(TokenLogprobs(token, logprob, tuple(at_answer.items()) if holds_letter else ()))
    return result


def test_all_letters_reported_give_their_softmax() -> None:
    # exp: 0.4, 0.3, 0.1, 0.1, 0.05 of 0.95
    reported = {letter: math.log(p) for letter, p in zip(LETTERS, (0.4, 0.3, 0.1, 0.1, 0.05), strict=True)}

    found = level_logprobs(reply('{"final_answer": "', "A", '"}', at_answer=reported))

    assert found is not None
    expected = {"A": 0.421052632, "B": 0.315789474, "C": 0.105263158, "D": 0.105263158, "E": 0.052631579}
    assert shares(found.values) == pytest.approx(expected, abs=1e-6)
    assert found.notes == ()


def test_missing_letters_are_bounded_by_the_smallest_reported_token() -> None:
    # A .6, B .2; the least reported token "the" has .05, so C, D, E count .05 each: the sum is .95.
    reported = {"A": math.log(0.6), "B": math.log(0.2), "the": math.log(0.05)}

    found = from_reported(reported)

    assert found is not None
    expected = {"A": 0.631578947, "B": 0.210526316, "C": 0.052631579, "D": 0.052631579, "E": 0.052631579}
    assert shares(found.values) == pytest.approx(expected, abs=1e-6)
    assert found.notes == ("log-probability of C, D, E not reported; bounded by the smallest reported one",)


def test_spellings_of_a_letter_are_added_up() -> None:
    # A: .2 + .1 + .1 = .4; B: .1 + .1 = .2; C, D, E: .1 each; the sum is .9.
    reported = {'"A': 0.2, "A": 0.1, " A": 0.1, "B": 0.1, 'B"': 0.1, "C": 0.1, "D": 0.1, "E": 0.1}

    found = from_reported({token: math.log(p) for token, p in reported.items()})

    assert found is not None
    expected = {"A": 0.444444444, "B": 0.222222222, "C": 0.111111111, "D": 0.111111111, "E": 0.111111111}
    assert shares(found.values) == pytest.approx(expected, abs=1e-6)


def test_a_letter_at_minus_infinity_has_no_probability_and_bounds_the_missing_ones() -> None:
    # A .5, B .25, C impossible; D and E are at most as likely as C.
    found = from_reported({"A": math.log(0.5), "B": math.log(0.25), "C": -math.inf})

    assert found is not None
    expected = {"A": 0.666666667, "B": 0.333333333, "C": 0.0, "D": 0.0, "E": 0.0}
    assert shares(found.values) == pytest.approx(expected, abs=1e-6)


def test_the_fusion_takes_them_as_they_are() -> None:
    found = from_reported({"A": math.log(0.5), "B": math.log(0.25), "C": -math.inf})

    assert found is not None
    levels = ScoreFusion().extract_vlm_probabilities(found.values, mode="logits")
    assert levels == pytest.approx({5: 2 / 3, 4: 1 / 3, 3: 0, 2: 0, 1: 0}, abs=1e-9)


def test_a_chosen_token_listed_again_among_the_alternatives_counts_once() -> None:
    alternatives = tuple((letter, math.log(0.2)) for letter in LETTERS)
    tokens = [TokenLogprobs('{"final_answer": "', -0.1), TokenLogprobs("B", math.log(0.2), alternatives)]

    found = level_logprobs(tokens)

    assert found is not None
    assert shares(found.values) == pytest.approx(dict.fromkeys(LETTERS, 0.2), abs=1e-6)


@pytest.mark.parametrize(
    "tokens",
    [
        ('{"', "final", "_answer", '":"', "B", '"}'),
        ('{"final_answer"', ': "B', '"}'),
        ("```", "json", "\n", "{", '\n  "final_answer" :', ' "', "B", '. Good"', "}"),
        ('{"quality_reasoning": "not \\"final_answer\\": \\"A\\"", ', '"final_answer": "', "B", '"}'),
    ],
)
def test_the_letter_is_found_however_the_reply_is_cut_into_tokens(tokens: tuple[str, ...]) -> None:
    spelling = next(token for token in reversed(tokens) if "B" in token)
    reported = {spelling.replace("B", letter): math.log(0.2) for letter in LETTERS}

    found = level_logprobs(reply(*tokens, at_answer=reported))

    assert found is not None
    assert shares(found.values) == pytest.approx(dict.fromkeys(LETTERS, 0.2), abs=1e-6)


def test_a_token_that_holds_more_than_the_letter_gives_no_probabilities() -> None:
    token = '{"final_answer":"B"'

    assert level_logprobs([TokenLogprobs(token, -0.1), TokenLogprobs("}", -0.1)]) is None


@pytest.mark.parametrize(
    "text", ["", "B", '{"final_answer": "Unable to determine"}', '{"final_answer": "Average"}', '{"answer": "B"}']
)
def test_without_an_answers_letter_there_are_no_probabilities(text: str) -> None:
    assert level_logprobs([TokenLogprobs(text, -0.1, (("A", -0.5),))]) is None


def test_letters_that_are_all_impossible_give_no_probabilities() -> None:
    assert from_reported({"A": -math.inf, "B": -math.inf, "x": -0.1}) is None


def test_a_small_share_of_the_letters_is_noted() -> None:
    found = from_reported({"The": math.log(0.9), **{letter: math.log(0.02) for letter in LETTERS}})

    assert found is not None
    assert found.notes == ("the level letters hold only 0.100 of the probability at the answer",)


@given(st.dictionaries(st.sampled_from([*LETTERS, " A", '"B', "x"]), st.floats(-60, 0), min_size=1))
def test_whatever_is_reported_the_probabilities_sum_to_one(reported: dict[str, float]) -> None:
    found = from_reported(reported)

    assert found is not None or set(reported) <= {"x"}
    if found is not None:
        assert math.fsum(shares(found.values).values()) == pytest.approx(1.0, abs=1e-9)
