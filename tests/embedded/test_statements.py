"""An answer is a statement: yes or no stands before it only where it is sure what a yes would say."""

from __future__ import annotations

import pytest

from agenticiqa.embedded.answers.answering import answer
from agenticiqa.embedded.answers.evidence import gather
from agenticiqa.embedded.answers.reasons import explain
from agenticiqa.embedded.findings import Look
from agenticiqa.question.asked import Choose, Compare, Conditions, Declined, Flaw, OptionMeaning, Reply, Topic, YesNo
from agenticiqa.state import GLOBAL, UNABLE
from agenticiqa.values import Answer, Polarity
from tests.support.looks import BLURRED, CLEAN, NOISY, judged, seen

BLUR, NOISE = Flaw("blur"), Flaw("noise")
BLURRED_AND_NOISY = seen(1.9, Blurs=(0.9, "severe", None), Noise=(0.8, "moderate", None))


def asked(look: Look, *flaws: Flaw, polarity: Polarity | None = "flaw", sure: float = 1.0, how: str = "") -> Answer:
    """The answer to a question about one flaw, or about several that are joined so."""
    conditions = Conditions(how, flaws) if how else None  # type: ignore[arg-type]
    question = YesNo(Topic(flaws[0]), Reply(), polarity, polarity_probability=sure, conditions=conditions)
    return answer(question, gather({GLOBAL: look}))


@pytest.mark.parametrize(
    ("look", "statement"), [(BLURRED, "Severe blur"), (CLEAN, "No visible blur"), (NOISY, "No visible blur")]
)
@pytest.mark.parametrize(("polarity", "sure"), [(None, 1.0), ("flaw", 0.6), ("fine", 0.6)])
def test_without_a_sure_polarity_the_statement_stands_alone(
    look: Look, statement: str, polarity: Polarity | None, sure: float
) -> None:
    told = asked(look, BLUR, polarity=polarity, sure=sure)

    assert (told.text, told.value, told.why_not) == (statement, None, None)


def test_with_a_sure_polarity_the_same_statement_follows_the_yes_or_no() -> None:
    assert asked(BLURRED, BLUR, sure=0.95).text == "Yes (severe blur)"
    assert asked(BLURRED, BLUR, sure=0.95, polarity="fine").text == "No (severe blur)"


@pytest.mark.parametrize(
    ("how", "polarity", "by_look"),
    [
        # What a yes says of a picture that is blurred, noisy, both or neither.
        ("both", "flaw", (False, False, True, False)),
        ("neither", "flaw", (False, False, True, False)),
        ("either", "flaw", (True, True, True, False)),
        ("at_least_one", "flaw", (True, True, True, False)),
        ("both", "fine", (False, False, False, True)),
        ("neither", "fine", (False, False, False, True)),
        ("either", "fine", (True, True, False, True)),
    ],
)
def test_several_conditions_are_joined_as_the_question_joins_them(
    how: str, polarity: Polarity, by_look: tuple[bool, ...]
) -> None:
    looks = (BLURRED, NOISY, BLURRED_AND_NOISY, CLEAN)

    assert tuple(asked(look, BLUR, NOISE, polarity=polarity, how=how).value for look in looks) == by_look


def test_each_condition_has_its_own_statement() -> None:
    assert asked(BLURRED, BLUR, NOISE, how="both").text == "No (severe blur; no visible noise)"


def test_everything_but_what_is_excepted_is_asked_about() -> None:
    assert asked(BLURRED, BLUR, how="except").value is False
    assert asked(NOISY, BLUR, how="except").text == "Yes (moderate white noise)"


def test_declining_tells_the_main_finding_and_the_score_all_the_same() -> None:
    question, evidence = Declined(Topic(), Reply(), "content"), gather({GLOBAL: BLURRED})

    given = answer(question, evidence)
    reasons = explain(question, evidence, given)

    assert (given.text, given.value) == (UNABLE, None)
    assert [each.kind for each in reasons] == ["question", "finding", "judgement"]


def test_declining_says_what_was_understood() -> None:
    for topic, told in ((Topic(BLUR), "I read a question about blur"), (Topic(), "I did not understand this")):
        question, evidence = Declined(topic, Reply(), "unclear"), gather({GLOBAL: BLURRED})

        assert explain(question, evidence, answer(question, evidence))[0].text.startswith(told)


def test_a_comparison_that_may_be_asked_either_way_is_told_without_a_yes_or_a_no() -> None:
    worse = Look(judged(2.0), BLURRED.findings)
    question = Compare(Topic(BLUR), Reply(form="yesno"), None)

    told = answer(question, gather({GLOBAL: worse}, has_reference=True))

    assert (told.text, told.value) == ("Worse than the reference", None)


def test_of_yes_and_no_as_options_none_is_chosen_without_a_sure_polarity() -> None:
    options = {"A": OptionMeaning(truth=True), "B": OptionMeaning(truth=False)}
    question, evidence = Choose(Topic(BLUR), Reply(), None, options), gather({GLOBAL: BLURRED})

    told = answer(question, evidence)

    assert (told.value, told.why_not) == (None, "unclear_polarity")
    assert explain(question, evidence, told)[0].text.startswith("I read a question about blur")
