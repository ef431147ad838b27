"""`agenticiqa report`: results as a page people look at."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from agenticiqa.cli.shared_options import ConfigFile, effective_settings
from agenticiqa.logs import printable


def report(
    results: Annotated[Path, typer.Argument(help="Results: JSON Lines, or the JSON of one assessment.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write.")] = Path("report.html"),
    title: Annotated[str | None, typer.Option(help="Heading of the page.")] = None,
    pictures: Annotated[int, typer.Option(min=0, help="How many of the worst and of the best images are shown.")] = 12,
    maps: Annotated[bool, typer.Option("--maps/--no-maps", help="Draw quality maps beside them.")] = True,
    config: ConfigFile = None,
) -> None:
    """Write one self-contained HTML page about results: charts, worst and best images, failures, every record.

    \b
    Examples:
      agenticiqa report results.jsonl -o report.html
      agenticiqa report results.jsonl --pictures 3 --no-maps --title "Nightly check"
    """
    from agenticiqa.report.page import write_report

    store = effective_settings(config).image_store()
    count = write_report(results, output, title=title, shown=pictures, with_maps=maps, store=store)
    typer.echo(printable(f"{count} {'result' if count == 1 else 'results'} written to {output}"))
