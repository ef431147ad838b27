"""How far a batch has come: a bar on a terminal, a line now and then elsewhere, on stderr; and how it is stopped."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from types import FrameType
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from agenticiqa.batch import BatchProgress

_SECONDS_BETWEEN_LINES = 10.0


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


def in_a_line(progress: BatchProgress) -> str:
    """The progress in words."""
    return f"{_finished(progress)} of {progress.samples}, {_details(progress)}"


def money(cost: float | None) -> str:
    """The cost in words."""
    return "cost unknown" if cost is None else f"{cost:.4f} USD"


def _finished(progress: BatchProgress) -> int:
    return progress.done_before + progress.answered + progress.failed


def _details(progress: BatchProgress) -> str:
    left = progress.seconds_left
    time_left = "time left unknown" if left is None else f"{timedelta(seconds=round(left))} left"
    return f"{progress.rate:.1f}/s, {time_left}, {progress.failed} failed, {money(progress.cost_usd)}"


def _lines_now_and_then() -> Callable[[BatchProgress], None]:
    last = -_SECONDS_BETWEEN_LINES

    def tell(progress: BatchProgress) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _SECONDS_BETWEEN_LINES or _finished(progress) == progress.samples:
            last = now
            typer.echo(in_a_line(progress), err=True)

    return tell
