"""The command line's frame: errors become one sentence and an exit code, commands are loaded when they are called."""

from __future__ import annotations

import sys
from importlib.metadata import version
from typing import Any

import typer
from typer.core import TyperGroup

from agenticiqa.errors import AgenticIQAError


class FriendlyGroup(TyperGroup):
    """A command group whose errors are sentences; `--debug` shows the traceback instead."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except AgenticIQAError as error:
            if ctx.params.get("debug"):
                raise
            typer.secho(f"Error: {error}", fg="red", err=True)
            raise typer.Exit(error.exit_code) from None
        except KeyboardInterrupt:
            typer.echo("Interrupted; what was finished is kept.", err=True)
            raise typer.Exit(130) from None


def version_text() -> str:
    """The installed version."""
    return version("agenticiqa")


def show_version(wanted: bool) -> None:
    """Prints the version and ends, when wanted."""
    if wanted:
        typer.echo(f"agenticiqa {version_text()}")
        raise typer.Exit


def is_terminal() -> bool:
    """Whether a person is watching."""
    return sys.stdout.isatty()
