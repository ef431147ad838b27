"""The default parts and how they fit together: the one place that knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from agenticiqa.config import ROLES, Settings, load_settings
from agenticiqa.embedded.tools import learned_tools
from agenticiqa.images import LoadedImage
from agenticiqa.score_fusion import UNKNOWN_SPREAD, ScoreFusion, eta_for
from agenticiqa.state import ReferenceMode, Region
from agenticiqa.tools.catalogue import default_registry
from agenticiqa.tools.registry import ToolRegistry
from agenticiqa.vlm_client.client import VLMClient
from agenticiqa.vlm_client.factory import create_role_clients


@dataclass(frozen=True)
class Parts:
    """What the nodes work with; without a `fusion` of its own, each role and mode gets the one of the settings."""

    vlm_clients: Mapping[str, VLMClient]
    tools: ToolRegistry
    settings: Settings
    fusion: ScoreFusion | None = None

    @property
    def deterministic(self) -> bool:
        """Whether the same question about the same image always takes the same course."""
        return all(client.deterministic for client in self.vlm_clients.values())

    def fusion_for(self, mode: ReferenceMode, spread: float | None = None) -> tuple[ScoreFusion, float]:
        """The fusion for the summarizer's backend with or without a reference, and the temperature of its beliefs.

        A backend without weights of its own trusts the tools by their `spread`, the known error of their mean.
        """
        if self.fusion is not None:
            return self.fusion, 1.0
        if self.settings.pipeline.fusion == "paper":
            return ScoreFusion(), 1.0
        # The client that answers counts, not the backend's name in the settings: a caller may pass in another.
        weights = self.settings.pipeline.fusion_weights_for(self.vlm_clients["summarizer"].model, mode)
        if weights is None:
            return ScoreFusion(eta=eta_for(UNKNOWN_SPREAD if spread is None else spread)), 1.0
        return ScoreFusion(eta=weights.eta), weights.temperature

    def locate(self, image: LoadedImage, name: str) -> Region | None:
        """The box of a named thing by the embedded detector, for models that cannot locate; None if it is not found."""
        from agenticiqa.embedded.combined_models import shipped_perception

        return shipped_perception(self.settings.pipeline.terms).locate(image, name)


def build_parts(settings: Settings | None = None) -> Parts:
    """The default parts for these settings, built once."""
    return _built(_Fingerprint(settings or load_settings()))


def tools_for(settings: Settings) -> ToolRegistry:
    """The tools alone, for whoever needs no model."""
    return build_tools(_Fingerprint(settings))


def parts_from(configurable: Mapping[str, Any]) -> Parts:
    """The parts a run was given; what is missing is built."""
    settings: Settings = configurable.get("settings") or load_settings()
    clients: Mapping[str, VLMClient] = configurable.get("vlm_clients") or {}
    if not set(ROLES) <= set(clients):
        clients = {**build_clients(_Fingerprint(settings)), **clients}
    tools = configurable.get("tools")
    return Parts(
        vlm_clients=clients,
        tools=tools if tools is not None else build_tools(_Fingerprint(settings)),
        settings=settings,
        fusion=configurable.get("fusion"),
    )


class _Fingerprint:
    """Settings as a key: equal when nothing that is set differs, what the environment has and the overlay included."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        overlay = settings.tools_overlay_path()
        # A curve stored by `calibrate` counts from then on, in this process too.
        curves = overlay.read_bytes() if overlay.is_file() else b""
        found = (*sorted(settings.secrets()), *sorted(settings.base_urls.items()))
        self._key = (settings.model_dump_json(), found, curves)

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Fingerprint) and self._key == other._key


@lru_cache(maxsize=4)
def _built(key: _Fingerprint) -> Parts:
    return Parts(build_clients(key), build_tools(key), key.settings)


@lru_cache(maxsize=4)
def build_clients(key: _Fingerprint) -> Mapping[str, VLMClient]:
    return create_role_clients(key.settings)


@lru_cache(maxsize=4)
def build_tools(key: _Fingerprint) -> ToolRegistry:
    pipeline = key.settings.pipeline
    return default_registry(key.settings, more=learned_tools(pipeline.terms, pipeline.viewing))
