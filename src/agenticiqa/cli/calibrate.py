"""`agenticiqa calibrate`: gives a tool without a curve one, so that it may vote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from agenticiqa.cli.app import writing_to
from agenticiqa.cli.options import AsJson, ConfigFile


def calibrate(
    ladder: Annotated[str, typer.Option("--ladder", metavar="TOOL", help="The tool to calibrate on graded damage.")],
    count: Annotated[
        int | None, typer.Option("--photographs", min=1, help="Use only this many; quicker for slow tools.")
    ] = None,
    overlay: Annotated[
        Path | None, typer.Option("--overlay", help="File to store the curve in; default: the settings' overlay.")
    ] = None,
    config: ConfigFile = None,
    as_json: AsJson = False,
) -> None:
    """Fit a tool's curve without ratings: damage bundled photographs step by step and ask calibrated tools.

    \b
    Examples:
      agenticiqa calibrate --ladder PSNR --photographs 1
    """
    from agenticiqa.config import load_settings
    from agenticiqa.parts import tools_for
    from agenticiqa.tools import default_registry
    from agenticiqa.tools.catalogue import store_calibration
    from agenticiqa.tools.ladder import build_ladders, calibrate_by_ladder, photographs

    settings = load_settings(config, {"pipeline": {"tools_overlay": str(overlay)}} if overlay else None)
    tool = tools_for(settings).get(ladder)
    # Only the tool itself is added: published metrics judge, not models fitted on ladders like these.
    registry, name = default_registry(settings, more=[tool]), tool.name
    found = calibrate_by_ladder(registry, name, build_ladders(list(photographs().values())[:count]))
    path = settings.tools_overlay_path()
    with writing_to(path):
        store_calibration(path, name, found)
    if as_json:
        entry = found.model_dump(mode="json", by_alias=True)
        typer.echo(json.dumps({"tool": name, "file": str(path), **entry}, indent=2, ensure_ascii=False))
        return
    curve = found.overall
    typer.echo(f"{name}: calibrated by ladder on {found.data}")
    typer.echo(f"rank correlation with the judges {curve.srcc:.3f}, spread {curve.spread:.2f} points of 5")
    typer.echo(f"stored in {path}; {name} votes from now on")
