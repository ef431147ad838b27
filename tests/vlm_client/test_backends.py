"""From a backend's name to its client: aliases, keys, extras, offline mode, and what is loaded when."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from agenticiqa.config import ADDRESS_VARIABLES, Settings, load_settings
from agenticiqa.errors import (
    AuthenticationError,
    BadReplyError,
    MissingExtraError,
    OfflineError,
    SettingsError,
    UnknownBackendError,
)
from agenticiqa.vlm_client import ask_for, create_vlm_client
from agenticiqa.vlm_client.factory import create_role_clients
from agenticiqa.vlm_client.models import Family, family_of, official_name, table
from agenticiqa.vlm_client.providers.openai import OpenAIVLMClient
from agenticiqa.vlm_client.tasks import AnswerReply
from tests.wire import asking
from tests.wire.asking import BODIES, GOOD, MODELS, anthropic_body, openai_body, role
from tests.wire.serving import Answer, ScriptedServer

NETWORK = (*MODELS.values(), "compatible.llava")


class SDKLessClient(OpenAIVLMClient):
    """A client whose SDK is nowhere installed."""

    package = "an_sdk_nobody_has"


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer().running() as running:
        yield running


def keyless(**overrides: Any) -> Settings:
    return load_settings(environ={}, directory=Path("/nonexistent"), overrides=overrides)


@pytest.mark.parametrize(
    ("provider", "typed", "official"),
    [
        ("anthropic", "claude-3.5-sonnet", "claude-3-5-sonnet-20241022"),
        ("anthropic", "claude-opus-4.1", "claude-opus-4-1"),
        ("openai", "GPT4o", "gpt-4o"),
        ("openai", "ft:gpt-4o:mine", "ft:gpt-4o:mine"),
        ("google", "gemini-flash-2.5", "gemini-2.5-flash"),
    ],
)
def test_names_people_type_become_the_services_own(provider: str, typed: str, official: str) -> None:
    assert official_name(provider, typed) == official


def test_the_documents_fallback_backend_is_understood() -> None:
    client = create_vlm_client("anthropic.claude-3.5-sonnet", asking.settings())

    assert client.model == "anthropic.claude-3-5-sonnet-20241022"


# A real name that each rule of models.yaml is about, and one that it leaves alone.
FAMILIES = {
    ("openai", 0): (["o3", "o4-mini", "gpt-5", "gpt-5-mini", "gpt-5.5"], ["gpt-4o", "gpt-4.1", "gpt-5-chat-latest"]),
    ("openai", 1): (["gpt-4o-search-preview", "gpt-audio-mini"], ["gpt-4o", "gpt-4o-mini-2024-07-18"]),
    ("anthropic", 0): (
        ["claude-opus-4-6", "claude-sonnet-4-6", "claude-sonnet-5-5", "claude-haiku-5-5"],
        ["claude-3-5-sonnet-20241022", "claude-3-5-haiku-20241022", "claude-3-7-sonnet-20250219", "claude-opus-4-1",
         "claude-sonnet-4-5", "claude-haiku-4-5-20251001", "claude-opus-4-5"],
    ),
    ("google", 0): (
        ["gemini-2.5-flash", "gemini-2.5-pro", "gemini-3-pro-preview", "gemini-flash-latest",
         "gemini-flash-lite-latest"],
        ["gemini-2.0-flash", "gemini-1.5-pro", "gemini-2.0-flash-lite"],
    ),
}  # fmt: skip


def test_every_family_rule_has_real_names_on_each_side() -> None:
    rules = {(provider, at) for provider, listed in table()["families"].items() for at in range(len(listed))}

    assert rules == set(FAMILIES)


@pytest.mark.parametrize("rule", FAMILIES)
def test_a_family_rule_holds_for_its_own_models_and_for_no_others(rule: tuple[str, int]) -> None:
    provider, at = rule
    family = Family.model_validate(table()["families"][provider][at])
    inside, outside = FAMILIES[rule]

    assert [name for name in inside if family_of(provider, name) != family] == []
    assert [name for name in outside if family_of(provider, name) == family] == []


def test_an_older_claude_is_asked_with_its_temperature(server: ScriptedServer) -> None:
    server.script(Answer(anthropic_body(GOOD)))
    client = create_vlm_client("anthropic.claude-3.5-sonnet", asking.settings(), role("anthropic.x", server.url))

    with closing(client):
        client.ask(asking.answer_request())

    assert server.seen[0].body["temperature"] == 0


@pytest.mark.parametrize("provider", MODELS)
def test_an_address_in_the_environment_is_used_unless_the_role_has_its_own(
    provider: str, server: ScriptedServer
) -> None:
    variables = {**asking.KEYS, ADDRESS_VARIABLES[provider]: server.url}
    settings = load_settings(environ=variables, directory=Path("/nonexistent"))
    server.script(Answer(BODIES[provider](GOOD)))
    client = create_vlm_client(MODELS[provider], settings, role(MODELS[provider]))

    with closing(client):
        client.ask(asking.answer_request())
    other = create_vlm_client(MODELS[provider], settings, role(MODELS[provider], "http://127.0.0.1:9/v1"))

    assert len(server.seen) == 1
    assert "http://127.0.0.1:9/v1" in other.identity


def test_with_the_cache_off_every_request_is_made(server: ScriptedServer) -> None:
    server.script(Answer(openai_body(GOOD)))
    at = {"backend": "openai.gpt-4o", "base_url": server.url}
    clients = create_role_clients(asking.settings(planner=at, executor=at, summarizer=at))

    with closing(clients["summarizer"]) as client:
        for _ in range(2):
            ask_for(AnswerReply, client, asking.answer_request())

    assert len(server.seen) == 2


@pytest.mark.parametrize("backend", NETWORK)
def test_offline_a_network_backend_is_an_error_before_anything_is_sent(backend: str) -> None:
    settings = asking.settings(pipeline={"offline": True})

    with pytest.raises(OfflineError, match="offline mode is on"):
        create_vlm_client(backend, settings, role(backend, "http://127.0.0.1:9/v1"))


@pytest.mark.parametrize(
    ("backend", "variable"),
    [("openai.gpt-4o", "OPENAI_API_KEY"), ("anthropic.x", "ANTHROPIC_API_KEY"), ("google.x", "GOOGLE_API_KEY")],
)
def test_a_missing_key_names_the_variable_to_set(backend: str, variable: str) -> None:
    with pytest.raises(AuthenticationError, match=variable):
        create_vlm_client(backend, keyless())


def test_a_missing_extra_prints_the_pip_command() -> None:
    with pytest.raises(MissingExtraError, match=r"pip install 'agenticiqa\[openai\]'"):
        SDKLessClient.from_settings("gpt-4o", role("openai.gpt-4o"), asking.settings())


def test_an_unknown_provider_lists_the_known_ones() -> None:
    with pytest.raises(UnknownBackendError, match=r"anthropic, builtin, compatible, google, openai, qwen, scripted"):
        create_vlm_client("opnai.gpt-4o", keyless())


def test_a_provider_without_a_model_says_how_to_write_one() -> None:
    with pytest.raises(UnknownBackendError, match=r"write openai\.MODEL"):
        create_vlm_client("openai", asking.settings())


def test_a_compatible_server_needs_its_address_and_no_key() -> None:
    with pytest.raises(SettingsError, match="base_url"):
        create_vlm_client("compatible.llava", keyless())

    client = create_vlm_client("compatible.llava", keyless(), role("compatible.llava", "http://127.0.0.1:9/v1"))

    assert client.model == "compatible.llava"


def test_roles_on_one_backend_share_its_client_and_the_fallback_has_its_own_address() -> None:
    at = {"backend": "compatible.llava", "base_url": "http://127.0.0.1:9/v1"}
    settings = asking.settings(planner=at, executor=at, summarizer={**at, "fallback_backend": "openai.gpt-4o"})

    clients = create_role_clients(settings)

    inner = [client.chain()[0].client for client in clients.values()]  # type: ignore[attr-defined]
    second = clients["summarizer"].chain()[1]
    assert inner[0] is inner[1] is inner[2]
    assert second.model == "openai.gpt-4o"
    assert "https://api.openai.com/v1" in second.identity


def test_a_replayed_backend_needs_neither_key_nor_network(tmp_path: Path) -> None:
    recording = tmp_path / "calls.jsonl"
    recording.write_text("")
    backend = {"backend": "openai.gpt-4o"}
    settings = keyless(
        planner=backend,
        executor=backend,
        summarizer=backend,
        pipeline={"offline": True, "transport": {"replay": str(recording)}},
    )

    clients = create_role_clients(settings)

    with pytest.raises(BadReplyError, match="no reply of openai"):
        clients["planner"].ask(asking.answer_request())


@pytest.mark.parametrize(
    "statement",
    [
        "import agenticiqa.vlm_client",
        "from agenticiqa.vlm_client import create_vlm_client; from tests.wire import asking; "
        "[create_vlm_client(b, asking.settings(), asking.role(b, 'http://127.0.0.1:9')) "
        "for b in (*asking.MODELS.values(), 'compatible.m')]",
    ],
)
def test_no_sdk_is_loaded_before_the_first_request(statement: str) -> None:
    sdks = ("openai", "anthropic", "google.genai", "transformers", "torch", "httpx", "httpx2")
    check = f"{statement}; import sys; print([m for m in {sdks} if m in sys.modules])"

    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
