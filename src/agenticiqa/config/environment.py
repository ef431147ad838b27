"""What the environment says: API keys, the service's token, and where the user's files are."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from pydantic import SecretStr

TOKEN_VARIABLE = "AGENTICIQA_TOKEN"
# Variables a provider's key may stand in, most specific first.
KEY_VARIABLES: dict[str, tuple[str, ...]] = {
    "openai": ("OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    "compatible": ("AGENTICIQA_COMPATIBLE_API_KEY",),
}


def process_variables() -> Mapping[str, str]:
    """The variables of this process."""
    return os.environ


def find_api_keys(environ: Mapping[str, str] | None = None) -> dict[str, SecretStr]:
    """The key of each provider that has one in the environment."""
    variables = process_variables() if environ is None else environ
    return {
        provider: SecretStr(variables[name])
        for provider, names in KEY_VARIABLES.items()
        for name in reversed(names)
        if variables.get(name)
    }


def service_token(environ: Mapping[str, str] | None = None) -> str | None:
    """The token clients of the service must send, if the environment names one."""
    variables = process_variables() if environ is None else environ
    return variables.get(TOKEN_VARIABLE) or None


def default_cache_directory() -> Path:
    """The user's cache folder for this program."""
    return _caches() / "agenticiqa"


def default_tools_overlay() -> Path:
    """The user's own tools and calibrations, in the user's configuration folder."""
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "agenticiqa" / "tools.yaml"


def user_settings_file(variables: Mapping[str, str]) -> Path | None:
    """The user's own settings, in the user's configuration folder; None where the environment names no home."""
    if variables.get("XDG_CONFIG_HOME"):
        return Path(variables["XDG_CONFIG_HOME"]) / "agenticiqa" / "model_backends.yaml"
    home = variables.get("HOME")
    return Path(home) / ".config" / "agenticiqa" / "model_backends.yaml" if home else None


def default_weights_directory() -> Path:
    """The hub folder torch itself would use."""
    return Path(os.environ.get("TORCH_HOME") or _caches() / "torch") / "hub"


def _caches() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
