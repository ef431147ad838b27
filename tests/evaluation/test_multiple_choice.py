"""Accuracy of multiple-choice answers, worked out by hand on fixed answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agenticiqa.evaluation.multiple_choice import answer_all, ask_with, rotated, tally
from agenticiqa.evaluation.report.text_reports import choices_markdown
from agenticiqa.evaluation.samples import KnownQuestion, QuestionSet
from agenticiqa.evaluation.statistics import Resampling
from agenticiqa.state import UNABLE
from tests.support.agent import picture
from tests.support.results import scripted_assessor

QUICK = Resampling(200)


def question(number: int, answer: str = "A", **more: Any) -> KnownQuestion:
    choices = {"A": "Blur", "B": "Noise", "C": "Nothing"}
    return KnownQuestion(f"q{number}", Path(f"{number}.png"), "What is wrong?", choices, answer, **more)


def test_an_unanswered_question_counts_as_wrong_and_the_answered_share_is_told() -> None:
    given = {"q1": "A", "q2": "B", "q3": UNABLE, "q4": "A"}

    found = tally(answer_all([question(n) for n in range(1, 5)], lambda q, _: given[q.name]), QUICK)

    assert found.overall.accuracy.value == pytest.approx(2 / 4)
    assert found.overall.answered == pytest.approx(3 / 4)
    assert found.unable == pytest.approx(1 / 4)
    assert found.confusion == {("A", "A"): 2, ("A", "B"): 1, ("A", UNABLE): 1}
    assert found.overall.accuracy.low <= 0.5 <= found.overall.accuracy.high


def test_parts_are_tallied_by_task_kind_and_category() -> None:
    questions = [question(1, task="planner", kind="0"), question(2, task="planner", kind="1"), question(3, task="tool")]

    found = tally(answer_all(questions, lambda q, _: "B" if q.name == "q2" else "A"), QUICK)

    accuracies = {part.name: part.accuracy.value for part in found.parts["task"]}
    assert accuracies == {"planner": 0.5, "tool": 1.0}
    assert {part.name: part.questions for part in found.parts["question kind"]} == {"0": 1, "1": 1}
    assert "category" not in found.parts


def test_one_who_always_says_a_is_found_sensitive_to_the_order() -> None:
    found = tally(answer_all([question(1), question(2, "B")], lambda _, choices: "A", rotate=True), QUICK)

    assert found.sensitive == 1.0
    assert found.over_orders == pytest.approx(1 / 3)


def test_one_who_knows_the_answer_is_not_sensitive_to_the_order() -> None:
    def knows(_: KnownQuestion, choices: dict[str, str]) -> str:
        return next(letter for letter, text in choices.items() if text == "Noise")

    found = tally(answer_all([question(1, "B"), question(2, "A")], knows, rotate=True), QUICK)

    assert found.sensitive == 0.0
    assert found.over_orders == found.overall.accuracy.value == pytest.approx(0.5)


def test_rotating_moves_the_texts_under_the_letters() -> None:
    assert rotated({"A": "x", "B": "y", "C": "z"}, 1) == {"A": "y", "B": "z", "C": "x"}


def test_the_agent_is_asked_and_a_picture_that_cannot_be_read_is_no_answer(tmp_path: Path) -> None:
    said = {"final_answer": "B", "quality_reasoning": "Grain covers flat areas."}
    ask = ask_with(scripted_assessor(answer=said))
    there = KnownQuestion("q", Path(picture(tmp_path)), "What is wrong?", {"A": "Blur", "B": "Noise"}, "B")
    gone = KnownQuestion("q", tmp_path / "gone.png", "What is wrong?", {"A": "Blur", "B": "Noise"}, "B")

    assert (ask(there, there.choices), ask(gone, gone.choices)) == ("B", UNABLE)


def test_the_report_of_drawn_questions_says_of_how_many() -> None:
    drawn = QuestionSet("mine", tuple(question(n) for n in range(1, 6))).thinned(2, seed=7)

    written = choices_markdown(drawn, tally(answer_all(drawn.questions, lambda q, _: "A"), QUICK), {})

    assert "2 of 5 questions, drawn with seed 7" in written
