"""`agenticiqa compare`: several images from the best to the worst, and how sure that is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from agenticiqa.cli import shared_options as shared
from agenticiqa.cli.terminal import shown_progress
from agenticiqa.logs import printable_json


def compare(
    images: Annotated[list[Path], typer.Argument(help="Two or more images.")],
    query: Annotated[
        str | None,
        typer.Option(help='What to compare by ("Which one is the noisiest?"); default: the quality.'),
    ] = None,
    reference: Annotated[Path | None, typer.Option("--reference", "-r", help="The original of all of them.")] = None,
    align: Annotated[
        Literal["resize"] | None, typer.Option(help="Scale a reference of another size to each image's.")
    ] = None,
    config: shared.ConfigFile = None,
    backend: shared.Backend = None,
    mode: shared.Mode = None,
    offline: shared.Offline = False,
    trust_folder: shared.TrustFolder = False,
    as_json: shared.AsJson = False,
    verbose: shared.Verbose = False,
    quiet: shared.Quiet = False,
) -> None:
    """Rank images by quality. Between 25 and 75 % probability there is no clear difference.

    Exit code 1 when an image got no score.

    \b
    Examples:
      agenticiqa compare photo.jpg compressed.jpg
      agenticiqa compare photo.jpg compressed.jpg --reference original.png --json
    """
    from agenticiqa.assessor import Assessor

    settings = shared.effective_settings(config, backend, offline, mode=mode, trust_folder=trust_folder)
    with shown_progress(quiet, verbose) as on_event:
        shared.start_logging(settings, verbose, quiet)
        ranking = Assessor(settings).compare(images, query, reference=reference, align=align, on_event=on_event)
    typer.echo(printable_json(ranking.to_json()) if as_json else str(ranking))
    if any(entry.rank is None for entry in ranking.entries):
        raise typer.Exit(1)
