"""Fast mode over HTTP: three requests, and all begin alike up to the images."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agenticiqa.graph import run_pipeline
from agenticiqa.state import AgenticIQAState
from agenticiqa.vlm_client import VLMClient
from agenticiqa.vlm_client.factory import create_role_clients
from tests.nodes.test_fast_mode import SEEN
from tests.support import agent
from tests.wire import asking
from tests.wire.asking import BODIES, MODELS
from tests.wire.serving import Answer, ScriptedServer

PROVIDERS = (*MODELS, "compatible")
REPLIES = [json.dumps(reply) for reply in (agent.plan_reply(), SEEN, agent.FAIR)]


def run_fast(provider: str, server: ScriptedServer, folder: Path) -> AgenticIQAState:
    body = BODIES.get(provider, asking.openai_body)
    server.script(*(Answer(body(reply)) for reply in REPLIES))
    at = {"backend": MODELS.get(provider, "compatible.tiny"), "base_url": server.url}
    settings = asking.settings(planner=at, executor=at, summarizer=at, pipeline={"mode": "fast"})
    clients: dict[str, VLMClient] = create_role_clients(settings)
    config = agent.config(tools=[agent.FixedTool("GAUGE", 2.6)], vlm_clients=clients, settings=settings)
    try:
        return run_pipeline(agent.QUERY, agent.picture(folder), None, 0, config=config)
    finally:
        for client in clients.values():
            client.close()


def beginning(body: dict[str, Any]) -> list[Any]:
    """What a request says up to and with its last image."""
    if "contents" in body:
        return [body["systemInstruction"], *body["contents"][0]["parts"][:-1]]
    messages = body["messages"]
    return [body.get("system"), *messages[:-1], *messages[-1]["content"][:-1]]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_three_requests_give_a_whole_answer(provider: str, server: ScriptedServer, tmp_path: Path) -> None:
    final = run_fast(provider, server, tmp_path)

    assert final["error"] is None
    assert final["summarizer_result"].final_answer == "C"
    assert len(server.seen) == final["ledger"].total.calls == 3
    # The scripted bodies report 1,000 tokens read from the service's memory each.
    assert final["ledger"].total.cached_tokens == 3000


@pytest.mark.parametrize("provider", PROVIDERS)
def test_all_requests_begin_alike_up_to_the_last_image(provider: str, server: ScriptedServer, tmp_path: Path) -> None:
    run_fast(provider, server, tmp_path)

    first, *others = [beginning(seen.body) for seen in server.seen]
    assert len(json.dumps(first)) > 1000
    assert all(other == first for other in others)


def test_anthropic_is_told_to_remember_the_images(server: ScriptedServer, tmp_path: Path) -> None:
    run_fast("anthropic", server, tmp_path)

    marked = [part.get("cache_control") for part in server.seen[0].body["messages"][0]["content"]]
    assert marked == [None, {"type": "ephemeral"}, None]


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_a_schema_that_would_change_the_beginning_is_said_in_words(
    provider: str, server: ScriptedServer, tmp_path: Path
) -> None:
    run_fast(provider, server, tmp_path)

    for seen in server.seen:
        assert not {"response_format", "output_config"} & set(seen.body)
        assert "JSON schema" in seen.body["messages"][-1]["content"][-1]["text"]


def test_a_local_server_still_enforces_the_schema(server: ScriptedServer, tmp_path: Path) -> None:
    run_fast("compatible", server, tmp_path)

    findings = server.seen[1].body["response_format"]["json_schema"]["schema"]["properties"]["findings"]
    assert set(findings["properties"]["Global"]["items"]["required"]) == {"type", "severity", "explanation", "tool"}
