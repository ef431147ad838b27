"""From a backend's name to its client, wrapped as a role uses it.

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

import difflib
import importlib
from functools import cached_property
from importlib.metadata import entry_points
from pathlib import Path
from typing import Protocol, cast

from agenticiqa.cache import Cache
from agenticiqa.config import ROLES, RoleSettings, Settings, load_settings
from agenticiqa.errors import UnknownBackendError, plugin_failure
from agenticiqa.vlm_client.client import VLMClient
from agenticiqa.vlm_client.middleware.caching import CachingVLMClient
from agenticiqa.vlm_client.middleware.recording import RecordingVLMClient, ReplayingVLMClient
from agenticiqa.vlm_client.middleware.retrying import (
    BreakerVLMClient,
    FallbackVLMClient,
    LimitedVLMClient,
    RetryingVLMClient,
    RetryPolicy,
)
from agenticiqa.vlm_client.middleware.sampling import SamplingVLMClient
from agenticiqa.vlm_client.models import Prices, PricingVLMClient, load_prices

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
    assembly = Assembly(settings)
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
        close = difflib.get_close_matches(provider, provider_names(), 1)
        hint = f"did you mean {close[0]}? " if close else ""
        raise UnknownBackendError(
            f"no model backend named {provider!r}; {hint}write PROVIDER.MODEL with one of: "
            f"{', '.join(provider_names())}"
        )
    try:
        return cast(Backend, point.load())
    except Exception as error:  # other people's modules may raise anything when they are imported
        raise UnknownBackendError(plugin_failure(point, error)) from error


class Assembly:
    """Makes the clients of all roles, so that what belongs to one backend is shared between them.

    From the outside in: cache, recording, repeated sampling, price, breaker, retries, limits, the provider's client.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._transport = settings.pipeline.transport
        self._reached: dict[tuple[str, str | None, float], VLMClient] = {}

    def role_client(self, role: RoleSettings) -> VLMClient:
        """The client of a role, with its fallback behind it."""
        client = self._backend_client(role)
        if role.fallback_backend is None:
            return client
        # The address belongs to the first backend; the fallback has its own.
        second = role.model_copy(
            update={"backend": role.fallback_backend, "base_url": role.fallback_base_url, "fallback_backend": None}
        )
        return FallbackVLMClient(client, self._backend_client(second))

    def _backend_client(self, role: RoleSettings) -> VLMClient:
        client = self.reach(role)
        if role.samples:
            client = SamplingVLMClient(client, role.samples)
        if self._transport.record and client.remote:
            client = RecordingVLMClient(client, Path(self._transport.record), self._settings.secrets())
        kept = self._settings.pipeline.cache
        if not kept.enabled:
            return client
        return CachingVLMClient(client, self._disk if client.identity else None, sampled=kept.sampled_replies)

    def reach(self, role: RoleSettings) -> VLMClient:
        """The backend of a role, retried, limited and priced, but neither cached nor recorded."""
        key = (role.backend, role.base_url, role.timeout)
        if key not in self._reached:
            if self._transport.replay and not role.backend.startswith(("builtin", "scripted")):
                client: VLMClient = ReplayingVLMClient(role.backend, Path(self._transport.replay))
            else:
                client = create_vlm_client(role.backend, self._settings, role)
            self._reached[key] = self._guarded(client, role) if client.remote else client
        return self._reached[key]

    def _guarded(self, client: VLMClient, role: RoleSettings) -> VLMClient:
        transport, limits = self._transport, self._transport.limits_for(role.backend)
        client = LimitedVLMClient(client, limits.concurrency, limits.requests_per_minute)
        # With another backend behind it, a service that cannot be reached is given up after one probe.
        roles = map(self._settings.role, ROLES)
        stands_alone = not any(one.fallback_backend for one in roles if one.backend == role.backend)
        probes = None if stands_alone else 1
        client = RetryingVLMClient(
            client, RetryPolicy(transport.attempts, transport.max_seconds, attempts_unreachable=probes)
        )
        client = BreakerVLMClient(client, transport.breaker_failures, transport.breaker_seconds)
        return PricingVLMClient(client, self._prices.of(client.model))

    @cached_property
    def _prices(self) -> Prices:
        return load_prices(self._transport.prices)

    @cached_property
    def _disk(self) -> Cache:
        return Cache(self._settings.cache_file(), self._settings.pipeline.cache.max_bytes)
