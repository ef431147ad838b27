"""From a backend's name to its client.

A backend is named `provider.model` (`openai.gpt-4o`, `builtin.perception`, `scripted`). `PROVIDERS` is the one table
from provider to class, written as "module:Class" and imported on first use, so that no SDK is loaded before it is
needed; third parties add theirs as entry points of the group `agenticiqa.backends`, named after the provider.

Such a class is a `VLMClient` with this constructor, which raises UsageError, AuthenticationError, MissingExtraError
or OfflineError when the backend cannot be used as set:

    @classmethod
    def from_settings(cls, model: str, role: RoleSettings, settings: Settings) -> VLMClient

`model` is what follows the first dot ("" if nothing does). `role` holds base_url, timeout and sampling defaults;
sampling itself arrives with every request. Keys come from `settings.api_key(provider)`.
"""

from __future__ import annotations

import importlib
from importlib.metadata import entry_points
from typing import Protocol, cast

from agenticiqa.config import ROLES, RoleSettings, Settings, load_settings
from agenticiqa.errors import UnknownBackendError
from agenticiqa.vlm_client.client import VLMClient
from agenticiqa.vlm_client.middleware.assembly import Assembly

ENTRY_POINTS = "agenticiqa.backends"
PROVIDERS: dict[str, str] = {
    "builtin": "agenticiqa.embedded.client:PerceptionClient",
    "openai": "agenticiqa.vlm_client.providers.openai:OpenAIVLMClient",
    "anthropic": "agenticiqa.vlm_client.providers.anthropic:AnthropicVLMClient",
    "google": "agenticiqa.vlm_client.providers.google:GoogleVLMClient",
    "qwen": "agenticiqa.vlm_client.providers.qwen:QwenVLMClient",
    "compatible": "agenticiqa.vlm_client.providers.openai:CompatibleVLMClient",
    "scripted": "agenticiqa.vlm_client.providers.scripted:ScriptedVLMClient",
}


class Backend(Protocol):
    """A class that makes a client from settings."""

    def from_settings(self, model: str, role: RoleSettings, settings: Settings) -> VLMClient:
        """The client for this model."""


def create_vlm_client(backend: str, settings: Settings | None = None, role: RoleSettings | None = None) -> VLMClient:
    """The client for a backend's name; UnknownBackendError lists the providers there are."""
    provider, _, model = backend.partition(".")
    found = _find(provider)
    return found.from_settings(model, role or RoleSettings(backend=backend), settings or load_settings())


def create_role_clients(settings: Settings) -> dict[str, VLMClient]:
    """The client of each role; roles on the same backend share its connections, limits and breaker."""
    assembly = Assembly(settings, create_vlm_client)
    return {name: assembly.role_client(settings.role(name)) for name in ROLES}


def provider_names() -> list[str]:
    """The names of all providers, ours and third parties'."""
    return sorted({*PROVIDERS, *(point.name for point in entry_points(group=ENTRY_POINTS))})


def _find(provider: str) -> Backend:
    if provider in PROVIDERS:
        module, _, name = PROVIDERS[provider].partition(":")
        return cast(Backend, getattr(importlib.import_module(module), name))
    point = next((p for p in entry_points(group=ENTRY_POINTS) if p.name == provider), None)
    if point is None:
        raise UnknownBackendError(
            f"no model backend named {provider!r}; write PROVIDER.MODEL with one of: {', '.join(provider_names())}"
        )
    return cast(Backend, point.load())
