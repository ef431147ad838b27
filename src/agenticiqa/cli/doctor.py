"""`agenticiqa doctor`: what is installed, what is missing, and the command that mends it."""

from __future__ import annotations

import importlib.util
import json
import platform
from dataclasses import asdict, dataclass
from typing import Annotated

import typer

from agenticiqa.cli.app import version_text

# The module that proves an extra is installed.
EXTRA_MODULES = {
    "openai": "openai",
    "anthropic": "anthropic",
    "google": "google.genai",
    "qwen": "transformers",
    "pyiqa": "pyiqa",
    "heic": "pillow_heif",
    "parquet": "pyarrow",
}


@dataclass(frozen=True)
class Check:
    """One thing looked at: fine or not, and what would mend it."""

    name: str
    ok: bool
    detail: str
    remedy: str = ""


def doctor(
    live: Annotated[
        str | None,
        typer.Option("--live", metavar="BACKEND", help="Make three small calls to this backend."),
    ] = None,
    base_url: Annotated[str | None, typer.Option("--base-url", help="The server's address, with --live.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show what is installed, which backends have keys, and the command that mends what is missing.

    Example: agenticiqa doctor --live openai.gpt-4o
    """
    checks = live_checks(live, base_url) if live else [*core_checks(), *extra_checks(), *key_checks()]
    if as_json:
        typer.echo(json.dumps([asdict(check) for check in checks], indent=2))
    else:
        for check in checks:
            sign = typer.style("ok  ", fg="green") if check.ok else typer.style("–   ", fg="yellow")
            typer.echo(f"{sign} {check.name}: {check.detail}" + (f"  →  {check.remedy}" if check.remedy else ""))


def live_checks(backend: str, base_url: str | None) -> list[Check]:
    """What a backend answers, one check per capability."""
    from agenticiqa.cli.doctor_live import live_check
    from agenticiqa.config import load_settings

    return [
        Check(f"{backend} {found.capability}", found.ok, found.line())
        for found in live_check(backend, load_settings(), base_url)
    ]


def core_checks() -> list[Check]:
    """The program itself and its settings; a broken settings file is reported, not raised."""
    from agenticiqa.config import load_settings
    from agenticiqa.errors import SettingsError

    here = Check("agenticiqa", True, f"{version_text()} on Python {platform.python_version()}")
    try:
        settings = load_settings()
    except SettingsError as error:
        return [here, Check("settings", False, str(error), "agenticiqa config check")]
    roles = ", ".join(f"{role} {settings.role(role).backend}" for role in ("planner", "executor", "summarizer"))
    return [here, Check("settings", True, " < ".join(settings.sources)), Check("backends", True, roles)]


def extra_checks() -> list[Check]:
    """Which optional dependencies are there."""
    return [
        Check(f"extra {extra}", True, "installed")
        if is_installed(module)
        else Check(f"extra {extra}", False, "not installed", f"pip install 'agenticiqa[{extra}]'")
        for extra, module in EXTRA_MODULES.items()
    ]


def key_checks() -> list[Check]:
    """Which providers have a key in the environment."""
    from agenticiqa.config import KEY_VARIABLES, find_api_keys

    found = find_api_keys()
    return [
        Check(f"key {provider}", True, "set")
        if provider in found
        else Check(f"key {provider}", False, "not set", f"export {names[0]}=…")
        for provider, names in KEY_VARIABLES.items()
    ]


def is_installed(module: str) -> bool:
    """Whether a module can be imported, without importing it."""
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False
