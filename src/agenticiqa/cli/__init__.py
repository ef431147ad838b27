"""The `agenticiqa` command."""

from __future__ import annotations

from typing import Annotated

import typer

from agenticiqa.cli.app import FriendlyGroup, show_version
from agenticiqa.cli.config import config_app
from agenticiqa.cli.doctor import doctor

app = typer.Typer(
    cls=FriendlyGroup,
    no_args_is_help=True,
    help="Answers any question about the quality of an image, and shows its evidence.",
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show a traceback when something fails.")] = False,
) -> None:
    """Options that stand before the command."""


app.add_typer(config_app, name="config")
app.command()(doctor)


def main() -> None:
    """Entry point of the console script."""
    app()
