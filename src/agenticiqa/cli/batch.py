"""`agenticiqa batch`: many images, resumable, within a budget."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from agenticiqa.cli import gating
from agenticiqa.cli import shared_options as shared
from agenticiqa.cli.command_frame import INTERRUPTED_CODE, writing_to
from agenticiqa.cli.terminal import money, shown_batch, stopping_on_signals
from agenticiqa.errors import OutputError
from agenticiqa.logs import printable, printable_lines
from agenticiqa.outputs import require_folder_of

if TYPE_CHECKING:
    from agenticiqa.batch import BatchOptions, BatchProgress, BatchRecord, BatchSummary, Manifest
    from agenticiqa.batch.runner import Preview
    from agenticiqa.config import Settings
    from agenticiqa.gate.gatekeeping import Gate

# So many files that are missing or cannot be used are named; the records have all.
FILES_NAMED = 5


def batch(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT",
            help="Folders, a pattern, images, a .jsonl, .csv, .parquet or .txt file, - for a list on standard input.",
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The file of records (JSON Lines); - writes them to standard output.")
    ],
    references: Annotated[
        Path | None,
        typer.Option(help="Folder of originals, matched by relative path, whatever the formats."),
    ] = None,
    query: Annotated[str | None, typer.Option(help="The question where a sample has none.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show plan, counts and cost; ask nothing.")] = False,
    engine: Annotated[
        Literal["auto", "threads", "processes", "ray"],
        typer.Option(help="auto: threads for network backends, processes for the embedded one."),
    ] = "auto",
    address: Annotated[str | None, typer.Option(help="Of a Ray cluster; default: a local Ray.")] = None,
    concurrency: Annotated[int | None, typer.Option("--concurrency", "-j", min=1, help="Samples at once.")] = None,
    max_cost: Annotated[float | None, typer.Option(min=0, help="US dollars this run may spend.")] = None,
    max_calls: Annotated[int | None, typer.Option(min=0, help="Paid model calls this run may make.")] = None,
    max_failures: Annotated[int | None, typer.Option(min=1, help="Stop after so many failed samples.")] = None,
    align: Annotated[Literal["resize"] | None, typer.Option(help="Scale references of another size.")] = None,
    to: Annotated[Literal["csv", "parquet"] | None, typer.Option(help="Also write a table beside the records.")] = None,
    fail_under: gating.FailUnder = None,
    fail_if: gating.FailIf = None,
    require: gating.Require = None,
    gate_file: gating.GateFile = None,
    junit: gating.JUnit = None,
    github: gating.GitHub = False,
    html: Annotated[Path | None, typer.Option(help="Also write a page about all records.")] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Judge again what was judged with other settings or another question.")
    ] = False,
    config: shared.ConfigFile = None,
    backend: shared.Backend = None,
    max_replan: shared.MaxReplan = None,
    mode: shared.Mode = None,
    offline: shared.Offline = False,
    trust_folder: shared.TrustFolder = False,
    as_json: shared.AsJson = False,
    verbose: shared.Verbose = False,
    quiet: shared.Quiet = False,
) -> None:
    """Assess many images. The same command again finishes the rest, retries failures and judges changed files again.

    Exit codes: 0 all answered, 1 some failed or remain, 2 wrong request, no such input or a gate that
    is for none of the pictures, 3 a picture fails the gate, 130 interrupted.

    \b
    Examples:
      agenticiqa batch photos/ -o results.jsonl
      agenticiqa batch samples.jsonl -o results.jsonl --dry-run
      agenticiqa batch samples.csv -o results.jsonl --backend openai.gpt-4o -j 32 --max-cost 5
      agenticiqa batch 'photos/**/*.jpg' -o results.jsonl --to csv --fail-under 2
      agenticiqa batch copies/ --references originals/ -o results.jsonl --fail-if "SSIM < 0.1" --junit gate.xml
      find photos -name '*.jpg' | agenticiqa batch - -o - | jq .assessment.score
      agenticiqa batch samples.parquet -o results.jsonl --engine ray --address auto
    """
    from agenticiqa.batch import BatchOptions, Limits, open_manifest
    from agenticiqa.batch.journal import is_stream
    from agenticiqa.batch.manifest import files_read, pair_by_folder, pairing_in_words
    from agenticiqa.batch.results_table import require_table, table_path, write_table
    from agenticiqa.batch.runner import preview_batch
    from agenticiqa.gate.gatekeeping import SETTINGS_FILE
    from agenticiqa.report.page import write_report

    for page in filter(None, (html, junit)):
        # The folder of the records is made too.
        with writing_to(page):
            page.absolute().parent.mkdir(parents=True, exist_ok=True)
        require_folder_of(page)
    settings = shared.effective_settings(config, backend, offline, max_replan, mode, trust_folder=trust_folder)
    gate = gating.open_gate(fail_under, fail_if, gate_file, settings, require)
    limits = Limits(max_cost, max_calls, max_failures)
    measured, located = tuple(gating.tools_of(gate, settings)), tuple(gate.objects())
    options = BatchOptions(engine, concurrency, address, query, align, force, limits, measured, located)
    manifest = open_manifest(inputs)
    if references is not None:
        pairing = pair_by_folder(manifest, references)
        manifest = pairing.manifest
        # What stands alone on either side.
        for line in () if quiet else pairing_in_words(pairing, references):
            typer.echo(line, err=True)
    if html is not None and is_stream(output):
        raise OutputError(f"{html}: a page is made of a file of records; name one with -o")
    if to is not None:
        require_table(output, to)
    written = (None if is_stream(output) else output, to and table_path(output, to), html, junit)
    shared.guard_outputs(settings, written, (*files_read(manifest), gate_file or Path(SETTINGS_FILE)))
    if dry_run:
        preview = preview_batch(manifest, output, options, settings)
        typer.echo(json.dumps(preview.as_dict(), indent=2) if as_json else preview_in_words(preview))
        return
    with shown_batch(quiet) as on_progress, stopping_on_signals(quiet) as stop:
        shared.start_logging(settings, verbose, quiet)
        summary, seen = run_gated(manifest, output, options, settings, gate, stop, on_progress, junit is not None)
    table = None if to is None else write_table(output, to)
    ids = (sample.sample_id for sample in manifest)
    values = {**summary.as_dict(), **({"gate": gate.report.as_dict()} if gate else {})}
    words = json.dumps(values, indent=2) if as_json else summary_in_words(summary, output, table, ids)
    # Standard output belongs to the records where they go there.
    typer.echo(words, err=is_stream(output))
    gating.tell(gate, seen, junit, github, beside_json=as_json)
    if html is not None:
        write_report(output, html, gate=gate.report.as_dict() if gate else None, store=settings.image_store())
    raise typer.Exit(exit_code(summary, gate))


def run_gated(
    manifest: Manifest,
    output: Path,
    options: BatchOptions,
    settings: Settings,
    gate: Gate,
    stop: Callable[[], bool],
    on_progress: Callable[[BatchProgress], None] | None,
    lists_passes: bool,
) -> tuple[BatchSummary, list[str]]:
    """Runs the batch and holds its records against the gate; gives what was done and the ids of what was checked.

    Of a file all records that count are checked, of a stream those that were written to it. `lists_passes` gives the
    ids although there is no rule.
    """
    from agenticiqa.batch import run_batch
    from agenticiqa.batch.journal import is_stream, standing_records

    seen: list[str] = []

    def check(record: BatchRecord) -> None:
        seen.append(record.sample_id)
        gate.check(record.values())

    on_record = check if is_stream(output) else None
    summary = run_batch(
        manifest, output, options, settings=settings, stop=stop, on_progress=on_progress, on_record=on_record
    )
    if on_record is None and (gate or lists_passes):
        for record in standing_records(output):
            check(record)
    return summary, seen


def exit_code(summary: BatchSummary, gate: Gate) -> int:
    """130 after an interruption, 3 for a picture that fails the gate, 1 while an answer or a measurement is missing."""
    from agenticiqa.batch.runner import INTERRUPTED

    if summary.stopped == INTERRUPTED:
        return INTERRUPTED_CODE
    return gating.gate_code(gate) or (1 if summary.remaining else 0)


def summary_in_words(summary: BatchSummary, output: Path, table: Path | None = None, asked: Iterable[str] = ()) -> str:
    """The summary as lines for a person; of the samples `asked` by id those whose files cannot be used are named."""
    lines = [
        f"{summary.answered} answered, {summary.failed} failed in {summary.seconds:.1f} s "
        f"({summary.calls} calls, {money(summary.cost_usd)}); {summary.done_before} were done before",
        printable(f"Records: {output}"),
    ]
    if summary.judged_again:
        were = "was" if summary.judged_again == 1 else "were"
        lines.insert(1, f"{summary.judged_again} had changed since and {were} judged again")
    if summary.gone:
        are = "is" if summary.gone == 1 else "are"
        lines.insert(1, f"{summary.gone} {are} gone: deleted or overwritten, kept in the records, left out of the rest")
    if table is not None:
        lines.append(printable(f"Table: {table}"))
    if summary.stopped:
        lines.append(f"Stopped: {summary.stopped}")
    if summary.remaining:
        left = "failed and will be tried again next time" if summary.failed == summary.remaining else "remain"
        lines.append(f"{summary.remaining} of {summary.samples} samples {left}; {_advice(summary, output, asked)}")
    return "\n".join(lines)


def _advice(summary: BatchSummary, output: Path, asked: Iterable[str]) -> str:
    from agenticiqa.batch.journal import is_stream
    from agenticiqa.batch.results_table import unusable_files

    if is_stream(output):
        return "their `error` says why"
    unusable = unusable_files(output, asked)
    if not unusable:
        return "run the same command again for them"
    again = "" if len(unusable) >= summary.remaining else "; run the same command again for the others"
    more = len(unusable) - FILES_NAMED
    shown = [*unusable[:FILES_NAMED], *([f"and {more} more; `error` in the records says why"] if more > 0 else [])]
    one = "the file of 1 of them is" if len(unusable) == 1 else f"the files of {len(unusable)} of them are"
    return "\n  ".join([f"{one} missing or cannot be used{again}:", *map(printable, shown)])


def preview_in_words(preview: Preview) -> str:
    from agenticiqa.batch.cost import INPUT_TOKENS, OUTPUT_TOKENS

    found, plan, total = preview.manifest, preview.plan, preview.total
    basis = f"assumed: one pass, {INPUT_TOKENS} tokens in and {OUTPUT_TOKENS} out per call"
    if preview.measured:
        basis = "measured on the records there are"
    elif all(name.startswith("builtin") for name in preview.backends.values()):
        basis = "the embedded backend is free; assumed: one pass"
    lines = [
        f"{found.samples} samples: {found.with_reference} with a reference, {found.with_choices} with choices, "
        f"{found.with_mos} with a MOS",
        f"To do: {plan.to_do} ({plan.new} new, {plan.failed} failed before, {plan.judged_again} changed); "
        f"{plan.done} done",
        f"Backends: {', '.join(f'{role} {name}' for role, name in preview.backends.items())}",
        f"Engine: {preview.engine}, {preview.concurrency} at once",
        f"Estimate: about {total.calls} calls, {money(total.cost_usd)} ({basis})",
    ]
    if found.missing:
        lines.insert(1, f"Missing files: {found.missing}, the first is {found.first_missing}")
    return printable_lines(lines)
