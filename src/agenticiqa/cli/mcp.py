"""`agenticiqa mcp`: the service for agents that speak the Model Context Protocol."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from agenticiqa.cli import shared_options as shared


def mcp(
    http: Annotated[bool, typer.Option("--http", help="Streamable HTTP on 127.0.0.1 instead of stdio.")] = False,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port of --http.")] = 8090,
    allow_folder: Annotated[
        list[Path] | None,
        typer.Option(help="Folder whose images may be named; default: this one, with --http none."),
    ] = None,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(help="Page that may call --http, such as http://localhost:6274; default: none."),
    ] = None,
    time_limit: Annotated[float, typer.Option(min=1, help="Seconds a call may take.")] = 120,
    config: shared.ConfigFile = None,
    backend: shared.Backend = None,
    offline: shared.Offline = False,
    trust_folder: shared.TrustFolder = False,
    verbose: shared.Verbose = False,
) -> None:
    """Serve tools that assess, compare, measure, audit and encode images to an agent.

    \b
    Examples:
      agenticiqa mcp
      agenticiqa mcp --allow-folder photos
      agenticiqa mcp --http --port 8090 --allow-folder photos
    """
    from agenticiqa.errors import MissingExtraError

    try:
        from agenticiqa.mcp import server
    except ModuleNotFoundError as error:
        raise MissingExtraError("the MCP server", "mcp") from error
    settings = shared.effective_settings(config, backend, offline, trust_folder=trust_folder)
    shared.start_logging(settings, verbose)
    here = Path(settings.pipeline.allowed_root or Path.cwd()).expanduser()
    folders = tuple(allow_folder) if allow_folder else () if http else (here,)
    created = server.create_server(settings, folders, time_limit)
    if http:
        # Standard output stays free of it, as with stdio.
        typer.echo(f"AgenticIQA speaks MCP at http://127.0.0.1:{port}/mcp", err=True)
        server.serve_http(created, port, tuple(allow_origin or ()))
    else:
        created.run("stdio")
