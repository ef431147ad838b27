"""From a backend's name to its client: aliases, keys, extras, offline mode, and what is loaded when."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agenticiqa.config import Settings, load_settings
from agenticiqa.errors import (
    AuthenticationError,
    BadReplyError,
    MissingExtraError,
    OfflineError,
    SettingsError,
    UnknownBackendError,
)
from agenticiqa.vlm_client import create_vlm_client
from agenticiqa.vlm_client.factory import create_role_clients
from agenticiqa.vlm_client.models import official_name
from agenticiqa.vlm_client.providers.openai import OpenAIVLMClient
from tests.wire import asking
from tests.wire.asking import MODELS, role

NETWORK = (*MODELS.values(), "compatible.llava")


class SDKLessClient(OpenAIVLMClient):
    """A client whose SDK is nowhere installed."""

    package = "an_sdk_nobody_has"


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
