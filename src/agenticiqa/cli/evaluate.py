"""`agenticiqa evaluate`: how well the agent agrees with people, beside its parts and its tools."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agenticiqa.cli import shared_options as shared
from agenticiqa.cli.terminal import print_table, shown_count
from agenticiqa.logs import printable
from agenticiqa.outputs import refuse_overwriting

if TYPE_CHECKING:
    from agenticiqa.evaluation.evidence import OnPicture
    from agenticiqa.evaluation.report.sections import ReportSection
    from agenticiqa.evaluation.samples import QuestionSet, RatedSet
    from agenticiqa.evaluation.statistics import Resampling
    from agenticiqa.parts import Parts

PIPED_WIDTH = 220
_FOR_RATINGS = ("split", "ablation", "recorded", "jobs", "hide-references")
_FOR_QUESTIONS = ("rotate",)
# The sections that are printed; the files have all of them.
PRINTED = ("Methods", "Tools alone", "Failures")


def evaluate(
    dataset: Annotated[str | None, typer.Option(help="A data set by name; see docs/evaluation.md.")] = None,
    root: Annotated[Path | None, typer.Option(help="The folder the data set or the pictures are in.")] = None,
    manifest: Annotated[Path | None, typer.Option(help="A table of your own instead.")] = None,
    split: Annotated[str | None, typer.Option(help="Only this part of the data set.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many, drawn with the seed.")] = None,
    hide_references: Annotated[
        bool, typer.Option("--hide-references", help="Judge every picture alone although originals are there.")
    ] = False,
    compare: Annotated[
        tuple[Path, Path] | None,
        typer.Option(help="Instead: test two runs against each other, named by their -o folders."),
    ] = None,
    ablation: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="all, model-alone, best-tool …; repeatable.")
    ] = None,
    recorded: Annotated[Path | None, typer.Option(help="Model outputs to use instead of a model.")] = None,
    rotate: Annotated[bool, typer.Option("--rotate", help="Ask questions in every order of their choices.")] = False,
    scale: Annotated[
        tuple[float, float] | None, typer.Option("--range", help="Lowest and highest rating, with --manifest.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder for report.html, .md, .tex, .csv and .json.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of all draws.")] = 0,
    repetitions: Annotated[int, typer.Option(min=100, help="Bootstrap resamples.")] = 1000,
    jobs: Annotated[int | None, typer.Option(min=1, help="Pictures in hand at once.")] = None,
    config: shared.ConfigFile = None,
    backend: shared.Backend = None,
    offline: shared.Offline = False,
    trust_folder: shared.TrustFolder = False,
    as_json: shared.AsJson = False,
    verbose: shared.Verbose = False,
    quiet: shared.Quiet = False,
) -> None:
    """Evaluate on rated pictures or multiple-choice questions; running it again goes on where it stopped.

    A data set is named with --dataset and --root, anything else is a table of your own.

    The default weights were fitted on parts of tid2013 and biq2021, and the report says so; on MMP-2K and PCUID too.
    For figures that saw none of them set AGENTICIQA_PIPELINE__TERMS=commercial.

    \b
    Examples:
      agenticiqa evaluate --manifest ratings.csv --range 1 5 --repetitions 100
      agenticiqa evaluate --compare report-before report-now -o comparison
    """
    from agenticiqa.evaluation.evaluating import chosen_ablations
    from agenticiqa.evaluation.report.text_reports import RATING_FORMS
    from agenticiqa.evaluation.samples import QuestionSet
    from agenticiqa.evaluation.statistics import Resampling
    from agenticiqa.parts import build_parts

    sampling = Resampling(repetitions, seed)
    if compare is not None:
        _refuse_beside_compare(dataset=dataset, manifest=manifest, recorded=recorded, ablation=ablation, split=split)
        _compare(compare, output, sampling, as_json)
        return
    ablations = chosen_ablations(ablation or [])
    settings = shared.effective_settings(config, backend, offline, trust_folder=trust_folder)
    found, seen = _read(dataset, manifest, root, scale)
    given = {"split": split, "ablation": ablations, "recorded": recorded, "jobs": jobs, "rotate": rotate,
             "hide-references": hide_references}  # fmt: skip
    _refuse_idle(found, given)
    reports = () if output is None else (output, *(output / f"report.{kind}" for kind in RATING_FORMS))
    shared.guard_outputs(settings, reports, (manifest, recorded, *found.files()))
    parts = build_parts(settings)
    with shown_count(quiet) as on_picture:
        shared.start_logging(settings, verbose, quiet)
        if isinstance(found, QuestionSet):
            shown = _questions(found.thinned(limit, seed), parts, sampling, rotate, output, on_picture)
        else:
            rated = (found.without_references() if hide_references else found).thinned(limit, split, seed)
            shown = _ratings(rated, parts, ablations, sampling, recorded, seen, output, on_picture, jobs)
    if as_json:
        typer.echo(json.dumps(shown.values, indent=2, ensure_ascii=False))
    else:
        _print(shown)
        if output is not None:
            kinds = "report.md" if isinstance(found, QuestionSet) else "report.html, report.md, .tex, .csv"
            typer.echo(printable(f"report written to {output / kinds} and .json"))
    if not shown.answered:
        raise typer.Exit(1)


@dataclass(frozen=True)
class _Shown:
    """What is printed of an evaluation: its JSON values, or its head and sections in words."""

    values: dict[str, Any]
    lines: list[str]
    sections: list[ReportSection]
    answered: bool


def _print(shown: _Shown) -> None:
    for line in shown.lines:
        typer.echo(printable(line))
    for section in shown.sections:
        if section.rows:
            print_table(section.headings, section.rows, PIPED_WIDTH)
        for line in section.lines:
            typer.echo(printable(line))


def _refuse_beside_compare(**given: object) -> None:
    from agenticiqa.errors import UsageError

    idle = [f"--{name}" for name, value in given.items() if value]
    if idle:
        raise UsageError(f"--compare reads two reports and evaluates nothing; leave out {', '.join(idle)}")


def _compare(reports: tuple[Path, Path], output: Path | None, sampling: Resampling, as_json: bool) -> None:
    from agenticiqa.evaluation.report.comparison import FORMS, HEADINGS, compare_reports
    from agenticiqa.evaluation.report.text_reports import json_text, plain, write_texts

    files = [] if output is None else [output / f"comparison.{kind}" for kind in FORMS]
    refuse_overwriting(files, [report / "report.json" if report.is_dir() else report for report in reports])
    found = compare_reports(*reports, sampling)
    written = [] if output is None else write_texts(output, "comparison", found.texts())
    if as_json:
        typer.echo(json_text(plain(found)))
        return
    typer.echo(found.in_words())
    print_table(HEADINGS, found.lines(), PIPED_WIDTH)
    if written:
        typer.echo(printable(f"written: {', '.join(map(str, written))}"))


def _read(
    dataset: str | None, manifest: Path | None, root: Path | None, scale: tuple[float, float] | None
) -> tuple[RatedSet | QuestionSet, str]:
    from agenticiqa.errors import UsageError
    from agenticiqa.evaluation.datasets import dataset as known
    from agenticiqa.evaluation.datasets.manifest import read_manifest
    from agenticiqa.evaluation.samples import OpinionScale

    if (dataset is None) == (manifest is None):
        raise UsageError("name either a data set with --dataset and --root, or a table with --manifest")
    if dataset is not None and scale is not None:
        raise UsageError("--range is for a table of your own; the range of a data set is known, leave it out")
    if manifest is not None:
        return read_manifest(manifest, root, OpinionScale(*scale) if scale else None), ""
    entry = known(str(dataset))
    if root is None:
        raise UsageError(f"--root is missing: the folder of the data set. {entry.how_to_get()}")
    return entry.read(root), entry.seen


def _refuse_idle(found: RatedSet | QuestionSet, given: Mapping[str, object]) -> None:
    """Raises UsageError for an option that would change nothing."""
    from agenticiqa.errors import UsageError
    from agenticiqa.evaluation.samples import QuestionSet

    asks = isinstance(found, QuestionSet)
    idle = [f"--{name}" for name in (_FOR_RATINGS if asks else _FOR_QUESTIONS) if given[name]]
    if idle:
        raise UsageError(f"{found.name} holds {'questions' if asks else 'ratings'}; leave out {', '.join(idle)}")
    if given["recorded"] and given["ablation"]:
        raise UsageError("recorded outputs leave nothing to take out of the agent; leave out --ablation")


def _ratings(
    rated: RatedSet,
    parts: Parts,
    ablations: Sequence[str],
    sampling: Resampling,
    recorded: Path | None,
    seen: str,
    output: Path | None,
    on_picture: OnPicture | None,
    jobs: int | None,
) -> _Shown:
    from agenticiqa.evaluation.evaluating import evaluate_ratings
    from agenticiqa.evaluation.recorded import read_recorded
    from agenticiqa.evaluation.report.sections import headline, sections_of
    from agenticiqa.evaluation.report.text_reports import as_json, write_report

    found = evaluate_ratings(
        rated,
        parts,
        ablations=ablations,
        sampling=sampling,
        seen=seen,
        on_picture=on_picture,
        jobs=jobs,
        recorded=None if recorded is None else read_recorded(recorded),
        command=_command(),
    )
    if output is not None:
        write_report(found, output)
    sections = [section for section in sections_of(found) if section.title in PRINTED]
    return _Shown(as_json(found), headline(found), sections, any(row.answered for row in found.shown))


def _questions(
    questions: QuestionSet,
    parts: Parts,
    sampling: Resampling,
    rotate: bool,
    output: Path | None,
    on_question: OnPicture | None,
) -> _Shown:
    from agenticiqa.assessor import Assessor
    from agenticiqa.evaluation.evaluating import provenance_of
    from agenticiqa.evaluation.multiple_choice import answer_all, ask_with, tally
    from agenticiqa.evaluation.report.sections import choice_sections
    from agenticiqa.evaluation.report.text_reports import choices_json, write_choices

    answers = answer_all(questions.questions, ask_with(Assessor(parts=parts)), rotate=rotate, on_question=on_question)
    found, provenance = tally(answers, sampling), provenance_of(parts.settings, parts, sampling, _command())
    values = {**choices_json(questions, answers, found), "provenance": provenance}
    if output is not None:
        write_choices(questions, found, values, provenance, output)
    count = f"{questions.name}: {len(questions.questions)} questions, {len(questions.missing)} without their picture"
    return _Shown(values, [count], choice_sections(questions, found)[:1], found.overall.answered > 0)


def _command() -> str:
    return "agenticiqa " + shlex.join(sys.argv[1:])
