"""`agenticiqa assess`: one image, one question, one answer with its evidence."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agenticiqa.cli.config import ConfigFile

if TYPE_CHECKING:
    from agenticiqa.assessor import Assessment
    from agenticiqa.nodes.progress import ProgressEvent


def assess(
    image: Annotated[Path, typer.Argument(help="The image to look at.")],
    query: Annotated[str | None, typer.Argument(help="The question; without one the quality is rated.")] = None,
    reference: Annotated[Path | None, typer.Option("--reference", "-r", help="The undistorted original.")] = None,
    config: ConfigFile = None,
    backend: Annotated[str | None, typer.Option("--backend", help="Model of all three roles.")] = None,
    max_replan: Annotated[
        int | None, typer.Option("--max-replan", min=0, help="0 and 1 never replan, 2 (the default) replans once.")
    ] = None,
    offline: Annotated[bool, typer.Option("--offline", help="Refuse every backend that needs a network.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole record as JSON.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show progress and the log.")] = False,
) -> None:
    """Answer a question about an image, or rate its quality. Exit code 1 when there is no answer.

    Examples:

    agenticiqa assess photo.jpg

    agenticiqa assess photo.jpg "Is it blurry? A. Yes B. No" --json

    agenticiqa assess compressed.jpg --reference original.png
    """
    from agenticiqa.assessor import Assessor
    from agenticiqa.config import load_settings
    from agenticiqa.logs import configure_logging

    settings = load_settings(config, overrides(backend, offline))
    wanted = settings.pipeline.logging
    level = "INFO" if verbose else wanted.level
    configure_logging(level, wanted.format, Path(wanted.file) if wanted.file else None, settings.secrets())
    assessment = Assessor(settings).assess(
        image, query, reference, max_replan_iterations=max_replan, on_event=show_progress if verbose else None
    )
    typer.echo(assessment.to_json() if as_json else in_words(assessment))
    if not assessment.answered:
        raise typer.Exit(1)


def overrides(backend: str | None, offline: bool) -> dict[str, Any]:
    """The settings that options of the command line set."""
    chosen: dict[str, Any] = {"pipeline": {"offline": True}} if offline else {}
    if backend is not None:
        chosen |= {role: {"backend": backend} for role in ("planner", "executor", "summarizer")}
    return chosen


def show_progress(event: ProgressEvent) -> None:
    """One plain line per event, on the error stream."""
    step = f"{event.node}: {event.subtask}" if event.subtask else event.node
    took = "" if event.seconds is None else f" ({event.seconds:.2f} s)"
    typer.echo(f"{step} {event.status}{took}", err=True)


def in_words(assessment: Assessment) -> str:
    """The assessment as a few lines for a person."""
    lines = [f"Answer: {assessment.answer}"]
    if assessment.score is not None:
        interval = assessment.interval
        span = f", 95 % interval {interval[0]:.1f} to {interval[1]:.1f}" if interval else ""
        lines.append(f"Score: {assessment.score:.2f} of 5 ({assessment.level}, {assessment.level_name}){span}")
    lines.append(f"Why: {assessment.reasoning}")
    lines += [_finding_line(finding) for finding in assessment.distortions]
    lines += [_reading_line(reading) for reading in assessment.tools]
    if assessment.error is not None:
        lines.append(f"Failed: {assessment.error}")
    return "\n".join(lines)


def _finding_line(finding: Any) -> str:
    severity = f", {finding.severity}" if finding.severity else ""
    return f"  {finding.type} on {finding.object_name}{severity}"


def _reading_line(reading: Any) -> str:
    if reading.error is not None:
        return f"  {reading.tool} failed on {reading.object_name}: {reading.error}"
    score = "not calibrated" if reading.calibrated is None else f"{reading.calibrated:.2f} of 5"
    return f"  {reading.tool} on {reading.object_name}: {reading.raw:.4g} raw, {score}"
