"""The layers of the settings laid over each other: packaged defaults < files < environment < arguments.

A file that was named (by argument or $AGENTICIQA_CONFIG) is the only file. Without one, the user's own file counts, and
`./configs/model_backends.yaml` over it; the latter belongs to whoever made the folder, so it may choose backends and
numbers, but not where data is sent or written, and it sees no variables; a backend that sends pictures away counts only
where the folder is trusted.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from agenticiqa.config.settings import (
    KEY_VARIABLES,
    ROLES,
    Settings,
    find_api_keys,
    find_base_urls,
    process_variables,
    user_folder,
)
from agenticiqa.errors import SettingsError, UntrustedFolderError

logger = logging.getLogger("agenticiqa.config")

CONFIG_VARIABLE = "AGENTICIQA_CONFIG"
BACKEND_VARIABLE = "AGENTICIQA_BACKEND"
LOCAL_FILE = Path("configs/model_backends.yaml")
_PREFIX = "AGENTICIQA_"
# Far more than settings or a catalogue of tools hold.
MOST_YAML_VALUES = 200_000
# Providers that look at pictures on this machine; every other one sends them away.
LOCAL_PROVIDERS = ("builtin", "qwen", "scripted")
_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_KEY_NAMES = {"api_key", "apikey", "key", "token", "secret"}
# What a file found in the working folder may set; everything else could send data somewhere or write a file.
_A_FOUND_FILE_MAY_SET = frozenset(
    {f"{role}.{name}" for role in ROLES for name in (
        "backend", "fallback_backend", "temperature", "max_tokens", "top_p", "retry_attempts", "timeout", "samples",
    )}
    | {f"pipeline.{name}" for name in (
        "max_replan_iterations", "mode", "fusion", "fusion_weights", "terms", "offline", "device",
        "cache.enabled", "cache.max_megabytes", "cache.sampled_replies", "logging.level", "logging.format", "limits",
        "transport.attempts", "transport.max_seconds", "transport.breaker_failures", "transport.breaker_seconds",
        "transport.limits", "qwen",
    )}
)  # fmt: skip


def load_settings(
    path: str | Path | None = None,
    overrides: Mapping[str, Any] | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    directory: Path | None = None,
    trust_folder: bool = False,
) -> Settings:
    """The effective settings, or a SettingsError naming file, key and remedy.

    `overrides` are nested (`{"pipeline": {"offline": True}}`); `environ` and `directory` default to the process's own.
    Without `trust_folder`, a backend that sends pictures away is refused if only the working folder's file names it.
    """
    variables = process_variables() if environ is None else environ
    layers: list[tuple[str, Mapping[str, Any]]] = [("packaged defaults", packaged_defaults())]
    found = None
    if path or variables.get(CONFIG_VARIABLE):
        named = Path(path or variables[CONFIG_VARIABLE])
        if not named.is_file():
            origin_of_name = "the argument" if path else f"${CONFIG_VARIABLE}"
            raise SettingsError(
                f"{named}: no such settings file (named by {origin_of_name}); correct the path or leave it out"
            )
        layers.append((str(named), read_settings_file(named, variables)))
    else:
        own = user_folder(variables)
        if own is not None and (own / LOCAL_FILE.name).is_file():
            layers.append((str(own / LOCAL_FILE.name), read_settings_file(own / LOCAL_FILE.name, variables)))
        found = (directory or Path.cwd()) / LOCAL_FILE
        if found.is_file():
            _warn_once(found)
            layers.append((str(found), _read_found_file(found)))
    layers += [("environment", settings_from_environment(variables)), ("arguments", overrides or {})]
    merged: dict[str, Any] = {}
    origin: dict[str, str] = {}
    for source, layer in layers:
        _merge(merged, layer, source, origin)
    if found and not trust_folder:
        _refuse_sending_pictures(merged, origin, str(found))
    return _validate(merged, origin, tuple(source for source, layer in layers if layer), variables)


def _refuse_sending_pictures(merged: Mapping[str, Any], origin: Mapping[str, str], found: str) -> None:
    """Raises SettingsError where the file found in the working folder decides that pictures are sent to a service."""
    if dict(merged.get("pipeline") or {}).get("offline") is True:
        return
    for key in (f"{role}.{name}" for role in ROLES for name in ("backend", "fallback_backend")):
        role, _, name = key.partition(".")
        value = merged[role].get(name) if isinstance(merged.get(role), Mapping) else None
        is_local = not value or str(value).partition(".")[0] in LOCAL_PROVIDERS
        if not is_local and _origin_of(key, origin) == found:
            raise UntrustedFolderError(
                f"{found}: {key}: {value} would send pictures away, and the file was only found in the working folder",
                f"add --trust-folder if you want that, or name the file (--config {found})",
            )


def packaged_defaults() -> dict[str, Any]:
    """The settings that hold with no file at all."""
    text = resources.files("agenticiqa").joinpath("defaults.yaml").read_text(encoding="utf-8")
    defaults: dict[str, Any] = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return defaults


@cache
def _warn_once(path: Path) -> None:
    logger.warning("settings are read from %s, found in the working folder; --config names another file", path)


def _read_found_file(path: Path) -> dict[str, Any]:
    """The content of a file nobody named, or a SettingsError for a key or a reference it may not hold."""
    content = read_sections(path, (*ROLES, "pipeline"))
    for key, value in _leaves(content):
        remedy = (
            f"name the file if you trust it (--config {path}, or ${CONFIG_VARIABLE}), "
            "or set this in your own settings, ~/.config/agenticiqa/model_backends.yaml"
        )
        if isinstance(value, str) and "${" in value:
            raise SettingsError(f"{path}: {key}: a file found in the working folder may not read variables; {remedy}")
        known = not _A_FOUND_FILE_MAY_SET.isdisjoint(_prefixes(key))
        if not known and _is_setting(key):
            raise SettingsError(
                f"{path}: {key}: a file found in the working folder may not set where data is sent, read or written; "
                + remedy
            )
    return content


def _leaves(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping) and value:
        for name, inner in value.items():
            yield from _leaves(inner, f"{key}.{name}" if key else str(name))
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner, key)
    else:
        yield key, value


def _is_setting(key: str) -> bool:
    """Whether there is such a key at all; one that does not exist is complained about as in every file."""
    model: Any = Settings
    for part in key.split("."):
        fields = getattr(model, "model_fields", {})
        if part not in fields:
            return False
        model = fields[part].annotation
    return True


def read_settings_file(path: Path, variables: Mapping[str, str]) -> dict[str, Any]:
    """The file's content with environment references filled in."""
    content = read_sections(path, (*ROLES, "pipeline"))
    filled: dict[str, Any] = _interpolate(content, "", path, variables)
    return filled


def read_sections(path: Path, names: tuple[str, ...]) -> dict[str, Any]:
    """The sections of a YAML file, none if it is empty; a SettingsError names the file and the sections it may hold."""
    try:
        content = read_yaml(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())
        raise SettingsError(f"{path}: not valid YAML: {reason}; correct the file") from error
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read ({error.strerror}); check its permissions") from error
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise SettingsError(f"{path}: must hold sections ({', '.join(names)}), not a bare value; correct the file")
    return content


def read_yaml(text: str) -> Any:
    """The values of a YAML text; a YAMLError where aliases or nesting would make far more of it than stands there."""
    loader = yaml.SafeLoader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        _refuse_bomb(node)
        return loader.construct_document(node)
    except RecursionError:
        raise yaml.YAMLError("nested too deeply") from None
    finally:
        loader.dispose()


def _refuse_bomb(root: yaml.Node) -> None:
    """Raises YAMLError where the text holds too many values once every alias is spelled out, or an alias of itself."""
    counts: dict[int, int | None] = {}

    def count(node: yaml.Node) -> int:
        if id(node) in counts:
            known = counts[id(node)]
            if known is None:
                raise yaml.YAMLError("an alias stands inside what it stands for")
            return known
        counts[id(node)] = None
        pairs = node.value if isinstance(node, yaml.MappingNode) else ()
        inner = node.value if isinstance(node, yaml.SequenceNode) else [part for pair in pairs for part in pair]
        found = counts[id(node)] = 1 + sum(map(count, inner))
        if found > MOST_YAML_VALUES:
            raise yaml.YAMLError(f"its aliases stand for more than {MOST_YAML_VALUES} values")
        return found

    count(root)


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
                if not isinstance(section, dict):
                    raise SettingsError(
                        f"environment: {name}: another variable sets {parent} itself; unset one of the two"
                    )
            section[last] = _yaml_value(variables[name], f"environment: {name}")
    return found


def _yaml_value(text: str, where: str) -> Any:
    """The text with the type YAML gives it, so that numbers and booleans work."""
    try:
        return read_yaml(text)
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
        if str(name).lower() in _KEY_NAMES:
            variables = ", ".join(names[0] for names in KEY_VARIABLES.values())
            raise SettingsError(
                f"{source}: {dotted}: keys come from the environment only; remove this line and set one of {variables}"
            )
        if isinstance(value, Mapping) and isinstance(into.get(name), dict):
            _merge(into[name], value, source, origin, dotted)
        else:
            into[name] = deepcopy(value)
            origin[dotted] = source


def _validate(
    merged: dict[str, Any], origin: Mapping[str, str], sources: tuple[str, ...], variables: Mapping[str, str]
) -> Settings:
    for reserved in ("sources", "api_keys", "base_urls"):
        if reserved in merged:
            raise SettingsError(f"{origin[reserved]}: {reserved}: unknown key; remove it")
    found = {"sources": sources, "api_keys": find_api_keys(variables), "base_urls": find_base_urls(variables)}
    try:
        return Settings.model_validate({**merged, **found})
    except ValidationError as error:
        first, *more = (_explain(problem, origin) for problem in error.errors())
        wrong = SettingsError(first)
        wrong.details = tuple(more)
        raise wrong from None


def _explain(problem: Any, origin: Mapping[str, str]) -> str:
    key = ".".join(str(part) for part in problem["loc"])
    source = _origin_of(key, origin)
    if problem["type"] == "extra_forbidden":
        return f"{source}: {key}: unknown key; remove it or see `agenticiqa config show` for the known ones"
    if problem["type"] == "missing":
        return f"{source}: {key}: required but missing; add it"
    return f"{source}: {key}: {problem['msg']} (got {problem['input']!r}); correct the value"


def _origin_of(key: str, origin: Mapping[str, str]) -> str:
    return next((origin[each] for each in _prefixes(key) if each in origin), "settings")


def _prefixes(key: str) -> list[str]:
    parts = key.split(".")
    return [".".join(parts[:n]) for n in range(len(parts), 0, -1)]
