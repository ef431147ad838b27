"""The command line's frame: errors become one sentence and an exit code, commands are loaded when they are called."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from agenticiqa.errors import AgenticIQAError, cannot_write
from agenticiqa.logs import printable, printable_lines

INTERRUPTED_CODE = 130
"""What shells expect of a program that Ctrl-C ended."""
GATED = ("assess", "batch")
"""Their exit code is a verdict, and a reader who leaves early must not turn it into a pass."""


class FriendlyGroup(TyperGroup):
    """A command group whose errors are sentences; `--debug` shows the traceback instead."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except AgenticIQAError as error:
            if ctx.params.get("debug"):
                raise
            lines = [f"Error: {error.message_naming('--{} {}'.format)}", *(f"  {line}" for line in error.details)]
            typer.secho(printable_lines(lines), fg="red", err=True)
            raise typer.Exit(error.exit_code) from None
        except KeyboardInterrupt:
            typer.echo("Interrupted; what was finished is kept.", err=True)
            raise typer.Exit(INTERRUPTED_CODE) from None
        except BrokenPipeError:
            # Whoever reads has read enough. Nothing more is written, also not at the end of the process.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(1 if ctx.invoked_subcommand in GATED else 0) from None
        except OSError as error:
            if error.filename is None:
                raise
            typer.secho(printable(f"Error: {error.filename}: {error.strerror}; check the name"), fg="red", err=True)
            raise typer.Exit(1) from None


def version_text() -> str:
    from importlib.metadata import version

    return version("agenticiqa")


def show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"agenticiqa {version_text()}")
        raise typer.Exit


@contextmanager
def writing_to(path: Path) -> Iterator[None]:
    """Turns the failure to write a file into a sentence that names it."""
    try:
        yield
    except OSError as error:
        raise cannot_write(path, error) from error
