"""`agenticiqa tools`: every IQA tool, whether it runs here, whether it votes, and how to read it."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from agenticiqa.cli.shared_options import AsJson, ConfigFile, Offline, effective_settings
from agenticiqa.cli.terminal import print_table

HEADINGS = ("Tool", "Ref", "Runs here", "Votes", "Better", "Range", "Licence", "Strengths")


def tools(
    names: Annotated[list[str] | None, typer.Argument(help="Only these tools; default: all.")] = None,
    config: ConfigFile = None,
    offline: Offline = False,
    as_json: AsJson = False,
) -> None:
    """List the IQA tools with availability, direction, range, licence and strengths; then pyiqa's by name.

    \b
    Examples:
      agenticiqa tools
      agenticiqa tools PSNR AIQA_NR
      agenticiqa tools --json
    """
    from agenticiqa.parts import tools_for
    from agenticiqa.tools.catalogue import describe_tool, describe_tools, other_metrics

    registry = tools_for(effective_settings(config, offline=offline))
    rows = [describe_tool(registry, name) for name in names] if names else describe_tools(registry)
    others = [] if names else [describe_tool(registry, name) for name in other_metrics(registry)]
    if as_json:
        typer.echo(json.dumps([*rows, *others], indent=2, ensure_ascii=False))
        return
    print_table(HEADINGS, map(_cells, rows), piped_width=160)
    for line in [*_footnotes(rows), *_by_name(others)]:
        typer.echo(line)


def _by_name(rows: list[dict[str, Any]]) -> list[str]:
    """Those of pyiqa's metrics that the catalogue does not list, by what they still need."""
    by_state: dict[str, list[str]] = {}
    for row in rows:
        state = "after a download" if row["downloads"] else "yes"
        if "backbone" in row["variant"]:
            state += ", with a backbone that torch or timm may have to download"
        by_state.setdefault(state if row["available"] else "no, offline and without weights", []).append(row["name"])
    return [f"Also by name ({state}): {', '.join(names)}" for state, names in by_state.items()]


def _cells(row: dict[str, Any]) -> list[str]:
    low, high = ("…" if end is None else f"{end:g}" for end in row["range"])
    return [
        row["name"],
        row["reference"],
        ("after a download" if row["downloads"] else "yes") if row["available"] else "no",
        ("yes (ladder)" if row["calibration"] == "ladder" else "yes") if row["votes"] else "no",
        "higher" if row["higher_is_better"] else "lower",
        f"{low} to {high} {row['unit']}".rstrip(),
        row["licence"],
        ", ".join(row["strengths"]) or "–",
    ]


def _footnotes(rows: list[dict[str, Any]]) -> list[str]:
    """Why tools do not run or vote, each remedy said once with all tools it would help."""
    reasons: dict[str, list[str]] = {}
    for row in rows:
        if not row["available"]:
            reason = str(row["reason"]).removeprefix(f"{row['name']} ")
            reasons.setdefault(f"does not run: {reason}", []).append(row["name"])
        elif row["downloads"]:
            waiting = "has no weights here: pyiqa downloads them when it is first used, and says how large they are"
            reasons.setdefault(waiting, []).append(row["name"])
        elif not row["votes"]:
            reason = str(row["why_not"]).replace(row["name"], "NAME")
            reasons.setdefault(f"does not vote: {reason}", []).append(row["name"])
    return [f"{', '.join(names)} — {reason}" for reason, names in reasons.items()]
