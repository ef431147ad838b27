"""`agenticiqa cache`: what is kept of model replies and tool results, and forgetting it."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from agenticiqa.cli.shared_options import AsJson, ConfigFile, effective_settings

cache_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Look at or empty the cache.")


@cache_app.command()
def stats(config: ConfigFile = None, as_json: AsJson = False) -> None:
    """Print where the cache is and what it holds.

    \b
    Examples:
      agenticiqa cache stats
      agenticiqa cache stats --json
    """
    from agenticiqa.tools.catalogue import open_cache

    cache = open_cache(effective_settings(config))
    held = {name: {"entries": found.entries, "bytes": found.bytes} for name, found in cache.statistics().items()}
    if as_json:
        typer.echo(json.dumps({"file": str(cache.path), "max_bytes": cache.max_bytes, "namespaces": held}, indent=2))
        return
    typer.echo(f"{cache.path} (at most {cache.max_bytes / 1e6:.0f} MB)")
    for name, sizes in held.items():
        typer.echo(f"  {name}: {sizes['entries']} entries, {sizes['bytes'] / 1e6:.2f} MB")
    if not held:
        typer.echo("  empty")


@cache_app.command()
def clear(
    namespace: Annotated[str | None, typer.Argument(help="Only this part, as `cache stats` names it.")] = None,
    config: ConfigFile = None,
) -> None:
    """Forget everything kept, or one part of it. The next runs compute and ask again.

    \b
    Examples:
      agenticiqa cache clear
      agenticiqa cache clear replies
    """
    from agenticiqa.errors import UsageError
    from agenticiqa.tools.catalogue import open_cache

    cache = open_cache(effective_settings(config))
    held = cache.statistics()
    parts = sorted({"replies", "tools", *held})
    if namespace is not None and namespace not in parts:
        raise UsageError(f"the cache has no part named {namespace!r}; there are: {', '.join(parts)}")
    gone = sum(found.entries for name, found in held.items() if namespace in (None, name))
    cache.clear(namespace)
    typer.echo(f"{gone} entries forgotten in {cache.path}")
