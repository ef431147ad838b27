"""`agenticiqa assess`: one image, one question, one answer with its evidence."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

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
from agenticiqa.cli.progress import shown_progress
from agenticiqa.logs import printable

if TYPE_CHECKING:
    from agenticiqa.assessor import Assessment, Finding, ToolReading

BELOW = 3
"""Exit code of a score below `--fail-under`; 1 is a failure, 2 a wrong request."""


def assess(
    image: Annotated[Path, typer.Argument(help="The image to look at.")],
    query: Annotated[
        str | None, typer.Argument(help="The question, - to read it from standard input; default: rate the quality.")
    ] = None,
    reference: Annotated[Path | None, typer.Option("--reference", "-r", help="The undistorted original.")] = None,
    align: Annotated[
        Literal["resize"] | None, typer.Option("--align", help="Scale a reference of another size to the image's.")
    ] = None,
    fail_under: Annotated[
        float | None, typer.Option("--fail-under", metavar="SCORE", min=1, max=5, help="Exit code 3 below this score.")
    ] = None,
    html: Annotated[
        Path | None, typer.Option("--html", help="Also write a page about the result to this file.")
    ] = None,
    config: ConfigFile = None,
    backend: Backend = None,
    max_replan: MaxReplan = None,
    mode: Mode = None,
    offline: Offline = False,
    as_json: AsJson = False,
    verbose: Verbose = False,
    quiet: Quiet = False,
) -> None:
    """Answer a question about an image, or rate its quality.

    Exit codes: 0 answered, 1 no answer or an unreadable image, 2 wrong request or no such file, 3 below --fail-under.

    \b
    Examples:
      agenticiqa assess photo.jpg
      agenticiqa assess photo.jpg "Is it blurry? A. Yes B. No" --json
      agenticiqa assess compressed.jpg --reference original.png
      agenticiqa assess photo.jpg --offline --fail-under 1.5
      agenticiqa assess photo.jpg --html photo.html
    """
    from agenticiqa.assessor import Assessor

    settings = effective_settings(config, backend, offline, max_replan, mode)
    question = sys.stdin.read() if query == "-" else query
    with shown_progress(quiet) as on_event:
        start_logging(settings, verbose, quiet)
        assessment = Assessor(settings).assess(image, question, reference, on_event=on_event, align=align)
    typer.echo(assessment.to_json() if as_json else in_words(assessment))
    if html is not None:
        from agenticiqa.report.writing import write_whole

        write_whole(html, assessment.to_html())
    raise typer.Exit(exit_code(assessment, fail_under))


def exit_code(assessment: Assessment, fail_under: float | None) -> int:
    """0 for an answer, 1 for none or for no score where one is asked for, 3 for a score below the bar."""
    if not assessment.answered or (fail_under is not None and assessment.score is None):
        return 1
    return BELOW if fail_under is not None and (assessment.score or 0.0) < fail_under else 0


def in_words(assessment: Assessment) -> str:
    """The assessment as a few lines for a person."""
    lines = [f"Answer: {assessment.answer}"]
    if assessment.score is not None:
        lines.append(f"Score: {score_in_words(assessment)}")
    lines.append(f"Why: {assessment.reasoning}")
    lines += [_finding_line(finding) for finding in assessment.distortions]
    lines += [_reading_line(reading) for reading in assessment.tools]
    if assessment.error is not None:
        lines.append(f"Failed: {assessment.error}")
    return printable("\n".join(lines))


def score_in_words(assessment: Assessment) -> str:
    """Score, level and interval, or that there is none."""
    if assessment.score is None:
        return "no score"
    interval = assessment.interval
    span = f", 95 % interval {interval[0]:.1f} to {interval[1]:.1f}" if interval else ""
    return f"{assessment.score:.2f} of 5 ({assessment.level}, {assessment.level_name}){span}"


def _finding_line(finding: Finding) -> str:
    severity = f", {finding.severity}" if finding.severity else ""
    return f"  {finding.type} on {finding.object_name}{severity}"


def _reading_line(reading: ToolReading) -> str:
    if reading.error is not None:
        return f"  {reading.tool} for {reading.distortion} failed on {reading.object_name}: {reading.error}"
    raw = "no value" if reading.raw is None else f"{reading.raw:.4g} raw"
    score = "not calibrated" if reading.calibrated is None else f"{reading.calibrated:.2f} of 5"
    return f"  {reading.tool} for {reading.distortion} on {reading.object_name}: {raw}, {score}"
