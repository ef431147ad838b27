"""Servers for the wire tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from agenticiqa.config import Settings
from agenticiqa.vlm_client.factory import create_vlm_client
from agenticiqa.vlm_client.providers.network import NetworkVLMClient
from tests.wire import asking
from tests.wire.serving import ScriptedServer
from tests.wire.smollm import ModelServer, serving

Connect = Callable[..., NetworkVLMClient]


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    """A server that answers as the test scripts it."""
    with ScriptedServer().running() as running:
        yield running


@pytest.fixture
def connect() -> Iterator[Connect]:
    """Makes a provider's bare client for a server's address; closed after the test."""
    opened: list[NetworkVLMClient] = []

    def make(backend: str, url: str, settings: Settings | None = None, **role: Any) -> NetworkVLMClient:
        client = create_vlm_client(backend, settings or asking.settings(), asking.role(backend, url, **role))
        assert isinstance(client, NetworkVLMClient)
        opened.append(client)
        return client

    yield make
    for client in opened:
        client.close()


@pytest.fixture(scope="session")
def smollm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModelServer]:
    """A real model's server, one for the whole session."""
    with serving(tmp_path_factory.mktemp("smollm")) as server:
        yield server
