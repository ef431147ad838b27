"""What the agent is doing, while it does it: one moving line on a terminal, plain lines elsewhere, on stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from agenticiqa.nodes.context import ProgressEvent


@contextmanager
def shown_progress(quiet: bool = False) -> Iterator[Callable[[ProgressEvent], None] | None]:
    """A listener for the agent's events; None when quiet."""
    if quiet:
        yield None
    elif not sys.stderr.isatty():
        yield lambda event: typer.echo(in_a_line(event), err=True)
    else:
        from rich.console import Console
        from rich.text import Text

        # While this runs, what is logged to stderr is printed above the moving line.
        with Console(stderr=True).status(Text("starting")) as status:
            yield lambda event: status.update(Text(in_a_line(event)))


def in_a_line(event: ProgressEvent) -> str:
    """The event in words."""
    step = f"{event.node}: {event.subtask}" if event.subtask else event.node
    again = f" (pass {event.iteration + 1})" if event.iteration else ""
    took = "" if event.seconds is None else f" ({event.seconds:.2f} s)"
    return f"{step}{again} {event.status}{took}"
