"""`agenticiqa calibrate`: curves for tools without ratings, or everything fitted to a user's own ratings."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agenticiqa.cli.command_frame import INTERRUPTED_CODE, writing_to
from agenticiqa.cli.shared_options import AsJson, ConfigFile, TrustFolder, settings_files, trusted_settings
from agenticiqa.cli.terminal import stopping_on_signals, tell_what_is_left
from agenticiqa.logs import printable
from agenticiqa.outputs import refuse_overwriting

if TYPE_CHECKING:
    from agenticiqa.config import Settings
    from agenticiqa.evaluation.recalibration import Change
    from agenticiqa.gate.threshold_proposals import Proposal


def calibrate(
    ladder: Annotated[str | None, typer.Option(metavar="TOOL", help="The tool to calibrate on graded damage.")] = None,
    manifest: Annotated[Path | None, typer.Option(help="Your ratings: a table with image and rating.")] = None,
    accepted: Annotated[
        Path | None,
        typer.Option(
            "--from-accepted", metavar="GOOD", help="Folder of pictures you accept: propose limits for --fail-if."
        ),
    ] = None,
    rejected: Annotated[
        Path | None,
        typer.Option(metavar="BAD", help="Folder of pictures you reject, with --from-accepted."),
    ] = None,
    false_rejects: Annotated[
        float, typer.Option(min=0, max=1, help="The share of good pictures a limit may fail.")
    ] = 0.05,
    root: Annotated[Path | None, typer.Option(help="Folder of the pictures, with --manifest.")] = None,
    scale: Annotated[
        tuple[float, float] | None, typer.Option("--range", help="Lowest and highest rating, with --manifest.")
    ] = None,
    count: Annotated[
        int | None, typer.Option("--photographs", min=1, help="Use only this many; quicker for slow tools.")
    ] = None,
    overlay: Annotated[
        Path | None, typer.Option(help="File to store the curves in; default: the settings' overlay.")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Store fits to your ratings even where they agree less than before.")
    ] = False,
    config: ConfigFile = None,
    trust_folder: TrustFolder = False,
    as_json: AsJson = False,
) -> None:
    """Fit scores to your eyes: limits from pictures you accept, or curves from your ratings or from made damage.

    --from-accepted proposes limits for `--fail-if`, and says how many good and bad pictures each would get wrong. It
    needs at least 10 pictures and stores nothing.

    --manifest fits the tools and the embedded score to your ratings (at least 30, of several contents); fits that
    agree less with ratings left out are not stored. --ladder fits one tool's curve on damage made step by step.
    Both count from then on.

    \b
    Examples:
      agenticiqa calibrate --from-accepted good/ --rejected bad/
      agenticiqa calibrate --ladder PSNR --photographs 1
    """
    from agenticiqa.errors import UsageError

    if sum(each is not None for each in (ladder, manifest, accepted)) != 1:
        raise UsageError("name a tool with --ladder, your ratings with --manifest, or pictures with --from-accepted")
    chosen = {"pipeline": {"tools_overlay": str(overlay)}} if overlay else None
    settings = trusted_settings(config, chosen, trust_folder)
    refuse_overwriting([settings.tools_overlay_path()], [*settings_files(settings), manifest])
    if ladder is not None:
        _by_ladder(settings, config, ladder, count, as_json)
    elif manifest is not None:
        _by_ratings(settings, config, manifest, root, scale, force, as_json)
    elif accepted is not None:
        _from_accepted(settings, accepted, rejected, false_rejects, as_json)


# What a gate on single pictures can use: the score, and measurements in which more of one thing is plainly worse.
GATE_MEASUREMENTS = ("BLUR_RADIUS", "NOISE_SIGMA", "BLOCKINESS", "OVEREXPOSED", "UNDEREXPOSED", "PIQE")


def _from_accepted(
    settings: Settings, accepted: Path, rejected: Path | None, false_rejects: float, as_json: bool
) -> None:
    from agenticiqa.gate.threshold_proposals import as_toml, propose

    with stopping_on_signals() as stop:
        good = _measured(settings, accepted, stop)
        bad = {} if rejected is None else _measured(settings, rejected, stop)
    rising = {name: name == "score" for name in good}
    proposals = propose(good, bad, rising, false_rejects)
    if as_json:
        typer.echo(json.dumps([{"rule": each.rule, **vars(each)} for each in proposals], indent=2))
        return
    for line in proposals_in_words(proposals, false_rejects):
        typer.echo(line)
    if proposals[0].is_useless:
        typer.echo("\nNone of them tells the bad pictures from the good ones; gate by something else.")
    else:
        typer.echo(f"\nThe best of them, for agenticiqa.toml:\n{as_toml(proposals[:1])}", nl=False)


def proposals_in_words(proposals: Sequence[Proposal], allowed: float) -> Iterator[str]:
    """What each rule would do to new pictures like these, the best rule first."""
    from agenticiqa.gate.threshold_proposals import needed_for

    best = proposals[0]
    against = f" and {best.rejected} you reject" if best.rejected else ""
    yield f"From {best.accepted} pictures you accept{against}. Of new pictures like these, with 95 % confidence:"
    for each in proposals:
        passed = "" if each.false_accepts is None else f", lets up to {each.false_accepts:.0%} of bad ones pass"
        useless = "; of no use here" if each.is_useless else ""
        yield f'  --fail-if "{each.rule}" fails up to {each.false_rejects:.0%} of good ones{passed}{useless}'
    if best.false_rejects > allowed:
        more = f"; {needed_for(allowed)} accepted pictures would do" if 0 < allowed < 1 else ""
        yield f"Too few to promise at most {allowed:.0%} of good ones{more}."
    if not best.rejected:
        yield "Add pictures you reject (--rejected) to learn how many bad ones each rule lets through."


def _measured(settings: Settings, folder: Path, stop: Callable[[], bool]) -> dict[str, list[float]]:
    """The score and the gate's measurements of every picture that can be read; ends the command once `stop` says so."""
    from agenticiqa.assessor import Assessor
    from agenticiqa.assessor.tool_measurements import measure_with
    from agenticiqa.batch import open_manifest
    from agenticiqa.errors import AgenticIQAError

    assessor, found = Assessor(settings), dict[str, list[float]]()
    samples = list(open_manifest(folder))
    for place, sample in enumerate(samples):
        if stop():
            tell_what_is_left(sample.image_path for sample in samples[place:])
            typer.echo("Nothing was stored and nothing is proposed.", err=True)
            raise typer.Exit(INTERRUPTED_CODE)
        try:
            score = assessor.assess(sample.image_path).score
            values = measure_with(
                assessor.parts.tools, settings.image_store(), sample.image_path, None, GATE_MEASUREMENTS
            )
        except AgenticIQAError as error:
            typer.echo(printable(f"left out: {error}"), err=True)
            continue
        for name, value in [("score", score), *((name, each.raw) for name, each in values.items())]:
            if value is not None:
                found.setdefault(name, []).append(value)
    return found


def _by_ladder(settings: Settings, config: Path | None, ladder: str, count: int | None, as_json: bool) -> None:
    from agenticiqa.parts import tools_for
    from agenticiqa.tools.catalogue import store_overlay
    from agenticiqa.tools.synthetic.ladder import build_ladders, calibrate_by_ladder, ladder_photographs

    registry = tools_for(settings)
    name = registry.get(ladder).name
    found = calibrate_by_ladder(registry, name, build_ladders(list(ladder_photographs().values())[:count]))
    path = settings.tools_overlay_path()
    with writing_to(path):
        store_overlay(path, {name: found})
    if as_json:
        entry = found.model_dump(mode="json", by_alias=True)
        typer.echo(json.dumps({"tool": name, "file": str(path), **entry}, indent=2, ensure_ascii=False))
        return
    curve = found.overall
    typer.echo(f"{name}: calibrated by ladder on {found.data}")
    typer.echo(f"rank correlation with the judges {curve.srcc:.3f}, spread {curve.spread:.2f} points of 5")
    typer.echo(f"stored in {path}; {name} votes {_since(path, config)}")


def _by_ratings(
    settings: Settings,
    config: Path | None,
    manifest: Path,
    root: Path | None,
    scale: tuple[float, float] | None,
    force: bool,
    as_json: bool,
) -> None:
    from agenticiqa.errors import DatasetError
    from agenticiqa.evaluation.datasets.manifest import LAYOUT, read_manifest
    from agenticiqa.evaluation.evidence import EvidenceStore, gather
    from agenticiqa.evaluation.recalibration import recalibrate
    from agenticiqa.evaluation.runs import EMBEDDED, TOOLS
    from agenticiqa.evaluation.samples import OpinionScale, RatedSet
    from agenticiqa.parts import build_parts
    from agenticiqa.tools import default_registry
    from agenticiqa.tools.catalogue import store_overlay

    rated = read_manifest(manifest, root, OpinionScale(*scale) if scale else None)
    refuse_overwriting([settings.tools_overlay_path()], rated.files())
    if not isinstance(rated, RatedSet):
        raise DatasetError(f"{manifest}: holds questions, not ratings; expected {LAYOUT}")
    parts = build_parts(settings)
    evidence = gather(rated.samples, [TOOLS, EMBEDDED], parts, EvidenceStore(settings))
    # Curves stored earlier may have seen these very ratings, and would look too good beside held-out ones.
    found = recalibrate(rated, evidence, default_registry(settings, own_curves=False), keep_worse=force)
    path = settings.tools_overlay_path()
    if found.calibrations or found.embedded:
        with writing_to(path):
            store_overlay(path, found.calibrations, found.embedded)
    if as_json:
        values = {
            "file": str(path), "folds": found.folds, "changes": [vars(change) for change in found.changes],
            "left": found.left, "tools": sorted(found.calibrations),
            "embedded": {mode: scale.model_dump(mode="json") for mode, scale in found.embedded.items()},
        }  # fmt: skip
        typer.echo(json.dumps(values, indent=2, ensure_ascii=False))
        return
    missing = f", {len(rated.missing)} pictures missing" if rated.missing else ""
    typer.echo(f"{len(rated.samples)} ratings{missing}; {rated.scale.in_words()}")
    typer.echo(f"as shipped → fitted, on ratings left out ({found.folds} folds over contents, SRCC within folds):")
    for change in found.changes:
        typer.echo(_line(change))
    for name, reason in found.left.items():
        typer.echo(f"  {name}: left as it was, {reason}")
    if found.calibrations or found.embedded:
        typer.echo(f"stored in {path}; it counts {_since(path, config)} and is named in every result's provenance")
    else:
        typer.echo("nothing stored: no fit agrees better with ratings left out; more ratings would help")


def _since(path: Path, config: Path | None) -> str:
    from agenticiqa.config import load_settings

    used = load_settings(config, trust_folder=True).tools_overlay_path() == path
    return "from now on" if used else f"where the setting pipeline.tools_overlay is {path}"


def _line(change: Change) -> str:
    before = "no curve"
    if change.before_rmse is not None:
        before = f"RMSE {change.before_rmse:.3f}, SRCC {change.before_srcc:.3f}"
    line = f"  {change.name}: {before} → RMSE {change.after_rmse:.3f}, SRCC {change.after_srcc:.3f}"
    if change.after_coverage is not None:
        line += (
            f"; 95 % interval holds {change.before_coverage:.1%} (width {change.before_width:.2f}) → "
            f"{change.after_coverage:.1%} (width {change.after_width:.2f})"
        )
    return line if change.stored else f"{line}; worse, not stored (--force stores it)"
