"""`agenticiqa encode`: the smallest file at a quality."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from agenticiqa.cli.shared_options import AsJson, ConfigFile, Quiet, effective_settings, guard_outputs
from agenticiqa.cli.terminal import shown_batch, stopping_on_signals
from agenticiqa.errors import UsageError
from agenticiqa.outputs import replacing, require_folder_of, write_whole

if TYPE_CHECKING:
    from agenticiqa.config import Settings
    from agenticiqa.encode.folders import CopyOptions

Format = Literal["webp", "avif", "jpeg"]
SUFFIXES: dict[str, Format] = {".webp": "webp", ".avif": "avif", ".jpg": "jpeg", ".jpeg": "jpeg"}


def encode(
    source: Annotated[Path, typer.Argument(metavar="IN", help="An image, or a folder of images.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The file to write; for a folder, the folder to fill.")
    ],
    min_score: Annotated[
        float,
        typer.Option(
            "--min-score", min=1, max=5, help="How like the original it must stay: 4.2 high quality, 4 medium, 3.5 low."
        ),
    ],
    format: Annotated[
        Format | None, typer.Option("--format", help="Default: by the output's suffix; for a folder webp.")
    ] = None,
    maps: Annotated[bool, typer.Option("--map", help="Also write NAME.loss.png: where each copy differs.")] = False,
    html: Annotated[
        Path | None, typer.Option("--html", help="For a folder: a page with qualities, scores, sizes and loss maps.")
    ] = None,
    background: Annotated[
        str | None, typer.Option("--background", metavar="COLOUR", help="Fill transparent places: white, #f0f0f0.")
    ] = None,
    strip: Annotated[bool, typer.Option("--strip", help="Leave out EXIF and colour profile; store sRGB.")] = False,
    step: Annotated[
        int, typer.Option("--step", min=1, max=25, help="Try only every so many quality settings; faster, coarser.")
    ] = 1,
    concurrency: Annotated[
        int | None, typer.Option("--concurrency", "-j", min=1, help="Pictures at once; default: one per core.")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Encode again what was encoded with another score, format or step.")
    ] = False,
    config: ConfigFile = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Make pictures as small as they can be while they still look like the original.

    Tries quality settings of the encoder, scores each copy against the original (1 to 5), and keeps the smallest one
    that reaches --min-score. Originals are left alone. A folder can be interrupted: the same command finishes it,
    with what it remembers in OUTPUT/.encode.

    Transparency, colour profile and EXIF stay; animations are refused, and transparency in a JPEG without --background.
    Exit codes: 0 written, 1 some failed, 2 wrong request, 3 no quality reaches the score or the format cannot hold it.

    \b
    Examples:
      agenticiqa encode original.png -o small.webp --min-score 4
      agenticiqa encode originals/ -o encoded --format jpeg --min-score 3 --step 25 --html encoded.html
    """
    from agenticiqa.batch import open_manifest
    from agenticiqa.encode.folders import MAP_SUFFIX, CopyOptions, encode_folder, encoded_rows, report_page

    settings = effective_settings(config)
    if html is not None:
        require_folder_of(html)
    if background is not None:
        require_colour(background)
    more = (min_score, maps, step, background, strip)
    if not source.is_dir():
        require_folder_of(output)
        guard_outputs(settings, (output, output.with_suffix(MAP_SUFFIX) if maps else None), [source])
        options = CopyOptions(_format_of(output, format), *more)
        typer.echo(_single(source, output, options, settings, as_json))
        return
    options = CopyOptions(format or "webp", *more)
    guard_outputs(settings, (output, html), (sample.image_path for sample in open_manifest(source)))
    with shown_batch(quiet) as on_progress, stopping_on_signals(quiet) as stop:
        summary = encode_folder(
            source, output, options, settings=settings, concurrency=concurrency, force=force, stop=stop,
            on_progress=on_progress,
        )  # fmt: skip
    if html is not None:
        write_whole(html, report_page(output, options.format, options.min_score))
    typer.echo(_told(list(encoded_rows(output)), as_json))
    raise typer.Exit(1 if summary.remaining else 0)


def require_colour(name: str) -> None:
    """Raises UsageError before the work when there is no colour of this name."""
    from agenticiqa.encode.originals import background_colour

    background_colour(name)


def _format_of(output: Path, wanted: Format | None) -> Format:
    """The format the output's name stands for; UsageError where another one is wanted."""
    named = SUFFIXES.get(output.suffix.lower())
    if named is None:
        raise UsageError(f"{output}: a copy is .webp, .avif or .jpg; name it so")
    if wanted is not None and wanted != named:
        raise UsageError(f"{output} is named as {named} and --format is {wanted}; make them agree")
    return named


def _single(source: Path, output: Path, options: CopyOptions, settings: Settings, as_json: bool) -> str:
    from agenticiqa.encode.folders import MAP_SUFFIX, loss_map
    from agenticiqa.encode.searching import original_bytes, shipped_judge

    original = settings.image_store().open(source)
    found = options.encode(source, shipped_judge(settings.pipeline.terms))
    write_whole(output, found.data)
    if options.maps:
        with replacing(output.with_suffix(MAP_SUFFIX)) as spare:
            loss_map(found.original, found.pixels).save(spare, "PNG")
    before, after = original_bytes(original), len(found.data)
    if as_json:
        values = {"file": str(output), "format": options.format, "quality": found.quality, "score": found.score}
        return json.dumps({**values, "bytes": after, "original_bytes": before, "tried": found.tried}, indent=2)
    saved = f"{after:,} bytes ({after / before:.0%} of {before:,})"
    return f"{output}: quality {found.quality}, {found.score:.2f} of 5, {saved}"


def _told(rows: list[dict[str, Any]], as_json: bool) -> str:
    if not as_json:
        return _in_words(rows)
    return json.dumps([{name: value for name, value in row.items() if name != "map"} for row in rows], indent=2)


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
