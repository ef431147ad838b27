"""What can be set, with its bounds and defaults, and what the environment says: keys, a token, the user's folders."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import Field, SecretStr

from agenticiqa.state import Record

if TYPE_CHECKING:
    from agenticiqa.images import Align, ImageStore

TOKEN_VARIABLE = "AGENTICIQA_TOKEN"
# Variables a provider's key may stand in, most specific first.
KEY_VARIABLES: dict[str, tuple[str, ...]] = {
    "openai": ("OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    "compatible": ("AGENTICIQA_COMPATIBLE_API_KEY",),
}
# Variables that the services' own SDKs read an address from.
ADDRESS_VARIABLES: dict[str, str] = {
    "openai": "OPENAI_BASE_URL",
    "anthropic": "ANTHROPIC_BASE_URL",
    "google": "GOOGLE_GEMINI_BASE_URL",
}
ROLES = ("planner", "executor", "summarizer")


def process_variables() -> Mapping[str, str]:
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


def find_base_urls(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """The address of each provider that has one in the environment."""
    variables = process_variables() if environ is None else environ
    return {provider: variables[name] for provider, name in ADDRESS_VARIABLES.items() if variables.get(name)}


def service_token() -> str | None:
    """The token clients of the service must send, if the environment names one."""
    return process_variables().get(TOKEN_VARIABLE) or None


def default_cache_directory() -> Path:
    return _caches() / "agenticiqa"


def user_folder(variables: Mapping[str, str]) -> Path | None:
    """The user's configuration folder for this program; None where the environment names no home."""
    if variables.get("XDG_CONFIG_HOME"):
        return Path(variables["XDG_CONFIG_HOME"]) / "agenticiqa"
    home = variables.get("HOME")
    return Path(home) / ".config" / "agenticiqa" if home else None


def _caches() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


class RoleSettings(Record):
    """How one role of the agent reaches its model."""

    backend: str = Field(
        pattern=r"^[a-z0-9_-]+(\..+)?$", description="the model, as PROVIDER.MODEL; docs/backends.md lists them"
    )
    temperature: float = Field(default=0.0, ge=0.0, le=2.0, description="of the model's replies; 0 repeats them")
    max_tokens: int = Field(default=1024, ge=1, description="the most a reply may have")
    top_p: float | None = Field(default=None, gt=0.0, le=1.0, description="sent along where it is set")
    retry_attempts: int = Field(default=3, ge=1, le=10, description="times a reply that cannot be read is asked for")
    fallback_backend: str | None = Field(
        default=None, pattern=r"^[a-z0-9_-]+(\..+)?$", description="the model asked where the first one fails"
    )
    base_url: str | None = Field(default=None, description="the address of a server of your own")
    fallback_base_url: str | None = Field(default=None, description="the same for the fallback")
    timeout: float = Field(default=60.0, gt=0.0, description="seconds one request may take")
    samples: int = Field(
        default=0, ge=0, le=50, description="replies drawn for the level's probabilities if the model has none"
    )


class CacheSettings(Record):
    enabled: bool = Field(default=True, description="keep replies and measurements")
    directory: str | None = Field(default=None, description="default: the user's cache folder")
    max_megabytes: int = Field(default=512, ge=1, description="the most a cache file may have")
    sampled_replies: bool = Field(default=False, description="also keep replies drawn at a temperature above 0")

    @property
    def max_bytes(self) -> int:
        return self.max_megabytes * 1_000_000


class LoggingSettings(Record):
    level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(
        default="WARNING", description="the least that is logged"
    )
    format: Literal["json", "text"] | None = Field(default=None, description="default: json for files, text otherwise")
    file: str | None = Field(default=None, description="where the log goes; default: standard error")


class LimitSettings(Record):
    """Bounds on what is accepted and how long it may take."""

    max_pixels: int = Field(default=120_000_000, ge=1, description="the most an image may have")
    max_file_megabytes: int = Field(default=256, ge=1, description="the most an image file may have")
    min_side: int = Field(default=8, ge=1, description="the least pixels a side may have")
    max_query_characters: int = Field(default=20_000, ge=1, description="the longest question")
    tool_timeout: float = Field(default=60.0, gt=0.0, description="seconds one measurement may take")


class BackendLimits(Record):
    """How hard one network backend may be pressed by this process."""

    concurrency: int = Field(default=8, ge=1, description="requests at once")
    requests_per_minute: float | None = Field(default=None, gt=0.0, description="the most that are begun")


class TransportSettings(Record):
    """How network backends are reached, whatever the role."""

    attempts: int = Field(default=4, ge=1, le=20, description="tries on the wire per reply")
    max_seconds: float = Field(default=120.0, ge=0.0, description="no new try is begun after this many seconds")
    breaker_failures: int = Field(default=5, ge=1, description="failed calls in a row after which a backend rests")
    breaker_seconds: float = Field(default=30.0, ge=0.0, description="how long it rests")
    limits: dict[str, BackendLimits] = Field(default_factory=dict, description="by backend or by provider")
    keep_metadata: bool = Field(default=False, description="send EXIF and the like along with the image")
    prices: str | None = Field(default=None, description="a price table of your own, laid over the packaged one")
    record: str | None = Field(default=None, description="a file to which requests and replies are appended")
    replay: str | None = Field(default=None, description="such a file, answered from instead of the network")

    def limits_for(self, backend: str) -> BackendLimits:
        """The limits of this backend, of its provider, or the plain ones."""
        return self.limits.get(backend) or self.limits.get(backend.partition(".")[0]) or BackendLimits()


class QwenSettings(Record):
    """How a local Qwen2.5-VL is loaded."""

    device: str = Field(default="auto", description="auto (a GPU if there is one), cpu, cuda, cuda:1 …")
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = Field(
        default="auto", description="the numbers the model is loaded with"
    )
    max_pixels: int = Field(default=1_003_520, ge=784, description="larger images are scaled down to this")


class FusionWeights(Record):
    """How one backend's beliefs are fused with the tools' mean."""

    eta: float = Field(default=1.0, ge=0.0, description="how much the tools weigh beside the model")
    temperature: float = Field(default=1.0, gt=0.0, description="beliefs are flattened above 1, sharpened below")


class PipelineSettings(Record):
    """What holds for the whole run."""

    max_replan_iterations: int = Field(default=2, ge=0, le=20, description="plans at most; 0 and 1 never replan")
    mode: Literal["full", "fast"] = Field(
        default="full", description="fast asks the executor's model once instead of up to three times"
    )
    fusion: Literal["calibrated", "paper"] = Field(
        default="calibrated", description="how tools and model become one score: with our weights, or as published"
    )
    fusion_weights: dict[str, dict[str, FusionWeights]] = Field(
        default_factory=dict, description="by backend, then by reference mode"
    )
    terms: Literal["research", "commercial"] = Field(
        default="research", description="which weights: commercial ones saw no data that is for research only"
    )
    allowed_root: str | None = Field(default=None, description="images are read from below this folder only")
    viewing: Literal["native", "screen"] = Field(
        default="native", description="how a pair is compared: pixel by pixel, or as it fits a screen"
    )
    offline: bool = Field(default=False, description="refuse every backend that needs a network")
    tools_overlay: str | None = Field(default=None, description="the user's own tools and calibrations")
    weights_directory: str | None = Field(default=None, description="torch's hub folder, with pyiqa/ inside")
    device: str = Field(default="cpu", description="where pyiqa's metrics run: cpu, cuda, cuda:1 …")
    cache: CacheSettings = CacheSettings()
    logging: LoggingSettings = LoggingSettings()
    limits: LimitSettings = LimitSettings()
    transport: TransportSettings = TransportSettings()
    qwen: QwenSettings = QwenSettings()

    def fusion_weights_for(self, backend: str, mode: str) -> FusionWeights | None:
        """The weights chosen for this backend and reference mode, if any were."""
        return self.fusion_weights.get(backend, {}).get(mode)


class Settings(Record):
    """Everything that can be set, plus the API keys found in the environment."""

    planner: RoleSettings
    executor: RoleSettings
    summarizer: RoleSettings
    pipeline: PipelineSettings = PipelineSettings()
    sources: tuple[str, ...] = Field(default=(), exclude=True, description="files and variables used, weakest first")
    api_keys: dict[str, SecretStr] = Field(default_factory=dict, exclude=True, repr=False)
    base_urls: dict[str, str] = Field(default_factory=dict, exclude=True, description="addresses in the environment")

    def role(self, name: str) -> RoleSettings:
        role: RoleSettings = getattr(self, name)
        return role

    def api_key(self, provider: str) -> str | None:
        """The provider's key, if the environment has one."""
        secret = self.api_keys.get(provider)
        return secret.get_secret_value() if secret else None

    def secrets(self) -> tuple[str, ...]:
        return tuple(secret.get_secret_value() for secret in self.api_keys.values())

    def image_store(self, align: Align | None = None) -> ImageStore:
        """The door to images under these limits and below `pipeline.allowed_root`."""
        from agenticiqa.images import ImageLimits, ImageStore

        given, root = self.pipeline.limits, self.pipeline.allowed_root
        limits = ImageLimits(given.max_pixels, given.max_file_megabytes * 2**20, given.min_side)
        return ImageStore(limits, Path(root).expanduser() if root else None, align)

    def cache_directory(self) -> Path:
        """Where caches live: the configured folder or the user's cache folder."""
        return Path(self.pipeline.cache.directory or default_cache_directory()).expanduser()

    def cache_file(self) -> Path:
        """The cache of model replies and tool results."""
        return self.cache_directory() / "cache.sqlite"

    def tools_overlay_path(self) -> Path:
        """The file with the user's own tools and calibrations; it need not exist."""
        own = user_folder(process_variables()) or Path.home() / ".config" / "agenticiqa"
        return Path(self.pipeline.tools_overlay or own / "tools.yaml").expanduser()

    def weights_directory(self) -> Path:
        """Torch's hub folder, where pyiqa and its backbones keep their weights."""
        own = Path(os.environ.get("TORCH_HOME") or _caches() / "torch") / "hub"
        return Path(self.pipeline.weights_directory or own).expanduser()
