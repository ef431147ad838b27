"""Several images compared by a hosted model: it is asked, it sees them all, and what it says is the answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agenticiqa import Assessor
from agenticiqa.assessor.ranking import RANKING_PROMPT_TEMPLATE
from tests.chaos.fault_server import task_of
from tests.support import agent
from tests.support.photos import save
from tests.wire import asking
from tests.wire.asking import openai_body
from tests.wire.serving import Answer, ScriptedServer, Seen

QUERY = "Which is noisiest?"
SEEN = {
    "attribute": "noise",
    "first": "most",
    "images": [{"amount": 0.2, "evidence": "a little grain"}, {"amount": 0.9, "evidence": "coarse grain"}],
    "why_not": None,
}


class Comparer:
    """A model that answers every task of the agent, and the comparison as it is told."""

    def __init__(self, said: Any) -> None:
        self.said = said
        self.compared: list[Any] = []

    def __call__(self, seen: Seen) -> Answer:
        system = seen.body["messages"][0]["content"]
        if system.startswith(RANKING_PROMPT_TEMPLATE[:60]):
            self.compared.append(seen.body)
            return Answer(openai_body(json.dumps(self.said)))
        return Answer(openai_body(json.dumps(agent.script(select_tools={"selected_tools": {}})[task_of(seen.body)])))


@pytest.fixture
def assessor(server: ScriptedServer) -> Assessor:
    at = {"backend": "openai.gpt-4o", "base_url": server.url}
    return Assessor(asking.settings(planner=at, executor=at, summarizer=at))


def test_a_question_that_compares_is_put_to_the_configured_backend_with_every_image(
    server: ScriptedServer, assessor: Assessor, tmp_path: Path
) -> None:
    model = Comparer(SEEN)
    server.script_by(model)
    # The embedded eyes would name the first: it is noise, and the second one is even.
    images = [agent.picture(tmp_path, "noise.png"), str(tmp_path / "even.png")]
    save(Path(images[1]), np.full((32, 48, 3), 120, np.uint8))

    ranking = assessor.compare(images, QUERY)

    (body,) = model.compared
    content = body["messages"][-1]["content"]
    words = " ".join(part["text"] for part in content if part["type"] == "text")
    assert json.dumps(QUERY) in words
    assert "image 1" in words
    assert sum(part["type"] == "image_url" for part in content) == 2
    assert ranking.answer == images[1]
    assert [entry.evidence for entry in ranking.entries] == ["coarse grain", "a little grain"]
    assert ranking.ledger.total.calls == 1


def test_a_comparison_that_leaves_an_image_out_is_asked_for_again_and_then_no_answer(
    server: ScriptedServer, assessor: Assessor, tmp_path: Path
) -> None:
    model = Comparer({**SEEN, "images": SEEN["images"][:1]})  # type: ignore[index]
    server.script_by(model)
    images = [agent.picture(tmp_path, f"{seed}.png", seed=seed) for seed in range(2)]

    ranking = assessor.compare(images, QUERY)

    assert len(model.compared) == 3
    assert str(ranking.answer).startswith("Unable to determine: no valid reply to the task 'rank' after 3 tries")
    assert ranking.attribute == "overall"
