"""`agenticiqa assess`: one image, one question, one answer with its evidence."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from agenticiqa.cli import shared_options as shared
from agenticiqa.cli.gating import FailIf, FailUnder, GateFile, Require, gate_code, open_gate, tell
from agenticiqa.cli.terminal import shown_progress
from agenticiqa.errors import UsageError
from agenticiqa.logs import printable, printable_json
from agenticiqa.outputs import STANDARD_INPUT, Place, refuse_overwriting, require_folder_of

if TYPE_CHECKING:
    from agenticiqa.assessor import Assessment
    from agenticiqa.images import LoadedImage


def assess(
    image: Annotated[Path, typer.Argument(help="The image to look at.")],
    query: Annotated[
        str | None, typer.Argument(help="The question, - to read it from standard input; default: rate the quality.")
    ] = None,
    reference: Annotated[Path | None, typer.Option("--reference", "-r", help="The undistorted original.")] = None,
    align: Annotated[
        Literal["resize"] | None, typer.Option(help="Scale a reference of another size to the image's.")
    ] = None,
    fail_under: FailUnder = None,
    fail_if: FailIf = None,
    require: Require = None,
    gate_file: GateFile = None,
    region: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Also locate and judge it: face, subject, cat.")
    ] = None,
    crop_dir: Annotated[
        Path | None, typer.Option(help="Write the located regions as PNG files into this folder.")
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Also write a page about the result to this file.")] = None,
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
    """Answer a question about an image, or rate its quality.

    The rules of ./agenticiqa.toml, if it names the picture, are held against it too, as those of --fail-if are.
    Exit codes: 0 answered, 1 no answer or an unreadable image, 2 wrong request or no such file, 3 fails the gate.

    \b
    Examples:
      agenticiqa assess photo.jpg
      agenticiqa assess photo.jpg "Is it blurry? A. Yes B. No" --json
      agenticiqa assess compressed.jpg --reference original.png
      agenticiqa assess photo.jpg --offline --fail-under 1.5
      agenticiqa assess photo.jpg --fail-if "blur >= extreme" --fail-if "clipped_highlights > 50 %"
      agenticiqa assess photo.jpg "Is the dog blurry?" --crop-dir crops
      agenticiqa assess photo.jpg --fail-if "face: blurred"
      agenticiqa assess photo.jpg --html photo.html
    """
    from agenticiqa.assessor import Assessor
    from agenticiqa.assessor.wording import assessment_in_words
    from agenticiqa.gate.gatekeeping import SETTINGS_FILE

    refuse_picture_as_question(image, query)
    if html is not None:
        require_folder_of(html)
    settings = shared.effective_settings(config, backend, offline, max_replan, mode, trust_folder=trust_folder)
    inputs = (image, reference, gate_file or Path(SETTINGS_FILE), STANDARD_INPUT if query == "-" else None)
    shared.guard_outputs(settings, (html, crop_dir), inputs)
    gate = open_gate(fail_under, fail_if, gate_file, settings, require)
    question = sys.stdin.read() if query == "-" else query
    with shown_progress(quiet, verbose) as on_event:
        shared.start_logging(settings, verbose, quiet)
        wanted = [*(region or ()), *gate.objects()]
        assessment = Assessor(settings).assess(
            image, question, reference=reference, align=align, regions=wanted, on_event=on_event
        )
    files = {"image_path": str(image), "reference_path": None if reference is None else str(reference)}
    gate.check({"sample_id": str(image), **files, "assessment": assessment.model_dump(mode="json")})
    if not gate.report.is_void:
        # Sections for other pictures are no mistake where one picture is judged.
        gate.report.unused_sections.clear()
    if as_json:
        judged = {"gate": gate.report.as_dict()} if gate else {}
        values = {**json.loads(assessment.to_json()), **judged}
        typer.echo(printable_json(json.dumps(values, indent=2, ensure_ascii=False)))
    else:
        typer.echo(assessment_in_words(assessment, verbose))
    if crop_dir is not None:
        _write_crops(settings.image_store().open(image), image.stem, assessment, crop_dir, html, inputs)
    if html is not None:
        from agenticiqa.outputs import write_whole

        write_whole(html, assessment.to_html())
    if gate.report.failures or gate.report.not_applied or gate.report.is_void:
        tell(gate, [str(image)], None, False, False)
    # A file that only lies in the working folder need not be about this picture.
    code = 0 if gate.report.is_void and gate_file is None else gate_code(gate)
    raise typer.Exit(code if assessment.answered else 1)


def _write_crops(
    image: LoadedImage,
    stem: str,
    assessment: Assessment,
    folder: Path,
    html: Path | None,
    inputs: Iterable[Place | None],
) -> None:
    from agenticiqa.assessor.regions import crop_files, write_crops

    refuse_overwriting([*crop_files(assessment.regions, folder, stem).values(), html], inputs)
    for path in write_crops(image, assessment.regions, folder, stem):
        typer.echo(printable(f"Crop: {path}"), err=True)


def refuse_picture_as_question(image: Path, query: str | None) -> None:
    """Raises UsageError when what stands in the question's place is a picture."""
    if query is None or "." not in query:
        return
    from agenticiqa.batch.manifest import IMAGE_SUFFIXES

    is_named_so = os.path.splitext(query)[1].lower() in IMAGE_SUFFIXES
    if is_named_so and (os.path.exists(query) or " " not in query.strip()):
        raise UsageError(
            f"{query}: is a picture, and a question is expected here; to rank both write "
            f"`agenticiqa compare {image} {query}`, to judge one against the other "
            f"`agenticiqa assess {image} --reference {query}`, for many pictures "
            f"`agenticiqa batch {image} {query} -o results.jsonl`"
        )
