"""`agenticiqa doctor`: what is installed, what is missing, and the command that mends it."""

from __future__ import annotations

import json
import platform
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from agenticiqa.cli.command_frame import version_text
from agenticiqa.cli.shared_options import AsJson
from agenticiqa.errors import is_installed

if TYPE_CHECKING:
    from agenticiqa.config import Settings
    from agenticiqa.tools import ToolRegistry

# What each extra is for, and the modules that prove it is installed.
EXTRAS: dict[str, tuple[str, tuple[str, ...]]] = {
    "openai": ("models of OpenAI and compatible servers", ("openai",)),
    "anthropic": ("models of Anthropic", ("anthropic",)),
    "google": ("models of Google", ("google.genai",)),
    "qwen": ("Qwen2.5-VL on this machine", ("transformers", "torch")),
    "pyiqa": ("more tools, for non-commercial use; about 7 GB where torch comes with CUDA", ("pyiqa",)),
    "heic": ("HEIC pictures", ("pillow_heif",)),
    "server": ("agenticiqa serve", ("fastapi", "uvicorn", "python_multipart", "prometheus_client")),
    "mcp": ("agenticiqa mcp", ("mcp",)),
    "ray": ("--engine ray", ("ray",)),
    "parquet": (".parquet files", ("pyarrow",)),
    "ssimulacra2": ("encode --metric ssimulacra2", ("ssimulacra2",)),
    "evaluation": ("agenticiqa evaluate", ("scipy",)),
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
        typer.Option(metavar="BACKEND", help="Make three small calls to this backend."),
    ] = None,
    base_url: Annotated[str | None, typer.Option(help="The server's address, with --live.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show what is installed, which backends have keys, which tools run and vote, and the command that mends the rest.

    \b
    Examples:
      agenticiqa doctor
      agenticiqa doctor --json
      agenticiqa doctor --live builtin.perception
    """
    if live:
        from agenticiqa.cli.doctor_live import live_check
        from agenticiqa.config import load_settings

        found = live_check(live, load_settings(trust_folder=True), base_url)
        checks = [Check(f"{live} {one.capability}", one.ok, one.line()) for one in found]
    else:
        checks = all_checks()
    if as_json:
        typer.echo(json.dumps([asdict(check) for check in checks], indent=2))
    else:
        for check in checks:
            sign = typer.style("ok  ", fg="green") if check.ok else typer.style("–   ", fg="yellow")
            typer.echo(f"{sign} {check.name}: {check.detail}" + (f"  →  {check.remedy}" if check.remedy else ""))
    # A backend may lack a capability and be of use; one that has none is not.
    if live and not any(check.ok for check in checks):
        raise typer.Exit(1)


def all_checks() -> list[Check]:
    """Everything looked at; settings or tools that cannot be used are reported, not raised."""
    from agenticiqa.config import KEY_VARIABLES, find_api_keys, load_settings
    from agenticiqa.errors import AgenticIQAError, SettingsError
    from agenticiqa.parts import tools_for

    checks = [Check("agenticiqa", True, f"{version_text()} on Python {platform.python_version()}")]
    rest, keys = extra_checks(), find_api_keys()
    for provider, names in KEY_VARIABLES.items():
        is_set = provider in keys
        rest.append(
            Check(f"key {provider}", is_set, "set" if is_set else "not set", "" if is_set else f"export {names[0]}=…")
        )
    try:
        settings = load_settings(trust_folder=True)
    except SettingsError as error:
        return [*checks, Check("settings", False, str(error), "agenticiqa config check"), *rest]
    checks += settings_checks(settings)
    try:
        return [*checks, *rest, *tool_checks(tools_for(settings))]
    except AgenticIQAError as error:
        return [*checks, *rest, Check("tools", False, str(error), "agenticiqa tools")]


def settings_checks(settings: Settings) -> list[Check]:
    """Where the settings come from, which model each role uses, whether it is still served, and changed addresses."""
    from datetime import date

    from agenticiqa.config import ADDRESS_VARIABLES, ROLES
    from agenticiqa.logs import redact
    from agenticiqa.vlm_client.models import retired

    roles = {name: settings.role(name) for name in ROLES}
    checks = [
        Check("settings", True, " < ".join(settings.sources)),
        Check("backends", True, ", ".join(f"{name} {role.backend}" for name, role in roles.items())),
    ]
    for provider, url in settings.base_urls.items():
        checks.append(Check(f"address {provider}", True, f"{redact(url)} ({ADDRESS_VARIABLES[provider]})"))
    used = dict.fromkeys(name for role in roles.values() for name in (role.backend, role.fallback_backend) if name)
    for backend in used:
        ended = retired(backend)
        if ended is not None:
            gone = ended.ends <= date.today()
            said = f"{'retired' if gone else 'ends'} on {ended.ends}" + ("" if ended.verified else " (not verified)")
            checks.append(Check(f"model {backend}", not gone, said, f"use {ended.use}"))
    return checks


def tool_checks(registry: ToolRegistry) -> list[Check]:
    """How many tools run and vote; those that do not, with the remedy, tools of the same remedy together."""
    names = registry.names()
    missing = {name: registry.available(name) for name in names}
    waiting = [name for name in names if missing[name] is None and registry.get(name).to_fetch()]
    running = [name for name in names if missing[name] is None and name not in waiting]
    voting = [name for name in running if registry.votes(name)]
    by_ladder = [name for name in voting if (curve := registry.calibration(name)) and curve.method == "ladder"]
    count = f"{len(running)} of {len(names)} run here, {len(voting)} vote"
    count += f", {', '.join(by_ladder)} by graded damage alone" if by_ladder else ""
    checks = [Check("tools", bool(voting), count, "" if voting else "agenticiqa tools"), *_pyiqa(registry)]
    if waiting:
        said = "weights are not here; pyiqa downloads them when the tool is first used"
        checks.append(
            Check(f"tools {', '.join(waiting)}", False, said, f"agenticiqa measure PICTURE --tools {waiting[-1]}")
        )
    reasons: dict[str, list[str]] = {}
    for name, reason in missing.items():
        if reason is not None:
            reasons.setdefault(reason.removeprefix(f"{name} "), []).append(name)
    checks += [
        Check(f"tools {', '.join(idle)}", False, reason, reason.rpartition("; ")[2].removeprefix("install it with: "))
        for reason, idle in reasons.items()
    ]
    silent = {name for name in names if registry.card(name).role == "attribute"}
    mute = [name for name in running if name not in voting and name not in silent]
    for name in mute:
        if registry.is_calibrated_on_first_use(name):
            said, remedy = "runs; it gets its curve and its vote when it is first used", f"calibrate --ladder {name}"
            checks.append(Check(f"tool {name}", True, said, f"agenticiqa {remedy}"))
        else:
            said = f"runs, but cannot vote: {registry.refusal(name) or 'it has no curve'}"
            checks.append(Check(f"tool {name}", False, said, "agenticiqa calibrate --manifest RATINGS"))
    return checks


def _pyiqa(registry: ToolRegistry) -> list[Check]:
    """Whether the installed pyiqa can be loaded, and how many of its further metrics have what they need."""
    from agenticiqa.tools.catalogue import other_metrics
    from agenticiqa.tools.pyiqa_adapter import import_failure

    others = other_metrics(registry)
    if not others:
        return []
    failure = import_failure()
    if failure is not None:
        remedy = "install torch, torchvision and pyiqa of versions that fit each other"
        return [Check("pyiqa", False, f"is installed and cannot be loaded: {failure}", remedy)]
    here = sum(registry.available(name) is None and not registry.get(name).to_fetch() for name in others)
    said = f"{len(others)} more metrics by name (pyiqa:NAME), {here} of them without a download"
    return [Check("pyiqa", True, said, "agenticiqa tools")]


def extra_checks() -> list[Check]:
    """Which optional dependencies are there, what each is for, and how to install those that are missing."""
    checks = []
    for extra, (purpose, modules) in EXTRAS.items():
        missing = [module for module in modules if not is_installed(module)]
        lacking = "not installed" if len(missing) == len(modules) else f"incomplete, without {', '.join(missing)}"
        remedy = f"pip install 'agenticiqa[{extra}]'" if missing else ""
        checks.append(
            Check(f"extra {extra}", not missing, f"{lacking if missing else 'installed'} ({purpose})", remedy)
        )
    if sum(not check.ok for check in checks) > 1:
        checks.append(Check("extra all", False, "all of these at once", "pip install 'agenticiqa[all]'"))
    return checks
