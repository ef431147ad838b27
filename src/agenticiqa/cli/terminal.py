"""What commands show on a terminal: tables on standard output, and on stderr how far the agent or a batch has come."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from types import FrameType
from typing import TYPE_CHECKING

import typer

from agenticiqa.logs import printable

if TYPE_CHECKING:
    from agenticiqa.batch import BatchProgress
    from agenticiqa.nodes.context import ProgressEvent

_SECONDS_BETWEEN_LINES = 10.0
# Pictures that are named of those left.
_NAMED = 5
# What the agent is doing, for those who do not know its parts.
_STEPS = {"planner": "reading the question", "executor": "looking at the picture", "summarizer": "answering"}


@contextmanager
def shown_progress(quiet: bool = False, verbose: bool = False) -> Iterator[Callable[[ProgressEvent], None] | None]:
    """A listener for the agent's events; None when quiet, or where no one watches and the steps were not asked for."""
    if quiet or not (verbose or sys.stderr.isatty()):
        yield None
    elif not sys.stderr.isatty():
        yield lambda event: typer.echo(in_a_line(event), err=True)
    else:
        with _moving_line() as show:
            yield lambda event: show(in_a_line(event) if verbose else _STEPS[event.node])


@contextmanager
def shown_count(quiet: bool = False) -> Iterator[Callable[[int, int], None] | None]:
    """A listener for how many of how many are done; None when quiet."""
    if quiet:
        yield None
    elif not sys.stderr.isatty():
        yield lambda done, of: typer.echo(f"{done} of {of}", err=True) if done % 100 == 0 or done == of else None
    else:
        with _moving_line() as show:
            yield lambda done, of: show(f"{done} of {of}")


@contextmanager
def _moving_line() -> Iterator[Callable[[str], None]]:
    """Shows a text in place of the last one; what is logged to stderr meanwhile is printed above it."""
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status(Text("starting")) as status:
        yield lambda text: status.update(Text(text))


def in_a_line(event: ProgressEvent) -> str:
    step = f"{event.node}: {event.subtask}" if event.subtask else event.node
    again = f" (pass {event.iteration + 1})" if event.iteration else ""
    took = "" if event.seconds is None else f" ({event.seconds:.2f} s)"
    return f"{step}{again} {event.status}{took}"


def print_table(headings: Sequence[str], rows: Iterable[Sequence[str]], piped_width: int) -> None:
    """Prints the cells as they are, wrapped to the terminal, or to this width where there is none."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*headings)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    # A file or pipe has no width of its own; nothing may be cut off there.
    console = Console() if Console().is_terminal else Console(width=piped_width)
    with console.capture() as drawn:
        console.print(table)
    # Rich itself would end the process with 1 when the reader has gone.
    typer.echo(drawn.get(), nl=False)


@contextmanager
def shown_batch(quiet: bool = False) -> Iterator[Callable[[BatchProgress], None] | None]:
    """A listener for the batch's progress; None when quiet."""
    if quiet:
        yield None
    elif not sys.stderr.isatty():
        yield _lines_now_and_then()
    else:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}", markup=False))
        with Progress(*columns, console=Console(stderr=True)) as bar:
            task = bar.add_task("starting", total=None)
            yield lambda progress: bar.update(
                task, total=progress.samples, completed=_finished(progress), description=_details(progress)
            )


@contextmanager
def stopping_on_signals(quiet: bool = False) -> Iterator[Callable[[], bool]]:
    """Says whether Ctrl-C or a request to terminate has come; a second one interrupts at once."""
    asked: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        if asked:
            raise KeyboardInterrupt
        asked.append(number)
        if not quiet:
            typer.echo("Finishing the samples under way; Ctrl-C again drops them.", err=True)

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: bool(asked)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def tell_what_is_left(names: Iterable[object]) -> None:
    """Says after an interruption how many pictures are left, and names the first."""
    left = [*names]
    more = ", …" if len(left) > _NAMED else ""
    named = ", ".join(printable(name) for name in left[:_NAMED])
    typer.echo(f"Interrupted; {len(left)} left: {named}{more}. The same command again goes on.", err=True)


def money(cost: float | None) -> str:
    return "cost unknown" if cost is None else f"{cost:.4f} USD"


def _finished(progress: BatchProgress) -> int:
    return progress.done_before + progress.answered + progress.failed


def _details(progress: BatchProgress) -> str:
    left = progress.seconds_left
    time_left = "time left unknown" if left is None else f"{timedelta(seconds=round(left))} left"
    # An audit or an encoding asks no model, and has no cost to tell.
    cost = f", {money(progress.cost_usd)}" if progress.calls else ""
    return f"{progress.rate:.1f}/s, {time_left}, {progress.failed} failed{cost}"


def _lines_now_and_then() -> Callable[[BatchProgress], None]:
    last = -_SECONDS_BETWEEN_LINES

    def tell(progress: BatchProgress) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _SECONDS_BETWEEN_LINES or _finished(progress) == progress.samples:
            last = now
            typer.echo(f"{_finished(progress)} of {progress.samples}, {_details(progress)}", err=True)

    return tell
