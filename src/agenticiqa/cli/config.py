"""`agenticiqa config`: what is in force, and whether a file can be used."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from agenticiqa.cli.shared_options import AsJson, ConfigFile

config_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Show or check the settings.")


@config_app.command()
def show(config: ConfigFile = None, as_json: AsJson = False) -> None:
    """Print the settings in force and where they came from. API keys are never printed.

    \b
    Examples:
      agenticiqa config show
      agenticiqa config show --json
    """
    import yaml

    from agenticiqa.config import load_settings

    settings = load_settings(config, trust_folder=True)
    if as_json:
        typer.echo(settings.model_dump_json(indent=2))
        return
    typer.echo("# from: " + " < ".join(settings.sources))
    typer.echo(yaml.safe_dump(settings.model_dump(mode="json"), sort_keys=False).rstrip())


@config_app.command()
def check(
    file: Annotated[Path | None, typer.Argument(help="Settings file; default: the one that would be used.")] = None,
) -> None:
    """Check a settings file; exit code 2 with file, key and remedy when something is wrong.

    \b
    Examples:
      agenticiqa config check configs/model_backends.yaml
    """
    from agenticiqa.config import load_settings

    settings = load_settings(file, trust_folder=True)
    typer.echo(f"ok: {' < '.join(settings.sources)}")
