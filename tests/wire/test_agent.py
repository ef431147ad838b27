"""The whole agent on a real, very small model behind a real server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agenticiqa.config import Settings
from agenticiqa.graph import run_pipeline
from agenticiqa.nodes.executor import executor_node
from agenticiqa.state import CallCount, ExecutorOutput, PlannerOutput, SummarizerOutput
from agenticiqa.vlm_client import VLMClient
from agenticiqa.vlm_client.factory import create_role_clients
from tests.support import agent
from tests.support.agent import FixedTool
from tests.wire import asking
from tests.wire.smollm import ModelServer

pytestmark = pytest.mark.slow
QUERY = "Rate the perceptual quality of this image."


def settings_for(server: ModelServer) -> Settings:
    at = {"backend": "compatible.smollm2", "base_url": f"{server.url}/v1", "timeout": 300.0, "max_tokens": 400}
    return asking.settings(planner=at, executor=at, summarizer=at)


@pytest.fixture
def clients(smollm: ModelServer) -> Iterator[dict[str, VLMClient]]:
    made = create_role_clients(settings_for(smollm))
    yield made
    for client in made.values():
        client.close()


def configured(server: ModelServer, clients: dict[str, VLMClient]) -> Any:
    tools = (FixedTool("GAUGE", 2.6), FixedTool("METER", 3.1))
    return agent.config(tools=tools, vlm_clients=clients, settings=settings_for(server))


def expect_equal(booked: CallCount, counted: dict[str, int]) -> None:
    assert booked.calls == booked.attempts == counted["calls"]
    assert booked.output_tokens == counted["written"]
    assert booked.cached_tokens == counted["cached"]
    assert booked.input_tokens - booked.cached_tokens == counted["read"]
    assert booked.cost_usd is None or not booked.calls


def test_the_agent_runs_end_to_end_and_its_ledger_equals_the_servers_count(
    smollm: ModelServer, clients: dict[str, VLMClient], tmp_path: Path
) -> None:
    before = smollm.counts()

    final = run_pipeline(QUERY, agent.picture(tmp_path), None, 0, config=configured(smollm, clients))

    assert final["error"] is None
    for key, model in (("plan", PlannerOutput), ("executor_evidence", ExecutorOutput)):
        record: Any = final[key]  # type: ignore[literal-required]
        assert model.model_validate_json(record.model_dump_json()) == record
    answer = final["summarizer_result"]
    assert SummarizerOutput.model_validate_json(answer.model_dump_json()) == answer
    assert answer.used_evidence is not None
    assert answer.used_evidence["error"] is None
    assert all(final["ledger"].nodes[node].calls for node in ("planner", "summarizer"))
    expect_equal(final["ledger"].total, smollm.since(before))


def test_the_executor_gathers_evidence_with_every_subtask_asked_of_the_model(
    smollm: ModelServer, clients: dict[str, VLMClient], tmp_path: Path
) -> None:
    before = smollm.counts()
    state = agent.state(tmp_path, QUERY, plan=agent.plan())

    found = executor_node(state, configured(smollm, clients))

    evidence: ExecutorOutput = found["executor_evidence"]
    assert evidence.errors == {}
    assert evidence.distortion_set is not None
    assert evidence.quality_scores is not None
    assert {log.tool_name for log in evidence.tool_logs} <= {"GAUGE", "METER"}
    expect_equal(found["ledger"].total, smollm.since(before))
    assert found["ledger"].total.calls >= 2
