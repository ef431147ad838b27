"""Settings: packaged defaults < model_backends.yaml < environment < arguments. The only reader of the environment."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from agenticiqa.errors import SettingsError

CONFIG_VARIABLE = "AGENTICIQA_CONFIG"
BACKEND_VARIABLE = "AGENTICIQA_BACKEND"
TOKEN_VARIABLE = "AGENTICIQA_TOKEN"
LOCAL_FILE = Path("configs/model_backends.yaml")
ROLES = ("planner", "executor", "summarizer")
# Variables a provider's key may stand in, most specific first.
KEY_VARIABLES: dict[str, tuple[str, ...]] = {
    "openai": ("OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    "compatible": ("AGENTICIQA_COMPATIBLE_API_KEY",),
}
_PREFIX = "AGENTICIQA_"
_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_KEY_NAMES = {"api_key", "apikey", "key", "token", "secret"}


class Section(BaseModel):
    """Base of every part of the settings: frozen, unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class RoleSettings(Section):
    """How one role of the agent reaches its model."""

    backend: str = Field(pattern=r"^[a-z0-9_-]+(\..+)?$")
    temperature: float = Field(default=0.0, ge=0.0, le=2.0)
    max_tokens: int = Field(default=1024, ge=1)
    top_p: float | None = Field(default=None, gt=0.0, le=1.0)
    retry_attempts: int = Field(default=3, ge=1, le=10)
    fallback_backend: str | None = Field(default=None, pattern=r"^[a-z0-9_-]+(\..+)?$")
    base_url: str | None = None
    fallback_base_url: str | None = None
    timeout: float = Field(default=60.0, gt=0.0)
    samples: int = Field(
        default=0, ge=0, le=50, description="replies drawn for the level's probabilities if the model has none"
    )


class CacheSettings(Section):
    """Where replies and tool results are kept."""

    enabled: bool = True
    directory: str | None = Field(default=None, description="default: the user's cache folder")
    max_megabytes: int = Field(default=512, ge=1)
    sampled_replies: bool = Field(default=False, description="also keep replies drawn at a temperature above 0")


class LoggingSettings(Section):
    """What is logged, how and where."""

    level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "WARNING"
    format: Literal["json", "text"] | None = Field(default=None, description="default: json for files, text otherwise")
    file: str | None = None


class LimitSettings(Section):
    """Bounds on what is accepted and how long it may take."""

    max_pixels: int = Field(default=120_000_000, ge=1)
    max_file_megabytes: int = Field(default=256, ge=1)
    min_side: int = Field(default=8, ge=1)
    max_query_characters: int = Field(default=20_000, ge=1)
    tool_timeout: float = Field(default=60.0, gt=0.0)


class BackendLimits(Section):
    """How hard one network backend may be pressed by this process."""

    concurrency: int = Field(default=8, ge=1)
    requests_per_minute: float | None = Field(default=None, gt=0.0)


class TransportSettings(Section):
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


class QwenSettings(Section):
    """How a local Qwen2.5-VL is loaded."""

    device: str = Field(default="auto", description="auto (a GPU if there is one), cpu, cuda, cuda:1 …")
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    max_pixels: int = Field(default=1_003_520, ge=784, description="larger images are scaled down to this")


class FusionWeights(Section):
    """How one backend's beliefs are fused with the tools' mean."""

    eta: float = Field(default=1.0, ge=0.0)
    temperature: float = Field(default=1.0, gt=0.0, description="beliefs are flattened above 1, sharpened below")


class PipelineSettings(Section):
    """What holds for the whole run."""

    max_replan_iterations: int = Field(default=2, ge=0, le=20)
    mode: Literal["full", "fast"] = Field(
        default="full", description="fast asks the executor's model once instead of up to three times"
    )
    fusion: Literal["calibrated", "paper"] = "calibrated"
    fusion_weights: dict[str, dict[str, FusionWeights]] = Field(
        default_factory=dict, description="by backend, then by reference mode"
    )
    terms: Literal["research", "commercial"] = "research"
    offline: bool = False
    tools_overlay: str | None = Field(default=None, description="the user's own tools and calibrations")
    weights_directory: str | None = Field(default=None, description="torch's hub folder, with pyiqa/ inside")
    device: str = Field(default="cpu", description="where pyiqa's metrics run: cpu, cuda, cuda:1 …")
    cache: CacheSettings = CacheSettings()
    logging: LoggingSettings = LoggingSettings()
    limits: LimitSettings = LimitSettings()
    transport: TransportSettings = TransportSettings()
    qwen: QwenSettings = QwenSettings()

    def fusion_weights_for(self, backend: str, mode: str) -> FusionWeights:
        """The weights chosen for this backend and reference mode, or the plain ones."""
        return self.fusion_weights.get(backend, {}).get(mode, FusionWeights())


class Settings(Section):
    """Everything that can be set, plus the API keys found in the environment."""

    planner: RoleSettings
    executor: RoleSettings
    summarizer: RoleSettings
    pipeline: PipelineSettings = PipelineSettings()
    sources: tuple[str, ...] = Field(default=(), exclude=True, description="files and variables used, weakest first")
    api_keys: dict[str, SecretStr] = Field(default_factory=dict, exclude=True, repr=False)

    def role(self, name: str) -> RoleSettings:
        """The settings of one role."""
        role: RoleSettings = getattr(self, name)
        return role

    def api_key(self, provider: str) -> str | None:
        """The provider's key, if the environment has one."""
        secret = self.api_keys.get(provider)
        return secret.get_secret_value() if secret else None

    def secrets(self) -> tuple[str, ...]:
        """All keys, for redaction."""
        return tuple(secret.get_secret_value() for secret in self.api_keys.values())

    def cache_directory(self) -> Path:
        """Where caches live: the configured folder or the user's cache folder."""
        return Path(self.pipeline.cache.directory or default_cache_directory()).expanduser()

    def tools_overlay_path(self) -> Path:
        """The file with the user's own tools and calibrations; it need not exist."""
        return Path(self.pipeline.tools_overlay or default_tools_overlay()).expanduser()

    def weights_directory(self) -> Path:
        """Torch's hub folder, where pyiqa and its backbones keep their weights."""
        return Path(self.pipeline.weights_directory or default_weights_directory()).expanduser()


def load_settings(
    path: str | Path | None = None,
    overrides: Mapping[str, Any] | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    directory: Path | None = None,
) -> Settings:
    """The effective settings, or a SettingsError naming file, key and remedy.

    `overrides` are nested (`{"pipeline": {"offline": True}}`); `environ` and `directory` default to the process's own.
    """
    variables = os.environ if environ is None else environ
    layers: list[tuple[str, dict[str, Any]]] = [("packaged defaults", packaged_defaults())]
    chosen = find_settings_file(path, variables, directory or Path.cwd())
    if chosen:
        layers.append((str(chosen), read_settings_file(chosen, variables)))
    layers.append(("environment", settings_from_environment(variables)))
    layers.append(("arguments", dict(overrides or {})))
    merged: dict[str, Any] = {}
    origin: dict[str, str] = {}
    for source, layer in layers:
        _merge(merged, layer, source, origin)
    return _validate(merged, origin, tuple(source for source, layer in layers if layer), variables)


def packaged_defaults() -> dict[str, Any]:
    """The settings that hold with no file at all."""
    text = resources.files("agenticiqa").joinpath("defaults.yaml").read_text(encoding="utf-8")
    defaults: dict[str, Any] = yaml.safe_load(text)
    return defaults


def find_settings_file(argument: str | Path | None, variables: Mapping[str, str], directory: Path) -> Path | None:
    """The first of: the argument, $AGENTICIQA_CONFIG, ./configs/model_backends.yaml."""
    named = argument or variables.get(CONFIG_VARIABLE)
    if named:
        if not Path(named).is_file():
            origin = "the argument" if argument else f"${CONFIG_VARIABLE}"
            raise SettingsError(f"{named}: no such settings file (named by {origin}); correct the path or leave it out")
        return Path(named)
    local = directory / LOCAL_FILE
    return local if local.is_file() else None


def read_settings_file(path: Path, variables: Mapping[str, str]) -> dict[str, Any]:
    """The file's content with environment references filled in."""
    content = read_sections(path, (*ROLES, "pipeline"))
    filled: dict[str, Any] = _interpolate(content, "", path, variables)
    return filled


def read_sections(path: Path, names: tuple[str, ...]) -> dict[str, Any]:
    """The sections of a YAML file, none if it is empty; a SettingsError names the file and the sections it may hold."""
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: not valid YAML: {error}; correct the file") from error
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read ({error.strerror}); check its permissions") from error
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise SettingsError(f"{path}: must hold sections ({', '.join(names)}), not a bare value; correct the file")
    return content


def settings_from_environment(variables: Mapping[str, str]) -> dict[str, Any]:
    """Settings given as AGENTICIQA_SECTION__KEY, and AGENTICIQA_BACKEND for all roles at once."""
    found: dict[str, Any] = {}
    if variables.get(BACKEND_VARIABLE):
        found = {role: {"backend": variables[BACKEND_VARIABLE]} for role in ROLES}
    for name in sorted(variables):
        if name.startswith(_PREFIX) and "__" in name:
            *parents, last = name.removeprefix(_PREFIX).lower().split("__")
            section = found
            for parent in parents:
                section = section.setdefault(parent, {})
            section[last] = yaml.safe_load(variables[name])
    return found


def find_api_keys(environ: Mapping[str, str] | None = None) -> dict[str, SecretStr]:
    """The key of each provider that has one in the environment."""
    variables = os.environ if environ is None else environ
    return {
        provider: SecretStr(variables[name])
        for provider, names in KEY_VARIABLES.items()
        for name in reversed(names)
        if variables.get(name)
    }


def service_token(environ: Mapping[str, str] | None = None) -> str | None:
    """The token clients of the service must send, if the environment names one."""
    variables = os.environ if environ is None else environ
    return variables.get(TOKEN_VARIABLE) or None


def default_cache_directory() -> Path:
    """The user's cache folder for this program."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "agenticiqa"


def default_tools_overlay() -> Path:
    """The user's own tools and calibrations, in the user's configuration folder."""
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "agenticiqa" / "tools.yaml"


def default_weights_directory() -> Path:
    """The hub folder torch itself would use."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("TORCH_HOME") or Path(cache) / "torch") / "hub"


def _interpolate(value: Any, key: str, path: Path, variables: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {k: _interpolate(v, f"{key}.{k}" if key else str(k), path, variables) for k, v in value.items()}
    if isinstance(value, list):
        return [_interpolate(item, key, path, variables) for item in value]
    if not isinstance(value, str) or "${" not in value:
        return value

    def fill(match: re.Match[str]) -> str:
        name, default = match.group(1), match.group(2)
        # As in a shell, ":-" also replaces a variable that is set but empty.
        if default is not None:
            return variables.get(name) or default
        if name not in variables:
            raise SettingsError(
                f"{path}: {key}: environment variable {name} is not set; "
                f"set it or write ${{{name}:-default}}"
            )  # fmt: skip
        return variables[name]

    filled = _REFERENCE.sub(fill, value)
    # A value that is one reference takes YAML's type, so that numbers and booleans work.
    return yaml.safe_load(filled) if _REFERENCE.fullmatch(value) else filled


def _merge(into: dict[str, Any], layer: Mapping[str, Any], source: str, origin: dict[str, str], key: str = "") -> None:
    for name, value in layer.items():
        dotted = f"{key}.{name}" if key else str(name)
        if isinstance(value, Mapping) and isinstance(into.get(name), dict):
            _merge(into[name], value, source, origin, dotted)
        else:
            into[name] = _copy(value)
            origin[dotted] = source
        if str(name).lower() in _KEY_NAMES:
            variables = ", ".join(names[0] for names in KEY_VARIABLES.values())
            raise SettingsError(
                f"{source}: {dotted}: keys come from the environment only; remove this line and set one of {variables}"
            )


def _copy(value: Any) -> Any:
    return {k: _copy(v) for k, v in value.items()} if isinstance(value, Mapping) else value


def _validate(
    merged: dict[str, Any], origin: Mapping[str, str], sources: tuple[str, ...], variables: Mapping[str, str]
) -> Settings:
    for reserved in ("sources", "api_keys"):
        if reserved in merged:
            raise SettingsError(f"{origin[reserved]}: {reserved}: unknown key; remove it")
    try:
        return Settings.model_validate({**merged, "sources": sources, "api_keys": find_api_keys(variables)})
    except ValidationError as error:
        raise SettingsError("\n".join(_explain(problem, origin) for problem in error.errors())) from None


def _explain(problem: Any, origin: Mapping[str, str]) -> str:
    key = ".".join(str(part) for part in problem["loc"])
    source = next((origin[k] for k in _prefixes(key) if k in origin), "settings")
    if problem["type"] == "extra_forbidden":
        return f"{source}: {key}: unknown key; remove it or see `agenticiqa config show` for the known ones"
    if problem["type"] == "missing":
        return f"{source}: {key}: required but missing; add it"
    return f"{source}: {key}: {problem['msg']} (got {problem['input']!r}); correct the value"


def _prefixes(key: str) -> list[str]:
    parts = key.split(".")
    return [".".join(parts[:n]) for n in range(len(parts), 0, -1)]
