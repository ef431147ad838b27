"""What an output was begun with, kept beside it, so that two ways of assessing are not mixed by accident."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from agenticiqa.batch.disk import Disk
from agenticiqa.config import ROLES, Settings
from agenticiqa.errors import ChangedSettingsError, OutputError
from agenticiqa.logs import redact
from agenticiqa.outputs import Place, refuse_overwriting
from agenticiqa.weights import manifest

# How a result is reached, kept or logged does not change it.
_IRRELEVANT = ("cache", "logging", "transport", "offline")
_SHOWN = 5

Header = dict[str, Any]


def header_path(output: Path) -> Path:
    """The file beside the output."""
    return output.with_name(f"{output.name}.batch.json")


def header_of(settings: Settings, more: Mapping[str, Any]) -> Header:
    """Everything the records depend on beside their samples; keys and passwords are not in it."""
    content: dict[str, Any] = json.loads(settings.model_dump_json())
    for name in _IRRELEVANT:
        content["pipeline"].pop(name, None)
    for role in ROLES:
        content[role].pop("timeout", None)
    models = {"weights": _weights(settings), "calibrations": _calibrations(settings)}
    header = {"version": version("agenticiqa"), **models, **more, "settings": content}
    redacted: Header = json.loads(redact(json.dumps(header), settings.secrets()))
    return redacted


def header_digest(header: Header | None) -> str | None:
    """The header in one word, as a record carries it; None where there is none."""
    if header is None:
        return None
    return hashlib.blake2b(json.dumps(header, sort_keys=True).encode(), digest_size=8).hexdigest()


def stored_header(output: Path) -> Header | None:
    """What the output was begun with, if anything says so."""
    return _load(header_path(output))


def refuse_unsuitable_output(output: Path, inputs: Iterable[Place], force: bool) -> None:
    """Raises OutputError when the output is one of the inputs, a table, or a file that no batch began."""
    if output.suffix.lower() in (".csv", ".parquet"):
        kind = output.suffix.lower().removeprefix(".")
        raise OutputError(f"{output}: records are JSON Lines; write -o {output.with_suffix('.jsonl')} --to {kind}")
    refuse_overwriting([output, header_path(output)], inputs)
    if not output.is_file() or not output.stat().st_size:
        return
    if not header_path(output).exists() and not force:
        raise ChangedSettingsError(_refusal(output, None, {}))


def agree_on_header(output: Path, wanted: Header, disk: Disk, *, begun: bool, force: bool) -> None:
    """Writes the header of a new output; raises ChangedSettingsError when an old one was begun otherwise.

    `force` goes on with the new settings; samples judged with the old ones are then judged again.
    """
    if begun and not force:
        refuse_other_settings(output, wanted)
    if _load(header_path(output)) != wanted:
        _write(header_path(output), wanted, disk)


def refuse_other_settings(output: Path, wanted: Header) -> None:
    """Raises ChangedSettingsError when the output was begun with other settings."""
    found = _load(header_path(output))
    if found != wanted:
        raise ChangedSettingsError(_refusal(output, found, wanted))


def _refusal(output: Path, found: Header | None, wanted: Header) -> str:
    way_out = "choose another output, or add --force to judge its samples again with these"
    if found is None:
        return f"{output}: exists already, and nothing says with which settings it was made; {way_out}"
    changes = list(_changes(found, wanted))
    more = [f"and {len(changes) - _SHOWN} more"] if len(changes) > _SHOWN else []
    return f"{output}: was begun with other settings ({'; '.join(changes[:_SHOWN] + more)}); {way_out}"


def _changes(old: Any, new: Any, name: str = "") -> Iterator[str]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted({*old, *new}):
            yield from _changes(old.get(key), new.get(key), f"{name}.{key}" if name else key)
    elif old != new:
        yield f"{name.removeprefix('settings.')}: {old} → {new}"


def _weights(settings: Settings) -> str | None:
    """The hash of the shipped weights' list, where a role is played by the embedded backend."""
    if not any(settings.role(role).backend.startswith("builtin") for role in ROLES):
        return None
    return header_digest(manifest())


def _calibrations(settings: Settings) -> str | None:
    """The hash of the user's own tools and calibrations, if there are any."""
    path = settings.tools_overlay_path()
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16] if path.is_file() else None


def _load(path: Path) -> Header | None:
    try:
        header: Header = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return header


def _write(path: Path, header: Header, disk: Disk) -> None:
    spare = path.with_name(f".{path.name}.new")
    try:
        descriptor = disk.open(spare, empty=True)
        try:
            disk.write_all(descriptor, json.dumps(header, indent=2).encode() + b"\n")
            disk.sync(descriptor)
        finally:
            disk.close(descriptor)
        disk.replace(spare, path)
        disk.sync_folder(path.parent)
    except OSError as error:
        spare.unlink(missing_ok=True)
        raise OutputError(f"{path}: cannot be written ({error.strerror}); make room or choose another place") from error
