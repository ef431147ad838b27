"""`agenticiqa compare`: several images from the best to the worst, and how sure that is."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from agenticiqa.cli.assess import score_in_words
from agenticiqa.cli.shared_options import (
    AsJson,
    Backend,
    ConfigFile,
    Mode,
    Offline,
    Quiet,
    Verbose,
    effective_settings,
    start_logging,
)
from agenticiqa.cli.terminal import shown_progress
from agenticiqa.logs import printable

if TYPE_CHECKING:
    from agenticiqa.assessor import Pair, Ranking

_ALL_PAIRS_UP_TO = 4


def compare(
    images: Annotated[list[Path], typer.Argument(help="Two or more images.")],
    query: Annotated[
        str | None,
        typer.Option("--query", help='What to compare by ("Which one is the noisiest?"); default: the quality.'),
    ] = None,
    reference: Annotated[Path | None, typer.Option("--reference", "-r", help="The original of all of them.")] = None,
    align: Annotated[
        Literal["resize"] | None, typer.Option("--align", help="Scale a reference of another size to each image's.")
    ] = None,
    config: ConfigFile = None,
    backend: Backend = None,
    mode: Mode = None,
    offline: Offline = False,
    as_json: AsJson = False,
    verbose: Verbose = False,
    quiet: Quiet = False,
) -> None:
    """Rank images by quality. Between 25 and 75 % probability there is no clear difference.

    Exit code 1 when an image got no score.

    \b
    Examples:
      agenticiqa compare photo.jpg compressed.jpg
      agenticiqa compare photo.jpg compressed.jpg --reference original.png --json
    """
    from agenticiqa.assessor import Assessor

    settings = effective_settings(config, backend, offline, mode=mode)
    with shown_progress(quiet) as on_event:
        start_logging(settings, verbose, quiet)
        ranking = Assessor(settings).compare(images, query, reference, on_event, align=align)
    typer.echo(ranking.to_json() if as_json else in_words(ranking))
    if any(entry.rank is None for entry in ranking.entries):
        raise typer.Exit(1)


def in_words(ranking: Ranking) -> str:
    """The ranking as lines for a person; of many images only neighbours are set side by side."""
    places = [f"{entry.rank or '–'}. {entry.name}: {score_in_words(entry.assessment)}" for entry in ranking.entries]
    names = [entry.name for entry in ranking.entries]
    neighbours = set(pairwise(names))
    few = len(names) <= _ALL_PAIRS_UP_TO
    shown = [pair for pair in ranking.pairs if few or (pair.first, pair.second) in neighbours]
    answered = [f"Answer: {ranking.answer}"] if ranking.answer else []
    told = [] if ranking.attribute != "overall" else [pair_in_words(pair) for pair in shown]
    return printable("\n".join([*answered, *places, *told]))


def pair_in_words(pair: Pair) -> str:
    """What can be said of two images."""
    if pair.probability is None:
        return f"{pair.first} and {pair.second}: cannot be told, a score or its spread is missing"
    percent = _percent(pair.probability)
    if pair.verdict == "better":
        return f"{pair.first} is better than {pair.second} (probability {percent})"
    return f"{pair.first} and {pair.second}: no clear difference (probability that the first is better: {percent})"


def _percent(probability: float) -> str:
    """A share in percent; what is nearly certain is not called certain."""
    if probability > 0.99:
        return "> 99 %"
    return "< 1 %" if probability < 0.01 else f"{100 * probability:.0f} %"
