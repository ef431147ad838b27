"""The `agenticiqa` command."""

from __future__ import annotations

import atexit
import gc
import importlib
import os
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agenticiqa.cli.command_frame import FriendlyGroup, show_version

if TYPE_CHECKING:
    app: typer.Typer

# Each is the name of a module here and of a function in it, in the order of the help.
COMMANDS = (
    "assess", "compare", "measure", "batch", "audit", "sort", "encode", "report", "tools", "serve", "mcp", "evaluate",
    "calibrate", "graph", "doctor",
)  # fmt: skip
GROUPS = ("config", "cache")
# Objects made and not yet freed from which garbage is looked for.
GARBAGE_FROM = 50_000
# What is over before as many are made needs no search at all.
OF_ONE_PICTURE, NEVER = ("assess", "measure"), 1_000_000


def main() -> None:
    """Entry point of the console script."""
    first = sys.argv[1] if len(sys.argv) > 1 else ""
    # Matrices here are small: threads for them would burn more of the processor than they save time.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Loading makes many objects that stay: looking for garbage among them every 700 is wasted.
    gc.set_threshold(NEVER if first in OF_ONE_PICTURE else GARBAGE_FROM, 20, 50)
    # The end of the process frees all of them at once: looking for garbage before it takes a third of a second.
    atexit.register(gc.freeze)
    # Reading the options of all the others would take longer than starting the one command that is called.
    app = build_app((first,)) if first in (*COMMANDS, *GROUPS) else build_app()
    app()


def build_app(names: tuple[str, ...] = (*COMMANDS, *GROUPS)) -> typer.Typer:
    """The command line with these commands and groups."""
    built = typer.Typer(
        cls=FriendlyGroup,
        no_args_is_help=True,
        help="Answers questions about the quality of an image, and shows its evidence.",
        context_settings={"help_option_names": ["-h", "--help"]},
        pretty_exceptions_enable=False,
        # Plain help: loading Rich would take longer than printing the text.
        rich_markup_mode=None,
    )
    built.callback()(options)
    for name in names:
        module = importlib.import_module(f"agenticiqa.cli.{name}")
        if name in GROUPS:
            built.add_typer(getattr(module, f"{name}_app"), name=name)
        else:
            built.command()(getattr(module, name))
    return built


def options(
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show a traceback when something fails.")] = False,
) -> None:
    """Options that stand before the command."""


def __getattr__(name: str) -> Any:
    """`app`, the whole command line, built when it is first asked for."""
    if name != "app":
        raise AttributeError(f"module 'agenticiqa.cli' has no attribute {name!r}")
    globals()["app"] = build_app()
    return globals()["app"]
