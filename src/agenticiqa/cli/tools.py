"""`agenticiqa tools`: every IQA tool, whether it runs here, whether it votes, and how to read it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agenticiqa.cli.options import AsJson, ConfigFile, effective_settings

if TYPE_CHECKING:
    from agenticiqa.tools import ToolRegistry


def tools(
    names: Annotated[list[str] | None, typer.Argument(help="Only these tools; default: all.")] = None,
    config: ConfigFile = None,
    as_json: AsJson = False,
) -> None:
    """List the IQA tools with availability, direction, range, licence and strengths.

    \b
    Examples:
      agenticiqa tools
      agenticiqa tools PSNR AIQA_NR
      agenticiqa tools --json
    """
    from agenticiqa.parts import tools_for

    registry = tools_for(effective_settings(config))
    rows = [_describe(registry, name) for name in names] if names else describe_tools(registry)
    if as_json:
        typer.echo(json.dumps(rows, indent=2, ensure_ascii=False))
    else:
        _print_table(rows)


def describe_tools(registry: ToolRegistry) -> list[dict[str, Any]]:
    """One entry per tool, in the catalogue's order."""
    return [_describe(registry, name) for name in registry.names()]


def _describe(registry: ToolRegistry, name: str) -> dict[str, Any]:
    card, calibration, missing = registry.card(name), registry.calibration(name), registry.available(name)
    return {
        "name": card.name,
        "reference": card.reference,
        "available": missing is None,
        "reason": missing,
        "votes": registry.votes(name),
        "why_not": _why_not(registry, name),
        "calibration": calibration.method if calibration else None,
        "spread": calibration.overall.spread if calibration else None,
        "higher_is_better": card.higher_is_better,
        "range": list(card.raw_range),
        "unit": card.unit,
        "licence": card.licence,
        "research_only": card.research_only or (calibration is not None and calibration.research_only),
        "strengths": list(card.strengths),
        "cost": card.cost,
        "variant": card.variant,
        "implementation": card.implementation,
    }


def _why_not(registry: ToolRegistry, name: str) -> str | None:
    if registry.votes(name):
        return None
    if registry.card(name).role == "attribute":
        return "a measured attribute"
    return f"no calibration; agenticiqa calibrate --ladder {name}"


def _print_table(rows: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("Tool", "Ref", "Runs here", "Votes", "Better", "Range", "Licence", "Strengths")
    for row in rows:
        table.add_row(
            row["name"],
            row["reference"],
            "yes" if row["available"] else "no",
            "yes" if row["votes"] else "no",
            "higher" if row["higher_is_better"] else "lower",
            _range_text(row),
            row["licence"],
            ", ".join(row["strengths"]) or "–",
        )
    # A file or pipe has no width of its own; nothing may be cut off there.
    console = Console() if Console().is_terminal else Console(width=160)
    console.print(table)
    for line in _footnotes(rows):
        typer.echo(line)


def _range_text(row: dict[str, Any]) -> str:
    low, high = ("…" if end is None else f"{end:g}" for end in row["range"])
    return f"{low} to {high} {row['unit']}".rstrip()


def _footnotes(rows: list[dict[str, Any]]) -> list[str]:
    """Why tools do not run or vote, each remedy said once with all tools it would help."""
    reasons: dict[str, list[str]] = {}
    for row in rows:
        if not row["available"]:
            reason = str(row["reason"]).removeprefix(f"{row['name']} ")
            reasons.setdefault(f"does not run: {reason}", []).append(row["name"])
        elif not row["votes"]:
            reason = str(row["why_not"]).replace(row["name"], "NAME")
            reasons.setdefault(f"does not vote: {reason}", []).append(row["name"])
    return [f"{', '.join(names)} — {reason}" for reason, names in reasons.items()]
