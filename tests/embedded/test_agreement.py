"""Whatever is asked and whatever was seen: answer, reasons, severity, score and map say the same.

Nothing here reads a sentence: what an answer and a reason are made of is compared. `--hypothesis-show-statistics`
shows how many questions were answered and with how much evidence, so that silence does not pass for agreement.
"""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import product
from typing import get_args

import numpy as np
from hypothesis import event, given, settings
from hypothesis import strategies as st

from agenticiqa.embedded.answers.amounts import amount_of
from agenticiqa.embedded.answers.answering import answer
from agenticiqa.embedded.answers.evidence import Evidence, gather
from agenticiqa.embedded.answers.reasons import explain
from agenticiqa.embedded.findings import Look
from agenticiqa.embedded.overlay import BAD, GOOD, colours_of
from agenticiqa.question.asked import (
    Advice,
    Allowed,
    Conditions,
    Degree,
    Flaw,
    Open,
    Question,
    Reply,
    Score,
    Topic,
    YesNo,
)
from agenticiqa.question.read import read_question
from agenticiqa.question.scales import Scale
from agenticiqa.state import DISTORTION_CATEGORIES, GLOBAL, SEVERITIES, DistortionCategory
from agenticiqa.tools.synthetic.kinds import KINDS
from agenticiqa.values import CATEGORY_OF, Answer, Distortion, Language, Reading, Reason
from agenticiqa.wording import phrase
from agenticiqa.wording.findings import absence
from tests.support.looks import judged

READINGS = {
    "Blurs": ("blur radius", 0.2, 6.0),
    "Noise": ("noise sigma", 0.3, 40.0),
    "Compression": ("banding", 0.0, 2.0),
    "Brightness change": ("mean brightness", 5.0, 250.0),
}
ASKED = (
    "Is it blurry?",
    "Is this sharp?",
    "Is there noise?",
    "Is it free of noise?",
    "Is it too dark?",
    "Is it overexposed?",
    "Are the colors fine?",
    "Is it out of focus?",
    "Is it camera shake?",
    "Is there banding?",
    "Is it severely blurred?",
    "Is the contrast acceptable?",
    "Is it a good photo?",
    "Is anything wrong?",
    "How noisy is it?",
    "How sharp is it?",
    "What is wrong with it?",
    "How can I fix it?",
    "Rate it from 0 to 10.",
    "Rate the sharpness from 1 to 5.",
    "Blurry or noisy?",
    "Which is it? A) sharp B) blurry C) noisy",
    "照片模糊吗？",
    "Ist das Bild scharf?",
)


def found(category: DistortionCategory, likely: float, strength: float, kind: str | None, value: float) -> Distortion:
    name, low, high = READINGS.get(category, ("contrast", 0.0, 90.0))
    return Distortion(category, likely, strength, kind, (Reading(name, low + value * (high - low), ""),))


def kinds_of(category: str) -> list[str | None]:
    return [None, *(name for name, kind in KINDS.items() if kind.category == category)]


@st.composite
def evidences(draw: st.DrawFn) -> Evidence:
    share, strength = st.floats(0, 1), st.floats(0, 4)
    findings = tuple(
        found(name, draw(share), draw(strength), draw(st.sampled_from(kinds_of(name))), draw(share))
        for name in DISTORTION_CATEGORIES
    )
    return gather({GLOBAL: Look(judged(draw(st.floats(1, 5))), findings)})


topics = st.builds(
    lambda attribute, kind: Topic(Flaw(attribute, kind if attribute != "overall" else None)),
    st.sampled_from([*CATEGORY_OF, "overall"]),
    st.sampled_from([None, None, "motion_blur", "defocus_blur", "jpeg", "banding", "white_noise", "contrast_down"]),
)
replies = st.builds(Reply, st.sampled_from(get_args(Language)))
polarities = st.sampled_from(["flaw", "fine"])
sure = st.sampled_from([None, 1.0, 0.9, 0.6, 0.5])
joined = st.builds(
    Conditions,
    st.sampled_from(["both", "either", "neither", "at_least_one", "except"]),
    st.lists(st.builds(Flaw, st.sampled_from([*CATEGORY_OF])), min_size=1, max_size=3, unique=True).map(tuple),
)
questions = st.one_of(
    st.sampled_from(ASKED).map(read_question),
    st.builds(YesNo, topics, replies, polarities, st.sampled_from(get_args(Allowed)), polarity_probability=sure),
    st.builds(YesNo, topics, replies, polarities, polarity_probability=sure, conditions=joined),
    st.builds(YesNo, topics, replies, st.none()),
    st.builds(Degree, topics, replies, polarities),
    st.builds(Score, topics, replies, polarities, st.sampled_from([None, Scale(0, 10), Scale(0, 100, "percent")])),
    st.builds(Open, topics, replies),
    st.builds(Advice, topics, replies),
)


@settings(deadline=None, max_examples=400)
@given(questions, evidences())
def test_answer_reasons_severity_and_score_agree(question: Question, evidence: Evidence) -> None:
    given_answer = answer(question, evidence)
    reasons = explain(question, evidence, given_answer)

    event(f"{type(question).__name__} answered: {given_answer.why_not is None}")
    event(f"reasons: {len(reasons)}")
    check(question, evidence, given_answer, reasons)


def check(question: Question, evidence: Evidence, told: Answer, reasons: list[Reason]) -> None:
    """The invariants, on values alone."""
    assert reasons
    for reason in reasons:
        if reason.distortion is not None:
            assert reason.distortion.is_present == (reason.distortion.severity != "none")
    if told.why_not is not None:
        assert told.value is None
        return
    if isinstance(question, YesNo):
        assert (told.value is None) == (question.sure_polarity is None)
        check_words(question, told)
    if isinstance(question, YesNo) and question.conditions:
        check_conditions(question, question.conditions, evidence, told)
    elif isinstance(question, YesNo) and told.value is not None:
        check_verdict(question, evidence, told, reasons)
    if isinstance(question, Degree) and question.topic.flaw.category and question.reply.language == "en":
        amount = amount_of(question.topic.flaw, evidence)
        assert amount is not None
        assert (told.value in (SEVERITIES[0],)) <= (amount.severity == 0)
    if isinstance(question, Score) and question.topic.flaw.category is None:
        # The number that is answered is the score that is told in the reasons, on the scale that was asked for.
        assert evidence.judgement is not None
        scale, share = question.scale or Scale(1.0, 5.0), (evidence.judgement.score - 1) / 4
        assert told.value == scale.at(share if question.polarity != "flaw" else 1 - share)
    if isinstance(question, Open | Advice):
        assert all(each.is_present for each in told.rests_on)
        assert bool(told.rests_on) == any(
            amount_or_present(item, question, evidence) for item in evidence.findings
        )  # something to tell is told, and nothing is told of nothing


def amount_or_present(item: Distortion, question: Question, evidence: Evidence) -> bool:
    flaw = question.topic.flaw
    if flaw.category is None:
        return item.is_present
    amount = amount_of(Flaw(flaw.attribute), evidence)
    return amount is not None and amount.is_present


def check_words(question: YesNo, told: Answer) -> None:
    """No yes stands beside "no visible …", nor a no that denies a flaw beside one that is simply there."""
    flaw, language = question.topic.flaw, question.reply.language
    lead = tuple(phrase("words", word, language) for word in ("yes", "no"))
    if told.value is None:
        assert not told.text.startswith(tuple(f"{word} (" for word in lead))
        return
    assert told.text.startswith(lead[0] if told.value else lead[1])
    says_flaw = told.value == (question.polarity == "flaw")
    if question.conditions is None and says_flaw:
        assert absence(flaw.attribute, language) not in told.text


def check_conditions(question: YesNo, several: Conditions, evidence: Evidence, told: Answer) -> None:
    """The answer follows from those that each condition gets alone."""
    if told.value is None or several.combined == "except":
        return
    alone = [replace(question, topic=Topic(flaw), conditions=None) for flaw in several.flaws]
    each = [answer(one, evidence).value for one in alone]
    assert told.value == (any if several.combined in ("either", "at_least_one") else all)(each)


def check_verdict(question: YesNo, evidence: Evidence, told: Answer, reasons: list[Reason]) -> None:
    assert isinstance(told.value, bool)
    says_flaw = told.value == (question.polarity == "flaw")
    category = question.topic.flaw.category
    if category is None or not told.rests_on:
        if category is None and evidence.judgement and not says_flaw:
            assert evidence.judgement.letter not in ("D", "E") or question.allowed in ("severe", "any")
        return
    (item,) = told.rests_on
    assert item.category == category
    # A flaw that is told is there; one that is denied is absent, of another kind, or less than was asked for.
    assert item.is_present or not says_flaw
    amount = amount_of(question.topic.flaw, evidence)
    assert amount is not None
    untold_kind = question.topic.flaw.kind is not None and item.kind is None
    within = amount.is_present and question.allowed in ("acceptable", "severe") and amount.strength < 2.5
    assert says_flaw or not amount.is_present or within or untold_kind
    # No reason denies what the answer says, and none shows what the answer denies.
    about = [each.distortion for each in reasons if each.distortion and each.distortion.category == category]
    assert not says_flaw or all(each.is_present for each in about)
    assert says_flaw or amount.is_present or item.is_present or not any(each.is_present for each in about)


def test_most_questions_are_answered_and_with_evidence(record_property: object) -> None:
    draw = random.Random(0)
    answered, shown, asked = 0, 0, 0
    for query, number in product(ASKED, range(12)):
        findings = tuple(
            found(name, draw.random(), 4 * draw.random(), draw.choice(kinds_of(name)), draw.random())
            for name in DISTORTION_CATEGORIES
        )
        evidence = gather({GLOBAL: Look(judged(1 + 4 * draw.random()), findings)})
        question = read_question(query)
        given_answer = answer(question, evidence)
        reasons = explain(question, evidence, given_answer)
        check(question, evidence, given_answer, reasons)
        asked, answered = asked + 1, answered + (given_answer.why_not is None)
        shown += len(reasons)
        assert number < 12

    assert answered / asked >= 0.95, f"{answered} of {asked} answered"
    assert shown / asked >= 1.5, f"{shown} reasons for {asked} questions"


@settings(deadline=None)
@given(st.floats(1, 5), st.floats(0, 0.5))
def test_the_map_is_red_only_where_the_quality_is_low(level: float, spread: float) -> None:
    grid = np.clip(np.linspace(level - spread, level + spread, 12, dtype=np.float32).reshape(3, 4), 1, 5)

    painted = colours_of(grid)

    reddish = painted[..., 0] - painted[..., 2]
    assert np.all(reddish[grid > 3.1] < 0)
    assert np.all(reddish[grid < 2.9] > 0)
    assert (BAD[0] > BAD[2], GOOD[0] < GOOD[2]) == (True, True)
