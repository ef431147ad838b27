"""`agenticiqa audit`: a data set checked for faults."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from agenticiqa.cli.command_frame import INTERRUPTED_CODE
from agenticiqa.cli.shared_options import AsJson, ConfigFile, Quiet, effective_settings
from agenticiqa.cli.terminal import shown_batch, stopping_on_signals
from agenticiqa.errors import UsageError
from agenticiqa.logs import printable

if TYPE_CHECKING:
    from agenticiqa.audit import Audit
    from agenticiqa.audit.auditing import AuditTable
    from agenticiqa.images import ImageStore


def audit(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT",
            help="Folders, a .zip, a quoted pattern, images, a .txt list of paths, or - for such a list.",
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for table, summary and gallery.")] = Path(
        "audit"
    ),
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Several times faster: simple measurements, no neural network, no check for noise."
        ),
    ] = False,
    threshold: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ISSUE=SCORE",
            help="Flag pictures that score below this (0 worst, 1 best), e.g. blurry=0.4; 0 flags none.",
        ),
    ] = None,
    issues: Annotated[str | None, typer.Option(metavar="ISSUE,…", help="Look only for these.")] = None,
    to: Annotated[
        Literal["csv", "parquet", "json", "fiftyone"],
        typer.Option(help="Format of the table of all pictures; fiftyone: data.json and labels.json."),
    ] = "csv",
    gallery: Annotated[
        bool, typer.Option("--gallery/--no-gallery", help="Also write gallery.html: the worst pictures of each issue.")
    ] = True,
    keep: Annotated[
        bool,
        typer.Option("--keep", help="Also write keep.txt, maybe.txt and reject.txt: what to do with each picture."),
    ] = False,
    engine: Annotated[
        Literal["auto", "threads", "processes", "ray"],
        typer.Option(help="How to work in parallel; auto: processes."),
    ] = "auto",
    address: Annotated[str | None, typer.Option(help="Address of a Ray cluster, with --engine ray.")] = None,
    concurrency: Annotated[
        int | None, typer.Option("--concurrency", "-j", min=1, help="Pictures at once; default: one per core.")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Measure again what was measured with other settings.")
    ] = False,
    config: ConfigFile = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Find the bad pictures of a folder: blurry, dark, over-exposed, noisy, broken, odd and duplicate ones.

    Writes table.csv (a row per picture: a score and a flag per issue), summary.json and gallery.html into the output
    folder. No picture is changed or deleted. The same command again finishes what was interrupted and measures
    only new and changed pictures.

    Issues: blurry, dark, light, noisy, low_contrast, colour_cast, compressed, low_information, odd_aspect_ratio,
    odd_size, grayscale, corrupt, truncated, exact_duplicates, near_duplicates.

    Exit codes: 0 audited, 1 some remain, 2 wrong request, 130 interrupted.

    \b
    Examples:
      agenticiqa audit photos/
      agenticiqa audit summer/ winter/ -o both
      agenticiqa audit photos/ --quick -o quick-audit --to json
      agenticiqa audit photos/ --keep && agenticiqa sort audit -o sorted
      agenticiqa audit photos/ --threshold blurry=0.4 --issues blurry,dark --no-gallery
    """
    from agenticiqa.audit.auditing import AuditOptions, require_format
    from agenticiqa.audit.auditing import audit as run_audit
    from agenticiqa.batch.runner import INTERRUPTED

    require_format(to)
    chosen = [name.strip() for name in issues.split(",")] if issues else None
    options = AuditOptions(quick, thresholds_from(threshold or []), chosen, engine, concurrency, address, force)
    given: Any = inputs[0] if len(inputs) == 1 else inputs
    with shown_batch(quiet) as on_progress, stopping_on_signals(quiet) as stop:
        settings = effective_settings(config)
        result = run_audit(given, output, options, settings=settings, stop=stop, on_progress=on_progress)
    written = write_results(result, given, output, to, gallery, settings.image_store())
    if keep:
        written += write_decisions(result, output)
    typer.echo(json.dumps(result.as_dict(), indent=2) if as_json else in_words(result, written, keep))
    summary = result.summary
    if summary is not None and summary.stopped == INTERRUPTED:
        raise typer.Exit(INTERRUPTED_CODE)
    raise typer.Exit(1 if summary is not None and summary.remaining else 0)


def thresholds_from(given: list[str]) -> dict[str, float]:
    """Thresholds by issue from texts like blurry=0.5."""
    found = {}
    for text in given:
        name, _, value = text.partition("=")
        try:
            found[name.strip()] = float(value)
        except ValueError:
            raise UsageError(f"--threshold {text}: write ISSUE=SCORE, for example blurry=0.5") from None
    return found


def write_results(
    result: Audit, given: Any, output: Path, to: AuditTable, gallery: bool, store: ImageStore
) -> list[Path]:
    from agenticiqa.audit.auditing import GALLERY, SUMMARY, table_paths, write_summary, write_table
    from agenticiqa.audit.gallery import gallery_page
    from agenticiqa.audit.sources import open_source
    from agenticiqa.batch import Sample
    from agenticiqa.outputs import write_whole

    tables, summary, page = table_paths(output, to), output / SUMMARY, output / GALLERY
    write_table(result, tables[0], to)
    write_summary(result, summary)
    if not gallery:
        return [*tables, summary]
    opener = open_source(given if given != "-" else [row["path"] for row in result.rows], store).opener
    title = f"Audit of {given if isinstance(given, str) else ', '.join(given)}"
    opened = lambda row: store.open(opener(Sample(row["name"], row["path"])))  # noqa: E731
    write_whole(page, gallery_page(result, opened, title))
    return [*tables, summary, page]


def write_decisions(result: Audit, output: Path) -> list[Path]:
    """A list of paths for each decision, which `agenticiqa audit` and `batch` take as input."""
    from agenticiqa.audit.issues import decided
    from agenticiqa.outputs import write_whole

    lists = {output / f"{each}.txt": paths for each, paths in decided(result.rows).items()}
    for file, paths in lists.items():
        write_whole(file, "".join(f"{path}\n" for path in paths))
    return list(lists)


def in_words(result: Audit, written: list[Path], keep: bool = False) -> str:
    """The counts, what was run and written, and how many pictures to keep, with the most frequent reasons."""
    lines = [str(result)]
    for decision, count in result.as_dict()["decisions"].items() if keep else ():
        rows = (row for row in result.rows if row["decision"] == decision)
        reasons = Counter(
            "a copy" if reason.startswith("a copy of") else reason for row in rows for reason in row["reasons"]
        )
        counted = ", ".join(f"{reason} {times}" for reason, times in reasons.most_common(5))
        lines.append(f"  {decision}: {count}" + (f" ({counted})" if counted else ""))
    summary = result.summary
    if summary is not None:
        done = summary.answered + summary.failed
        rate = done / summary.seconds if summary.seconds > 0 else 0.0
        lines.append(f"{done} measured in {summary.seconds:.1f} s ({rate:.1f}/s), {summary.done_before} before")
        if summary.judged_again or summary.gone:
            lines.append(f"{summary.judged_again} had changed and were measured again, {summary.gone} are gone")
        if summary.remaining:
            lines.append(f"{summary.remaining} remain; run the same command again")
    return "\n".join([*lines, printable(f"Written: {', '.join(map(str, written))}")])
