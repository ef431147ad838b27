"""`agenticiqa serve`: the service and its page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from agenticiqa.cli import shared_options as shared


def serve(
    host: Annotated[
        str, typer.Option(help="Address to listen on; others than this machine's need a token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = 8080,
    token_file: Annotated[
        Path | None, typer.Option(help="File with the token clients must send; or $AGENTICIQA_TOKEN.")
    ] = None,
    allow_anonymous: Annotated[
        bool, typer.Option("--allow-anonymous", help="Let other machines use the service without a token.")
    ] = False,
    allow_host: Annotated[
        list[str] | None, typer.Option(help="Host name under which the service may be called.")
    ] = None,
    allow_folder: Annotated[list[Path] | None, typer.Option(help="Folder whose images may be named by path.")] = None,
    folder: Annotated[Path | None, typer.Option(help="Where runs are kept; default: the user's cache folder.")] = None,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Worker processes.")] = 2,
    queue: Annotated[int, typer.Option(min=1, help="Runs that may wait; more get 429.")] = 32,
    max_megabytes: Annotated[int, typer.Option(min=1, help="Largest request.")] = 64,
    max_megapixels: Annotated[int, typer.Option(min=1, help="Largest image.")] = 50,
    time_limit: Annotated[float, typer.Option(min=1, help="Seconds a run may take per image.")] = 120,
    read_timeout: Annotated[
        float, typer.Option(min=0.1, help="Seconds an upload may pause before it is cut off.")
    ] = 15,
    header_timeout: Annotated[
        float, typer.Option(min=0.1, help="Seconds in which a request's header has to arrive.")
    ] = 10,
    max_connections: Annotated[
        int, typer.Option(min=8, help="Connections at once, half of them from one address.")
    ] = 512,
    rate_limit: Annotated[int, typer.Option(min=0, help="Uploads a minute from one address; 0: no limit.")] = 0,
    grace: Annotated[float, typer.Option(min=0, help="Seconds runs have left after SIGTERM.")] = 20,
    keep_days: Annotated[float, typer.Option(min=0, help="Days runs are kept.")] = 7,
    keep_megabytes: Annotated[int, typer.Option(min=1, help="Most the runs may occupy.")] = 2048,
    config: shared.ConfigFile = None,
    backend: shared.Backend = None,
    offline: shared.Offline = False,
    trust_folder: shared.TrustFolder = False,
    verbose: shared.Verbose = False,
) -> None:
    """Serve the page and the REST interface, on this machine only unless told otherwise.

    \b
    Examples:
      agenticiqa serve
      agenticiqa serve --port 0 --allow-folder photos
      agenticiqa serve --host 0.0.0.0 --token-file token.txt
    """
    from agenticiqa.errors import MissingExtraError

    try:
        from agenticiqa.server.running import serve as run_service
        from agenticiqa.server.service_options import ServiceOptions
    except ModuleNotFoundError as error:
        raise MissingExtraError("the service", "server") from error
    settings = shared.effective_settings(config, backend, offline, trust_folder=trust_folder)
    shared.start_logging(settings, verbose)
    options = ServiceOptions(
        host=host,
        port=port,
        token=read_token(token_file),
        allow_anonymous=allow_anonymous,
        allow_hosts=tuple(allow_host or ()),
        allow_folders=tuple(allow_folder or ()),
        folder=folder,
        workers=workers,
        queue=queue,
        max_request_megabytes=max_megabytes,
        max_megapixels=max_megapixels,
        time_limit=time_limit,
        read_timeout=read_timeout,
        header_timeout=header_timeout,
        max_connections=max_connections,
        max_connections_per_address=max_connections // 2,
        requests_per_minute=rate_limit,
        grace=grace,
        keep_days=keep_days,
        keep_megabytes=keep_megabytes,
    )
    run_service(options, settings, lambda address: typer.echo(f"AgenticIQA listens on {address}"))


def read_token(file: Path | None) -> str | None:
    """The token of the file, else of $AGENTICIQA_TOKEN; None when there is neither."""
    from agenticiqa.config import service_token
    from agenticiqa.errors import UsageError

    if file is None:
        return service_token()
    try:
        token = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file}: the token cannot be read; name a text file that holds it") from error
    if not token:
        raise UsageError(f"{file}: is empty; put the token into it")
    return token
