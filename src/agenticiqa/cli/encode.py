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
    settings = effective_settings(config)
    if html is not None:
        require_folder_of(html)
    if background is not None:
        require_colour(background)
    if source.is_dir():
        wish = Wish(format or "webp", min_score, maps, step, background, strip)
        raise typer.Exit(_folder(source, output, wish, html, concurrency, force, settings, as_json, quiet))
    require_folder_of(output)
    chosen = _format_of(source, output, format)
    typer.echo(_single(source, output, Wish(chosen, min_score, maps, step, background, strip), settings, as_json))


def require_colour(name: str) -> None:
    """Raises UsageError before the work when there is no colour of this name."""
    from agenticiqa.encode.originals import background_colour

    background_colour(name)


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
    background: str | None
    strip: bool


def _single(source: Path, output: Path, wish: Wish, settings: Settings, as_json: bool) -> str:
    from agenticiqa.encode.folders import MAP_SUFFIX, loss_map
    from agenticiqa.encode.searching import encode as find_smallest
    from agenticiqa.encode.searching import original_bytes, shipped_judge
    from agenticiqa.images import load_image

    original = load_image(source)
    judge = shipped_judge(settings.pipeline.terms)
    found = find_smallest(
        source, wish.format, wish.min_score, judge=judge, step=wish.step,
        background=wish.background, strip=wish.strip,
    )  # fmt: skip
    with writing_to(output):
        output.write_bytes(found.data)
        if wish.maps:
            loss_map(found.original, found.pixels).save(output.with_suffix(MAP_SUFFIX))
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
    force: bool,
    settings: Settings,
    as_json: bool,
    quiet: bool,
) -> int:
    from agenticiqa.encode.folders import encode_folder, encoded_rows, report_page
    from agenticiqa.report.writing import write_whole

    with shown_batch(quiet) as on_progress, stopping_on_signals(quiet) as stop:
        summary = encode_folder(
            source, output, wish.format, wish.min_score, settings=settings, maps=wish.maps,
            concurrency=concurrency, step=wish.step, background=wish.background, strip=wish.strip,
            force=force, stop=stop, on_progress=on_progress,
        )  # fmt: skip
    rows = list(encoded_rows(output))
    if html is not None:
        write_whole(html, report_page(output, wish.format, wish.min_score))
    told = [{name: value for name, value in row.items() if name != "map"} for row in rows]
    typer.echo(json.dumps(told, indent=2) if as_json else _in_words(rows))
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
