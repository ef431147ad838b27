"""`agenticiqa encode`: the smallest file at a quality."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from agenticiqa.cli.command_frame import INTERRUPTED_CODE
from agenticiqa.cli.shared_options import AsJson, ConfigFile, Quiet, effective_settings, guard_outputs
from agenticiqa.cli.terminal import shown_batch, stopping_on_signals, tell_what_is_left
from agenticiqa.errors import UsageError
from agenticiqa.logs import printable
from agenticiqa.outputs import replacing, require_folder_of, write_whole

if TYPE_CHECKING:
    from agenticiqa.config import Settings
    from agenticiqa.encode.folders import CopyOptions
    from agenticiqa.encode.searching import Metric

Format = Literal["webp", "avif", "jpeg"]
AnyFormat = Literal["webp", "avif", "jpeg", "best"]
DRY = "\nNothing was written (--dry-run)."
SUFFIXES: dict[str, Format] = {".webp": "webp", ".avif": "avif", ".jpg": "jpeg", ".jpeg": "jpeg"}


def encode(
    source: Annotated[Path, typer.Argument(metavar="IN", help="An image, or a folder of images.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The file to write; for a folder, the folder to fill.")
    ],
    min_score: Annotated[
        float | None,
        typer.Option(min=1, max=5, help="How like the original it must stay: 4.2 high quality, 4 medium, 3.5 low."),
    ] = None,
    metric: Annotated[
        Literal["ssim", "ms_ssim", "ssimulacra2"] | None,
        typer.Option(help="Judge by this measure instead of our score; needs --target."),
    ] = None,
    target: Annotated[
        float | None, typer.Option(help="What --metric must reach: 0.95 of SSIM, 70 of SSIMULACRA2.")
    ] = None,
    max_bytes: Annotated[
        int | None, typer.Option(min=1, help="The most a file may have; alone: the best that fits.")
    ] = None,
    max_side: Annotated[
        int | None, typer.Option(min=8, help="Shrink pictures whose longer side has more pixels.")
    ] = None,
    format: Annotated[
        AnyFormat | None,
        typer.Option(help="Default: by the output's suffix; for a folder webp. best: the smallest of all."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Make and judge the copies, show what they save, and write nothing.")
    ] = False,
    maps: Annotated[bool, typer.Option("--map", help="Also write NAME.loss.png: where each copy differs.")] = False,
    html: Annotated[
        Path | None, typer.Option(help="For a folder: a page with qualities, scores, sizes and loss maps.")
    ] = None,
    background: Annotated[
        str | None, typer.Option(metavar="COLOUR", help="Fill transparent places: white, #f0f0f0.")
    ] = None,
    strip: Annotated[bool, typer.Option("--strip", help="Leave out EXIF and colour profile; store sRGB.")] = False,
    step: Annotated[
        int, typer.Option(min=1, max=25, help="Try only every so many quality settings; faster, coarser.")
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

    Tries quality settings of the encoder, scores each copy against the original (1 to 5, or by --metric), and keeps
    the smallest one that reaches --min-score or --target. Originals are left alone. A folder can be interrupted: the
    same command finishes it, with what it remembers in OUTPUT/.encode.

    Transparency, colour profile and EXIF stay; animations are refused, and transparency in a JPEG without --background.
    Exit codes: 0 written, 1 some failed, 2 wrong request, 3 no quality reaches the score or the format cannot hold it.

    \b
    Examples:
      agenticiqa encode original.png -o small.webp --min-score 4
      agenticiqa encode original.png -o small --format best --min-score 4 --max-side 1600
      agenticiqa encode original.png -o small.avif --metric ssim --target 0.95 --dry-run
      agenticiqa encode originals/ -o encoded --format jpeg --min-score 3 --step 25 --html encoded.html
    """
    from agenticiqa.batch import open_manifest
    from agenticiqa.encode.folders import CopyOptions
    from agenticiqa.encode.originals import background_colour

    settings = effective_settings(config)
    if html is not None:
        require_folder_of(html)
    if background is not None:
        # A name that stands for no colour is refused before the work.
        background_colour(background)
    wanted = _target_of(min_score, metric, target, max_bytes)
    more = (wanted, maps, step, background, strip, metric or "score", max_bytes, max_side)
    if not source.is_dir():
        options = CopyOptions(_format_of(output, format), *more)
        guard_outputs(settings, _outputs(output, options), [source])
        typer.echo(_single(source, output, options, settings, as_json, quiet, dry_run))
        return
    options = CopyOptions(format or "webp", *more)
    guard_outputs(settings, (output, html), (sample.image_path for sample in open_manifest(source)))
    with tempfile.TemporaryDirectory() as spare:
        raise typer.Exit(
            _folder(
                source, output, options, settings, html, as_json, quiet,
                concurrency=concurrency, force=force, dry_run=Path(spare) if dry_run else None,
            )
        )  # fmt: skip


def _folder(
    source: Path, output: Path, options: CopyOptions, settings: Settings, html: Path | None, as_json: bool, quiet: bool,
    *, concurrency: int | None, force: bool, dry_run: Path | None,
) -> int:  # fmt: skip
    from agenticiqa.batch import open_manifest
    from agenticiqa.batch.runner import INTERRUPTED
    from agenticiqa.encode.folders import before_and_after, encode_folder, encoded_rows, report_page

    with shown_batch(quiet) as on_progress, stopping_on_signals(quiet) as stop:
        summary = encode_folder(
            source, output, options, settings=settings, concurrency=concurrency, force=force, dry_run=dry_run,
            stop=stop, on_progress=on_progress,
        )  # fmt: skip
    made = dry_run or output
    if html is not None:
        write_whole(html, report_page(made, options))
    rows = list(encoded_rows(made))
    if as_json:
        without_maps = [{name: value for name, value in row.items() if name != "map"} for row in rows]
        typer.echo(json.dumps(without_maps, indent=2))
    else:
        typer.echo(before_and_after(rows, options.metric) + (DRY if dry_run else ""))
    if summary.stopped == INTERRUPTED:
        done = {row["name"] for row in rows}
        tell_what_is_left(sample.sample_id for sample in open_manifest(source) if sample.sample_id not in done)
        return INTERRUPTED_CODE
    return 1 if summary.remaining else 0


def _target_of(
    min_score: float | None, metric: Metric | None, target: float | None, max_bytes: int | None
) -> float | None:
    """What copies must reach, from --min-score or from --metric and --target; UsageError where they do not fit."""
    from agenticiqa.encode.searching import METRIC_NAMES, RANGES

    if (metric is None) != (target is None):
        raise UsageError("--metric and --target belong together: --metric ssim --target 0.95")
    if metric is None or target is None:
        if min_score is None and max_bytes is None:
            raise UsageError(
                "say what the copies must reach: --min-score 4, --metric ssim --target 0.95, or --max-bytes"
            )
        return min_score
    if min_score is not None:
        raise UsageError("--min-score and --target are two scales; give one of them")
    low, high = RANGES[metric]
    if not low <= target <= high:
        raise UsageError(f"--target {target:g}: {METRIC_NAMES[metric]} runs from {low:g} to {high:g}")
    return target


def _format_of(output: Path, wanted: AnyFormat | None) -> AnyFormat:
    """The format the output's name stands for; UsageError where another one is wanted."""
    named = SUFFIXES.get(output.suffix.lower())
    if wanted == "best":
        if named is not None:
            raise UsageError(f"{output}: leave out the suffix, which --format best adds")
        return "best"
    if named is None:
        raise UsageError(f"{output}: a copy is .webp, .avif or .jpg; name it so, or add --format best")
    if wanted is not None and wanted != named:
        raise UsageError(f"{output} is named as {named} and --format is {wanted}; make them agree")
    return named


def _outputs(output: Path, options: CopyOptions) -> list[Path]:
    """Every file that may be written for one picture, in a folder that is there."""
    from agenticiqa.encode.folders import MAP_SUFFIX

    copies = (
        [output.with_name(output.name + each) for each in options.suffixes()] if options.format == "best" else [output]
    )
    for copy in copies:
        require_folder_of(copy)
    return [*copies, *([copies[0].with_suffix(MAP_SUFFIX)] if options.maps else [])]


def _single(
    source: Path, output: Path, options: CopyOptions, settings: Settings, as_json: bool, quiet: bool, dry_run: bool
) -> str:
    from agenticiqa.encode.folders import MAP_SUFFIX, loss_map
    from agenticiqa.encode.searching import METRIC_NAMES, judge_by, original_bytes
    from agenticiqa.encode.searching import SUFFIXES as SUFFIX_OF

    def tell(format: Format, quality: int, score: float) -> None:
        typer.echo(f"{format} at quality {quality}: {score:.4g}", err=True)

    original = settings.image_store().open(source)
    found = options.encode(source, judge_by(options.metric, settings.pipeline.terms), None if quiet else tell)
    if options.format == "best":
        output = output.with_name(output.name + SUFFIX_OF[found.format])
    if not dry_run:
        write_whole(output, found.data)
        if options.maps:
            with replacing(output.with_suffix(MAP_SUFFIX)) as spare:
                loss_map(found.original, found.pixels).save(spare, "PNG")
    before, after = original_bytes(original), len(found.data)
    if as_json:
        values = {"file": str(output), "format": found.format, "quality": found.quality, "score": found.score}
        return json.dumps({**values, "bytes": after, "original_bytes": before, "tried": found.tried}, indent=2)
    saved = f"{after:,} bytes ({after / before:.0%} of {before:,})"
    reached = (
        f"{found.score:.2f} of 5" if options.metric == "score" else f"{METRIC_NAMES[options.metric]} {found.score:.4g}"
    )
    return printable(f"{output}: quality {found.quality}, {reached}, {saved}") + (DRY if dry_run else "")
