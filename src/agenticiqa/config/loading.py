"""The layers of the settings laid over each other: packaged defaults < a file < environment < arguments."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from agenticiqa.config.environment import KEY_VARIABLES, find_api_keys, process_variables
from agenticiqa.config.settings import ROLES, Settings
from agenticiqa.errors import SettingsError

CONFIG_VARIABLE = "AGENTICIQA_CONFIG"
BACKEND_VARIABLE = "AGENTICIQA_BACKEND"
LOCAL_FILE = Path("configs/model_backends.yaml")
_PREFIX = "AGENTICIQA_"
_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_KEY_NAMES = {"api_key", "apikey", "key", "token", "secret"}


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
    variables = process_variables() if environ is None else environ
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
            _section(found, parents, name)[last] = _yaml_value(variables[name], f"environment: {name}")
    return found


def _section(found: dict[str, Any], path: list[str], variable: str) -> dict[str, Any]:
    section = found
    for name in path:
        section = section.setdefault(name, {})
        if not isinstance(section, dict):
            raise SettingsError(f"environment: {variable}: another variable sets {name} itself; unset one of the two")
    return section


def _yaml_value(text: str, where: str) -> Any:
    """The text with the type YAML gives it, so that numbers and booleans work."""
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise SettingsError(f"{where}: {text!r} is not valid YAML; put it in quotes") from error


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
    return _yaml_value(filled, f"{path}: {key}") if _REFERENCE.fullmatch(value) else filled


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
