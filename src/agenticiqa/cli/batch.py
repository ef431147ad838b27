"""`agenticiqa batch`: many images, resumable, within a budget."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from agenticiqa.cli.assess import BELOW
from agenticiqa.cli.batch_progress import money, shown_batch, stopping_on_signals
from agenticiqa.cli.options import (
    AsJson,
    Backend,
    ConfigFile,
    MaxReplan,
    Mode,
    Offline,
    Quiet,
    Verbose,
    effective_settings,
    start_logging,
)

if TYPE_CHECKING:
    from agenticiqa.batch import BatchSummary
    from agenticiqa.batch.preview import Preview

INTERRUPTED_CODE = 130


def batch(
    inputs: Annotated[
        list[str], typer.Argument(metavar="INPUT", help="A .jsonl, .csv or .parquet file, a folder, a pattern, images.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file of records (JSON Lines).")],
    query: Annotated[str | None, typer.Option("--query", help="The question where a sample has none.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show plan, counts and cost; ask nothing.")] = False,
    engine: Annotated[
        Literal["auto", "threads", "processes", "ray"],
        typer.Option("--engine", help="auto: threads for network backends, processes for the embedded one."),
    ] = "auto",
    address: Annotated[str | None, typer.Option("--address", help="Of a Ray cluster; default: a local Ray.")] = None,
    concurrency: Annotated[int | None, typer.Option("--concurrency", "-j", min=1, help="Samples at once.")] = None,
    max_cost: Annotated[float | None, typer.Option("--max-cost", min=0, help="US dollars this run may spend.")] = None,
    max_calls: Annotated[int | None, typer.Option("--max-calls", min=0, help="Model calls this run may make.")] = None,
    max_failures: Annotated[
        int | None, typer.Option("--max-failures", min=1, help="Stop after so many failed samples.")
    ] = None,
    align: Annotated[
        Literal["resize"] | None, typer.Option("--align", help="Scale references of another size.")
    ] = None,
    to: Annotated[
        Literal["csv", "parquet"] | None, typer.Option("--to", help="Also write a table beside the records.")
    ] = None,
    fail_under: Annotated[
        float | None, typer.Option("--fail-under", metavar="SCORE", min=1, max=5, help="Exit code 3 for a score below.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Go on although settings or samples changed.")] = False,
    config: ConfigFile = None,
    backend: Backend = None,
    max_replan: MaxReplan = None,
    mode: Mode = None,
    offline: Offline = False,
    as_json: AsJson = False,
    verbose: Verbose = False,
    quiet: Quiet = False,
) -> None:
    """Assess many images. The same command again finishes the rest and retries failures.

    Exit codes: 0 all answered, 1 some failed or remain, 2 wrong request or no such input,
    3 below --fail-under, 130 interrupted.

    \b
    Examples:
      agenticiqa batch photos/ -o results.jsonl
      agenticiqa batch samples.jsonl -o results.jsonl --dry-run
      agenticiqa batch samples.csv -o results.jsonl --backend openai.gpt-4o -j 32 --max-cost 5
      agenticiqa batch 'photos/**/*.jpg' -o results.jsonl --to csv --fail-under 2
      agenticiqa batch samples.parquet -o results.jsonl --engine ray --address auto
    """
    from agenticiqa.batch import BatchOptions, Limits, open_manifest, run_batch
    from agenticiqa.batch.preview import preview_batch
    from agenticiqa.batch.tabulate import require_table, write_table

    settings = effective_settings(config, backend, offline, max_replan, mode)
    limits = Limits(max_cost, max_calls, max_failures)
    options = BatchOptions(engine, concurrency, address, query, align, force, limits)
    manifest = open_manifest(inputs)
    if to is not None:
        require_table(output, to, manifest.file)
    if dry_run:
        preview = preview_batch(manifest, output, options, settings)
        typer.echo(json.dumps(preview.as_dict(), indent=2) if as_json else preview_in_words(preview))
        return
    with shown_batch(quiet) as on_progress, stopping_on_signals(quiet) as stop:
        start_logging(settings, verbose, quiet)
        summary = run_batch(manifest, output, options, settings=settings, stop=stop, on_progress=on_progress)
    table = None if to is None else write_table(output, to)
    typer.echo(json.dumps(summary.as_dict(), indent=2) if as_json else summary_in_words(summary, output, table))
    raise typer.Exit(exit_code(summary, output, fail_under))


def exit_code(summary: BatchSummary, output: Path, fail_under: float | None) -> int:
    """130 after an interruption, 1 while an answer or a wanted score is missing, 3 for a score below the bar."""
    from agenticiqa.batch.runner import INTERRUPTED
    from agenticiqa.batch.tabulate import count_below

    if summary.stopped == INTERRUPTED:
        return INTERRUPTED_CODE
    if summary.remaining:
        return 1
    if fail_under is None:
        return 0
    below, without = count_below(output, fail_under)
    if below or without:
        typer.echo(f"{below} below {fail_under:g}, {without} without a score", err=True)
    return 1 if without else BELOW if below else 0


def summary_in_words(summary: BatchSummary, output: Path, table: Path | None = None) -> str:
    """The summary as lines for a person."""
    lines = [
        f"{summary.answered} answered, {summary.failed} failed in {summary.seconds:.1f} s "
        f"({summary.calls} calls, {money(summary.cost_usd)}); {summary.done_before} were done before",
        f"Records: {output}",
    ]
    if table is not None:
        lines.append(f"Table: {table}")
    if summary.stopped:
        lines.append(f"Stopped: {summary.stopped}")
    if summary.remaining:
        lines.append(f"{summary.remaining} of {summary.samples} samples remain; {_advice(summary, output)}")
    return "\n".join(lines)


def _advice(summary: BatchSummary, output: Path) -> str:
    from agenticiqa.batch.tabulate import count_unusable

    unusable = count_unusable(output)
    if not unusable:
        return "run the same command again for them"
    again = "" if unusable >= summary.remaining else "; run the same command again for the others"
    return f"{unusable} of them can never work as their files are (`error` in the records says why){again}"


def preview_in_words(preview: Preview) -> str:
    """The preview as lines for a person."""
    found, plan, total = preview.manifest, preview.plan, preview.total
    lines = [
        f"{found.samples} samples: {found.with_reference} with a reference, {found.with_choices} with choices, "
        f"{found.with_mos} with a MOS",
        f"To do: {plan.to_do} ({plan.new} new, {plan.failed} failed before, {plan.changed} changed); {plan.done} done",
        f"Backends: {', '.join(f'{role} {name}' for role, name in preview.backends.items())}",
        f"Engine: {preview.engine}, {preview.concurrency} at once",
        f"Estimate: about {total.calls} calls, {money(total.cost_usd)} ({_basis(preview)})",
    ]
    if found.missing:
        lines.insert(1, f"Missing files: {found.missing}, the first is {found.first_missing}")
    return "\n".join(lines)


def _basis(preview: Preview) -> str:
    from agenticiqa.batch.estimate import INPUT_TOKENS, OUTPUT_TOKENS

    if preview.measured:
        return "measured on the records there are"
    if all(name.startswith("builtin") for name in preview.backends.values()):
        return "the embedded backend is free; assumed: one pass"
    return f"assumed: one pass, {INPUT_TOKENS} tokens in and {OUTPUT_TOKENS} out per call"
