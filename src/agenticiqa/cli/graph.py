"""`agenticiqa graph`: a picture of the agent's flow."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def graph(
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A .png, .svg or .mmd file; default: Mermaid text.")
    ] = None,
) -> None:
    """Draw the graph of planner, executor and summarizer, read off the graph itself.

    Example: agenticiqa graph -o graph.svg
    """
    from agenticiqa.graph import visualize_graph

    text = visualize_graph(output)
    typer.echo(f"written to {output}" if output else text)
