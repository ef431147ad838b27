"""`agenticiqa encode`: the smallest file at a quality."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from agenticiqa.cli.command_frame import require_folder_of, writing_to
from agenticiqa.cli.shared_options import AsJson, ConfigFile, Quiet, effective_settings
from agenticiqa.cli.terminal import shown_batch, stopping_on_signals
from agenticiqa.errors import UsageError

if TYPE_CHECKING:
    from agenticiqa.config import Settings

Format = Literal["webp", "avif", "jpeg"]
SUFFIXES: dict[str, Format] = {".webp": "webp", ".avif": "avif", ".jpg": "jpeg", ".jpeg": "jpeg"}


def encode(
    source: Annotated[Path, typer.Argument(metavar="IN", help="An image, or a folder of images.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write, or the folder.")],
    min_score: Annotated[float, typer.Option("--min-score", min=1, max=5, help="The least score from 1 to 5.")],
    format: Annotated[
        Format | None, typer.Option("--format", help="Default: by the output's suffix, webp for a folder.")
    ] = None,
    maps: Annotated[bool, typer.Option("--map", help="Also draw where each copy differs (NAME.loss.png).")] = False,
    html: Annotated[Path | None, typer.Option("--html", help="Also write a page about a folder.")] = None,
    step: Annotated[int, typer.Option("--step", min=1, max=25, help="Distance of the qualities tried.")] = 1,
    concurrency: Annotated[int | None, typer.Option("--concurrency", "-j", min=1, help="Pictures at once.")] = None,
    config: ConfigFile = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Find the smallest WebP, AVIF or JPEG whose score against the original is still high enough.

    Exit codes: 0 written, 1 some failed, 2 wrong request, 3 no quality reaches the score.

    \b
    Examples:
      agenticiqa encode original.png -o small.webp --min-score 4
      agenticiqa encode originals/ -o encoded --format jpeg --min-score 3 --step 25 --map --html encoded.html
    """
    settings = effective_settings(config)
    if html is not None:
        require_folder_of(html)
    if source.is_dir():
        wish = Wish(format or "webp", min_score, maps or html is not None, step)
        raise typer.Exit(_folder(source, output, wish, html, concurrency, settings, as_json, quiet))
    require_folder_of(output)
    chosen = _format_of(source, output, format)
    typer.echo(_single(source, output, Wish(chosen, min_score, maps, step), settings, as_json))


def _format_of(source: Path, output: Path, wanted: Format | None) -> Format:
    """The format the output's name stands for; UsageError where another one is wanted or it is the original itself."""
    if output.exists() and source.exists() and output.samefile(source):
        raise UsageError(f"{output} is the original; choose another output")
    named = SUFFIXES.get(output.suffix.lower())
    if named is None:
        raise UsageError(f"{output}: a copy is .webp, .avif or .jpg; name it so")
    if wanted is not None and wanted != named:
        raise UsageError(f"{output} is named as {named} and --format is {wanted}; make them agree")
    return named


@dataclass(frozen=True)
class Wish:
    """What files are wanted."""

    format: Format
    min_score: float
    maps: bool
    step: int


def _single(source: Path, output: Path, wish: Wish, settings: Settings, as_json: bool) -> str:
    from agenticiqa.encode.folders import MAP_SUFFIX, loss_map
    from agenticiqa.encode.searching import encode as find_smallest
    from agenticiqa.encode.searching import original_bytes, shipped_judge
    from agenticiqa.images import load_image

    original = load_image(source)
    judge = shipped_judge(settings.pipeline.terms)
    found = find_smallest(source, wish.format, wish.min_score, judge=judge, step=wish.step)
    with writing_to(output):
        output.write_bytes(found.data)
        if wish.maps:
            loss_map(original.pixels, found.pixels).save(output.with_suffix(MAP_SUFFIX))
    before, after = original_bytes(original), len(found.data)
    if as_json:
        values = {"file": str(output), "format": wish.format, "quality": found.quality, "score": found.score}
        return json.dumps({**values, "bytes": after, "original_bytes": before, "tried": found.tried}, indent=2)
    saved = f"{after:,} bytes ({after / before:.0%} of {before:,})"
    return f"{output}: quality {found.quality}, {found.score:.2f} of 5, {saved}"


def _folder(
    source: Path,
    output: Path,
    wish: Wish,
    html: Path | None,
    concurrency: int | None,
    settings: Settings,
    as_json: bool,
    quiet: bool,
) -> int:
    from agenticiqa.encode.folders import encode_folder, encoded_rows, report_page
    from agenticiqa.report.writing import write_whole

    with shown_batch(quiet) as on_progress, stopping_on_signals(quiet) as stop:
        summary = encode_folder(
            source, output, wish.format, wish.min_score, settings=settings, maps=wish.maps,
            concurrency=concurrency, step=wish.step, stop=stop, on_progress=on_progress,
        )  # fmt: skip
    rows = list(encoded_rows(output))
    if html is not None:
        write_whole(html, report_page(output, wish.format, wish.min_score))
    typer.echo(json.dumps(rows, indent=2) if as_json else _in_words(rows))
    return 1 if summary.remaining else 0


def _in_words(rows: list[dict[str, Any]]) -> str:
    lines = [
        f"{row['name']}: {row['error']}"
        if row["error"] is not None
        else f"{row['name']}: quality {row['quality']}, {row['score']:.2f} of 5, {row['bytes']:,} bytes"
        for row in rows
    ]
    done = [row for row in rows if row["error"] is None]
    before, after = sum(row["original_bytes"] for row in done), sum(row["bytes"] for row in done)
    share = f" ({after / before:.0%})" if before else ""
    return "\n".join([*lines, f"{len(done)} encoded: {before:,} bytes became {after:,}{share}"])
