"""A question is understood once per run, whatever asks about it afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest

from agenticiqa.assessor import Assessor
from agenticiqa.config import load_settings
from agenticiqa.graph.checkpoints import state_serializer
from agenticiqa.graph.flow import run_pipeline
from agenticiqa.question.asked import Choose, Compare, Declined, Measure, Open, Where, YesNo
from agenticiqa.question.read import question_of, read_question
from scripts.one_question import Crossing
from tests.support.photos import photo


@pytest.mark.parametrize("query", ["Is the cat blurry?", "Is it sharp? A) yes B) no", "What is wrong with it?"])
def test_a_run_understands_its_question_once(query: str) -> None:
    assessor = Assessor(load_settings())

    with Crossing() as crossing:
        found = assessor.assess(photo("chelsea"), query)

    assert found.answered
    assert crossing.understood == 1


def test_the_state_holds_the_question(tmp_path: Path) -> None:
    from PIL import Image

    path = tmp_path / "cat.png"
    Image.fromarray(photo("chelsea")).save(path)

    state = run_pipeline("Is the cat blurry?", str(path))

    question = state["question"]
    assert isinstance(question, YesNo)
    assert (question.topic.flaw.category, question.topic.scope, question.polarity) == ("Blurs", ("cat",), "flaw")


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        ("Is it too dark?", YesNo),
        ("Which fits: A) sharp B) noisy?", Choose),
        ("Is the face sharper than the background?", Compare),
        ("Where is it blurred?", Where),
        ("What is the noise sigma?", Measure),
        ("Who is in the picture?", Declined),
        ("Are the lights blown out and is the skyline sharp?", Open),
    ],
)
def test_a_question_survives_being_kept(query: str, kind: type) -> None:
    question, keeper = read_question(query), state_serializer()

    kept = keeper.loads_typed(keeper.dumps_typed(question))

    assert isinstance(question, kind)
    assert question_of({"query": query, "image_path": "", "question": kept}) == question
