"""`agenticiqa graph`: a picture of the agent's flow."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from agenticiqa.logs import printable


def graph(
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A .png, .svg or .mmd file; default: Mermaid text.")
    ] = None,
) -> None:
    """Draw the graph of planner, executor and summarizer, read off the graph itself.

    \b
    Examples:
      agenticiqa graph
      agenticiqa graph -o graph.png
      agenticiqa graph -o graph.svg
    """
    from agenticiqa.graph import visualize_graph

    if output is None:
        typer.echo(visualize_graph())
        return
    visualize_graph(output)
    typer.echo(printable(f"written to {output}"))
