"""The `agenticiqa` command."""

from __future__ import annotations

from typing import Annotated

import typer

from agenticiqa.cli.app import FriendlyGroup, show_version
from agenticiqa.cli.assess import assess
from agenticiqa.cli.audit import audit
from agenticiqa.cli.batch import batch
from agenticiqa.cli.cache import cache_app
from agenticiqa.cli.calibrate import calibrate
from agenticiqa.cli.compare import compare
from agenticiqa.cli.config import config_app
from agenticiqa.cli.doctor import doctor
from agenticiqa.cli.encode import encode
from agenticiqa.cli.evaluate import evaluate
from agenticiqa.cli.graph import graph
from agenticiqa.cli.mcp import mcp
from agenticiqa.cli.measure import measure
from agenticiqa.cli.report import report
from agenticiqa.cli.serve import serve
from agenticiqa.cli.tools import tools

app = typer.Typer(
    cls=FriendlyGroup,
    no_args_is_help=True,
    help="Answers questions about the quality of an image, and shows its evidence.",
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    # Plain help: loading Rich would take longer than printing the text.
    rich_markup_mode=None,
)


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show a traceback when something fails.")] = False,
) -> None:
    """Options that stand before the command."""


app.command()(assess)
app.command()(compare)
app.command()(measure)
app.command()(batch)
app.command()(audit)
app.command()(encode)
app.command()(report)
app.command()(tools)
app.command()(serve)
app.command()(mcp)
app.command()(evaluate)
app.command()(calibrate)
app.command()(graph)
app.command()(doctor)
app.add_typer(config_app, name="config")
app.add_typer(cache_app, name="cache")


def main() -> None:
    """Entry point of the console script."""
    app()
