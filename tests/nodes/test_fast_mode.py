"""`mode: fast`: one question instead of three, the same evidence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from PIL import Image

from agenticiqa import Assessor
from agenticiqa.nodes.executor import executor_node
from agenticiqa.state import ExecutorOutput, Ledger
from agenticiqa.tools.synthetic.kinds import distort
from agenticiqa.tools.synthetic.ladder import photographs
from agenticiqa.vlm_client import ScriptedVLMClient
from tests.support import agent
from tests.support.agent import FixedTool

FAST = agent.settings(pipeline={"mode": "fast"})
SEEN = {
    "findings": {
        "Global": [
            {"type": "blur", "severity": "moderate", "explanation": "Edges are soft.", "tool": "GAUGE"},
            {"type": "Noise", "severity": "slight", "explanation": "Grain in the sky.", "tool": "NO_SUCH_TOOL"},
        ]
    },
    "overall_tools": {"Global": "METER"},
    "uncertainties": ["the lower edge"],
}
CLEAN = {"findings": {"Global": []}, "overall_tools": {"Global": "METER"}}


def gathered(folder: Path, client: ScriptedVLMClient, **plan: Any) -> tuple[ExecutorOutput, Ledger]:
    tools = (FixedTool("GAUGE", 2.6), FixedTool("METER", 3.1))
    config: RunnableConfig = agent.config(client, tools, settings=FAST)
    update = executor_node(agent.state(folder, plan=agent.plan(**plan)), config)
    return update["executor_evidence"], update["ledger"]


def asked(client: ScriptedVLMClient) -> list[str]:
    return [request.task for request in client.requests]


def test_detection_analysis_and_selection_come_from_one_reply(tmp_path: Path) -> None:
    client = agent.scripted(inspect=SEEN)

    evidence, ledger = gathered(tmp_path, client)

    assert asked(client) == ["inspect"]
    assert ledger.total.calls == 1
    assert evidence.distortion_set == {"Global": ["Blurs", "Noise"]}
    assert evidence.distortion_analysis is not None
    assert [entry.severity for entry in evidence.distortion_analysis["Global"]] == ["moderate", "slight"]
    assert evidence.uncertainties == ["the lower edge"]


def test_a_tool_that_does_not_exist_is_replaced_as_in_the_full_mode(tmp_path: Path) -> None:
    evidence, _ = gathered(tmp_path, agent.scripted(inspect=SEEN))

    logs = {log.distortion: log for log in evidence.tool_logs}
    assert (logs["Blurs"].tool_name, logs["Blurs"].fallback) == ("GAUGE", False)
    assert logs["Noise"].fallback


def test_a_clean_picture_is_measured_with_the_tool_for_the_whole(tmp_path: Path) -> None:
    evidence, _ = gathered(tmp_path, agent.scripted(inspect=CLEAN))

    assert evidence.distortion_set == {"Global": []}
    assert evidence.selected_tools == {"Global": {"Overall": "METER"}}


def test_given_distortions_are_judged_and_no_others(tmp_path: Path) -> None:
    client = agent.scripted(inspect=SEEN)
    explicit = {
        "distortion_source": "Explicit",
        "distortions": {"Global": ["Noise"]},
        "flags": {"distortion_detection": False},
    }

    evidence, _ = gathered(tmp_path, client, **explicit)

    assert asked(client) == ["inspect"]
    assert evidence.distortion_set is None
    assert evidence.distortion_analysis is not None
    assert [entry.type for entry in evidence.distortion_analysis["Global"]] == ["Noise"]


def test_one_lone_question_is_asked_as_it_is(tmp_path: Path) -> None:
    client = agent.scripted()

    gathered(tmp_path, client, flags={"distortion_analysis": False, "tool_selection": False, "tool_execution": False})

    assert asked(client) == ["detect"]


def test_an_invalid_reply_is_asked_for_again(tmp_path: Path) -> None:
    client = agent.scripted(inspect=["no JSON at all", {"wrong": 1}, SEEN])

    evidence, ledger = gathered(tmp_path, client)

    assert ledger.total.calls == 3
    assert evidence.errors == {}


def test_without_a_valid_reply_each_step_is_in_the_errors_and_the_tools_still_run(tmp_path: Path) -> None:
    evidence, _ = gathered(tmp_path, agent.scripted(inspect="no JSON at all"))

    assert set(evidence.errors) == {"distortion_detection", "distortion_analysis", "tool_selection"}
    assert evidence.distortion_set is None
    assert evidence.quality_scores


@pytest.mark.parametrize(
    ("query", "with_reference"),
    [(agent.QUERY, False), (agent.QUERY, True), ("Is the noise or the blur worse? A. Noise B. Blur", False)],
)
def test_the_embedded_backend_finds_the_same_evidence_and_answer(
    tmp_path: Path, query: str, with_reference: bool
) -> None:
    clean = photographs()["chelsea"].pixels
    path = tmp_path / "noisy.png"
    Image.fromarray(distort(clean, "white_noise", 4)).save(path)
    reference = clean if with_reference else None

    full = Assessor(agent.settings()).assess(path, query, reference=reference)
    fast = Assessor(FAST).assess(path, query, reference=reference)

    assert (fast.answer, fast.score, fast.level, fast.interval) == (full.answer, full.score, full.level, full.interval)
    assert (fast.distortions, fast.reasoning) == (full.distortions, full.reasoning)
    assert fast.ledger.total.calls < full.ledger.total.calls
