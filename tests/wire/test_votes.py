"""A hosted model with the product's own tools: the best tool is offered first, chosen and votes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from agenticiqa import Assessor
from agenticiqa.tools.synthetic.kinds import distort
from tests.chaos.fault_server import task_of
from tests.support import agent
from tests.support.photos import photo, save
from tests.wire import asking
from tests.wire.asking import openai_body
from tests.wire.serving import Answer, ScriptedServer, Seen


class Chooser:
    """A model that takes the first tool it is offered, and keeps what it was offered."""

    def __init__(self) -> None:
        self.offered: list[str] = []
        self.told: list[str] = []

    def __call__(self, seen: Seen) -> Answer:
        task, words = task_of(seen.body), seen.body["messages"][-1]["content"][-1]["text"]
        if task == "plan":
            self.told = json.loads(_section(words, "Tools"))
        if task == "select_tools":
            self.offered = [tool["name"] for tool in json.loads(_section(words, "Tools"))]
            return Answer(openai_body(json.dumps({"selected_tools": {"Global": {"Blurs": self.offered[0]}}})))
        return Answer(openai_body(json.dumps(agent.script()[task])))


def _section(words: str, heading: str) -> str:
    found = re.search(rf"^{heading}:\n(.*?)(?:\n\n|\Z)", words, re.DOTALL | re.MULTILINE)
    assert found is not None
    return found.group(1)


@pytest.mark.parametrize(("with_reference", "best"), [(False, "AIQA_NR"), (True, "AIQA_FR")])
def test_the_best_tool_is_offered_first_chosen_and_votes(
    with_reference: bool, best: str, server: ScriptedServer, tmp_path: Path
) -> None:
    model, at = Chooser(), {"backend": "openai.gpt-4o", "base_url": server.url}
    server.script_by(model)
    pipeline: dict[str, Any] = {"tools_overlay": str(tmp_path / "tools.yaml")}
    settings = asking.settings(planner=at, executor=at, summarizer=at, pipeline=pipeline)
    original = photo("coffee")[:240, :320]
    image = save(tmp_path / "image.png", distort(original, "gaussian_blur", 3))
    reference = save(tmp_path / "reference.png", original) if with_reference else None

    found = Assessor(settings).assess(image, reference=reference)

    assert model.offered[0] == best
    assert best in model.told
    assert "TOPIQ_FR" not in model.told
    (reading,) = [reading for reading in found.tools if reading.tool == best]
    assert reading.voted
    assert found.tool_score == pytest.approx(reading.calibrated)
    assert found.provenance.fusion.eta > 1.0


def test_a_hosted_run_without_a_reference_reads_no_full_reference_weights(
    server: ScriptedServer, tmp_path: Path
) -> None:
    at = {"backend": "openai.gpt-4o", "base_url": server.url}
    settings = asking.settings(planner=at, executor=at, summarizer=at)

    before = set(opened_weights())
    Assessor(settings)

    assert set(opened_weights()) == before


def opened_weights() -> list[str]:
    """Names of the weight files this process has loaded models from."""
    from agenticiqa.embedded.full_reference.pair_model import load_model
    from agenticiqa.embedded.quality.quality_model import load_quality_model

    return [f"{load.__name__} {load.cache_info().currsize}" for load in (load_model, load_quality_model)]
