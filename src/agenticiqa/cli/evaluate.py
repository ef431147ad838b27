"""`agenticiqa evaluate`: how well the agent agrees with people, beside its parts and its tools."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agenticiqa.cli import shared_options as shared
from agenticiqa.cli.command_frame import writing_to
from agenticiqa.cli.terminal import print_table
from agenticiqa.logs import printable
from agenticiqa.outputs import refuse_overwriting

if TYPE_CHECKING:
    from agenticiqa.config import Settings
    from agenticiqa.evaluation.evaluating import Evaluation
    from agenticiqa.evaluation.multiple_choice import Choices
    from agenticiqa.evaluation.ratings import Sampling
    from agenticiqa.evaluation.samples import QuestionSet, RatedSet
    from agenticiqa.parts import Parts

    Working = AbstractContextManager[Callable[[int, int], None] | None]

PIPED_WIDTH = 220
_FOR_RATINGS = ("split", "ablation", "recorded", "jobs", "hide-references")
_FOR_QUESTIONS = ("rotate",)
REPORTS = ("html", "md", "tex", "csv", "json")
COMPARISONS = ("md", "tex", "csv")


def evaluate(
    dataset: Annotated[
        str | None, typer.Option("--dataset", help="A data set by name; see docs/evaluation.md.")
    ] = None,
    root: Annotated[Path | None, typer.Option("--root", help="The folder the data set or the pictures are in.")] = None,
    manifest: Annotated[Path | None, typer.Option("--manifest", help="A table of your own instead.")] = None,
    split: Annotated[str | None, typer.Option("--split", help="Only this part of the data set.")] = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="At most so many, drawn with the seed.")] = None,
    hide_references: Annotated[
        bool, typer.Option("--hide-references", help="Judge every picture alone although originals are there.")
    ] = False,
    compare: Annotated[
        tuple[Path, Path] | None,
        typer.Option("--compare", help="Instead: test two runs against each other, named by their -o folders."),
    ] = None,
    ablation: Annotated[
        list[str] | None, typer.Option("--ablation", metavar="NAME", help="all, model-alone, best-tool …; repeatable.")
    ] = None,
    recorded: Annotated[
        Path | None, typer.Option("--recorded", help="Model outputs to use instead of a model.")
    ] = None,
    rotate: Annotated[bool, typer.Option("--rotate", help="Ask questions in every order of their choices.")] = False,
    scale: Annotated[
        tuple[float, float] | None, typer.Option("--range", help="Lowest and highest rating, with --manifest.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder for report.html, .md, .tex, .csv and .json.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Of all draws.")] = 0,
    repetitions: Annotated[int, typer.Option("--repetitions", min=100, help="Bootstrap resamples.")] = 1000,
    jobs: Annotated[int | None, typer.Option("--jobs", min=1, help="Pictures in hand at once.")] = None,
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

    The default weights were fitted on parts of tid2013 and biq2021, and the report says so. For figures that saw none
    of them set AGENTICIQA_PIPELINE__TERMS=commercial.

    \b
    Examples:
      agenticiqa evaluate --manifest ratings.csv --range 1 5 --repetitions 100
      agenticiqa evaluate --compare report-before report-now -o comparison
    """
    from agenticiqa.evaluation.evaluating import chosen_ablations
    from agenticiqa.evaluation.ratings import Sampling
    from agenticiqa.evaluation.samples import QuestionSet
    from agenticiqa.parts import build_parts

    if compare is not None:
        _refuse_beside_compare(dataset=dataset, manifest=manifest, recorded=recorded, ablation=ablation, split=split)
        _compare(compare, output, Sampling(repetitions, seed))
        return
    ablations = chosen_ablations(ablation or [])
    settings = shared.effective_settings(config, backend, offline, trust_folder=trust_folder)
    found, seen = _read(dataset, manifest, root, scale)
    given = {"split": split, "ablation": ablations, "recorded": recorded, "jobs": jobs, "rotate": rotate,
             "hide-references": hide_references}  # fmt: skip
    _refuse_idle(found, given)
    reports = () if output is None else (output, *(output / f"report.{kind}" for kind in REPORTS))
    shared.guard_outputs(settings, reports, (manifest, recorded, *found.files()))
    parts, sampling, working = build_parts(settings), Sampling(repetitions, seed), _working(settings, verbose, quiet)
    if isinstance(found, QuestionSet):
        _questions(found.thinned(limit, seed), parts, sampling, rotate, as_json, output, working)
    else:
        rated = (found.without_references() if hide_references else found).thinned(limit, split, seed)
        _ratings(rated, parts, ablations, sampling, recorded, seen, as_json, output, working, jobs)


def _refuse_beside_compare(**given: object) -> None:
    from agenticiqa.errors import UsageError

    idle = [f"--{name}" for name, value in given.items() if value]
    if idle:
        raise UsageError(f"--compare reads two reports and evaluates nothing; leave out {', '.join(idle)}")


def _compare(reports: tuple[Path, Path], output: Path | None, sampling: Sampling) -> None:
    from agenticiqa.evaluation.report.comparison import HEADINGS, compare_reports
    from agenticiqa.outputs import write_whole

    files = [] if output is None else [output / f"comparison.{kind}" for kind in COMPARISONS]
    refuse_overwriting(files, [report / "report.json" if report.is_dir() else report for report in reports])
    found = compare_reports(*reports, sampling)
    typer.echo(found.in_words())
    print_table(HEADINGS, found.lines(), PIPED_WIDTH)
    if output is None:
        return
    with writing_to(output):
        output.mkdir(parents=True, exist_ok=True)
    for file, text in zip(files, (found.markdown(), found.latex(), found.csv()), strict=True):
        write_whole(file, text)
    typer.echo(f"written: {', '.join(map(str, files))}")


def _read(
    dataset: str | None, manifest: Path | None, root: Path | None, scale: tuple[float, float] | None
) -> tuple[RatedSet | QuestionSet, str]:
    from agenticiqa.errors import UsageError
    from agenticiqa.evaluation.datasets import dataset as known
    from agenticiqa.evaluation.datasets.manifest import read_manifest
    from agenticiqa.evaluation.samples import Scale

    if (dataset is None) == (manifest is None):
        raise UsageError("name either a data set with --dataset and --root, or a table with --manifest")
    if dataset is not None and scale is not None:
        raise UsageError("--range is for a table of your own; the range of a data set is known, leave it out")
    if manifest is not None:
        return read_manifest(manifest, root, Scale(*scale) if scale else None), ""
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
    rated: RatedSet, parts: Parts, ablations: Sequence[str], sampling: Sampling, recorded: Path | None, seen: str,
    as_json: bool, output: Path | None, working: Working, jobs: int | None,
) -> None:  # fmt: skip
    from agenticiqa.evaluation import summary
    from agenticiqa.evaluation.evaluating import evaluate_ratings
    from agenticiqa.evaluation.recorded import read_recorded
    from agenticiqa.evaluation.report import write_report

    outputs = None if recorded is None else read_recorded(recorded)
    with working as on_picture:
        found = evaluate_ratings(
            rated,
            parts,
            ablations=ablations,
            sampling=sampling,
            recorded=outputs,
            command="agenticiqa " + shlex.join(sys.argv[1:]),
            seen=seen,
            on_picture=on_picture,
            jobs=jobs,
        )
    if output is not None:
        with writing_to(output):
            output.mkdir(parents=True, exist_ok=True)
        write_report(found, output)
    if as_json:
        typer.echo(json.dumps(summary.as_json(found), indent=2, ensure_ascii=False))
    else:
        _print(found)
        if output is not None:
            typer.echo(f"report written to {output / 'report.html'}, report.md, .tex, .csv and .json")


def _print(found: Evaluation) -> None:
    from agenticiqa.evaluation import summary
    from agenticiqa.evaluation.report.text_reports import coverage_line, faithfulness_line, recorded_lines

    for line in summary.headline(found):
        typer.echo(line)
    rows = found.recorded.rows if found.recorded else found.rows
    print_table(summary.HEADINGS, summary.table(rows), PIPED_WIDTH)
    print_table(("tool", *summary.HEADINGS[1:6]), [line[:6] for line in summary.table(found.tools)], PIPED_WIDTH)
    for line in [*summary.remarks([*rows, *found.tools]), *recorded_lines(found), coverage_line(found),
                 faithfulness_line(found)]:  # fmt: skip
        if line:
            typer.echo(line)
    for failure, count in found.failures.items():
        typer.echo(printable(f"failed {count} times: {failure}"))


def _questions(
    questions: QuestionSet, parts: Parts, sampling: Sampling, rotate: bool, as_json: bool, output: Path | None,
    working: Working,
) -> None:  # fmt: skip
    from agenticiqa.assessor import Assessor
    from agenticiqa.evaluation import summary
    from agenticiqa.evaluation.evaluating import provenance_of
    from agenticiqa.evaluation.multiple_choice import answer_all, ask_with, tally
    from agenticiqa.evaluation.report.text_reports import choices_json, choices_markdown
    from agenticiqa.outputs import write_whole

    ask = ask_with(Assessor(parts=parts))
    with working as on_question:
        answers = answer_all(questions.questions, ask, rotate=rotate, on_question=on_question)
    found = tally(answers, sampling)
    command = "agenticiqa " + shlex.join(sys.argv[1:])
    content: dict[str, Any] = choices_json(questions, answers, found)
    content["provenance"] = provenance_of(parts.settings, parts, sampling, command)
    if output is not None:
        with writing_to(output):
            output.mkdir(parents=True, exist_ok=True)
        write_whole(output / "report.json", json.dumps(content, indent=2, ensure_ascii=False) + "\n")
        write_whole(output / "report.md", choices_markdown(questions, found, content["provenance"]))
    if as_json:
        typer.echo(json.dumps(content, indent=2, ensure_ascii=False))
        return
    typer.echo(
        f"{questions.name}: {len(questions.questions)} questions, {len(questions.missing)} without their picture"
    )
    print_table(("part", "questions", "accuracy", "answered"), summary.accuracy_lines(found), PIPED_WIDTH)
    typer.echo(_order_line(found))


def _order_line(found: Choices) -> str:
    unable = f'"Unable to determine": {found.unable:.1%}'
    if found.sensitive is None or found.over_orders is None:
        return f"{unable}; order of the choices not varied (--rotate)"
    return f"{unable}; the order changes {found.sensitive:.1%} of answers; accuracy over orders {found.over_orders:.3f}"


@contextmanager
def _working(settings: Settings, verbose: bool, quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    """The log, and a count on stderr: moving on a terminal, every hundredth elsewhere."""
    if not quiet and sys.stderr.isatty():
        from rich.console import Console

        # While this runs, what is logged to stderr is printed above the moving line.
        with Console(stderr=True).status("starting") as status:
            shared.start_logging(settings, verbose)
            yield lambda done, of: status.update(f"{done} of {of}")
        return
    shared.start_logging(settings, verbose, quiet)
    if quiet:
        yield None
    else:
        yield lambda done, of: typer.echo(f"{done} of {of}", err=True) if done % 100 == 0 or done == of else None
