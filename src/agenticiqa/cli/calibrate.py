"""`agenticiqa calibrate`: curves for tools without ratings, or everything fitted to a user's own ratings."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agenticiqa.cli.app import writing_to
from agenticiqa.cli.options import AsJson, ConfigFile

if TYPE_CHECKING:
    from agenticiqa.config import Settings
    from agenticiqa.evaluation.recalibration import Change, Recalibration
    from agenticiqa.evaluation.samples import RatedSet


def calibrate(
    ladder: Annotated[
        str | None, typer.Option("--ladder", metavar="TOOL", help="The tool to calibrate on graded damage.")
    ] = None,
    manifest: Annotated[
        Path | None, typer.Option("--manifest", help="Your ratings: a table with image and rating.")
    ] = None,
    root: Annotated[Path | None, typer.Option("--root", help="Folder of the pictures, with --manifest.")] = None,
    scale: Annotated[
        tuple[float, float] | None, typer.Option("--range", help="Lowest and highest rating, with --manifest.")
    ] = None,
    count: Annotated[
        int | None, typer.Option("--photographs", min=1, help="Use only this many; quicker for slow tools.")
    ] = None,
    overlay: Annotated[
        Path | None, typer.Option("--overlay", help="File to store the curves in; default: the settings' overlay.")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Store fits to your ratings even where they agree less than before.")
    ] = False,
    config: ConfigFile = None,
    as_json: AsJson = False,
) -> None:
    """Fit a tool's curve on graded damage, or tools and the embedded score to your ratings; both count from then on.

    --manifest needs at least 30 ratings of several contents; see docs/calibrate.md.

    \b
    Examples:
      agenticiqa calibrate --ladder PSNR --photographs 1
    """
    from agenticiqa.config import load_settings
    from agenticiqa.errors import UsageError

    if (ladder is None) == (manifest is None):
        raise UsageError("name either a tool with --ladder, or your ratings with --manifest")
    settings = load_settings(config, {"pipeline": {"tools_overlay": str(overlay)}} if overlay else None)
    if ladder is not None:
        _by_ladder(settings, config, ladder, count, as_json)
    elif manifest is not None:
        _by_ratings(settings, config, manifest, root, scale, force, as_json)


def _by_ladder(settings: Settings, config: Path | None, ladder: str, count: int | None, as_json: bool) -> None:
    from agenticiqa.parts import tools_for
    from agenticiqa.tools import default_registry
    from agenticiqa.tools.catalogue import store_overlay
    from agenticiqa.tools.ladder import build_ladders, calibrate_by_ladder, photographs

    tool = tools_for(settings).get(ladder)
    # Only the tool itself is added: published metrics judge, not models fitted on ladders like these.
    registry, name = default_registry(settings, more=[tool]), tool.name
    found = calibrate_by_ladder(registry, name, build_ladders(list(photographs().values())[:count]))
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
    from agenticiqa.evaluation.samples import RatedSet, Scale
    from agenticiqa.parts import build_parts
    from agenticiqa.tools import default_registry
    from agenticiqa.tools.catalogue import store_overlay

    rated = read_manifest(manifest, root, Scale(*scale) if scale else None)
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
        typer.echo(json.dumps(_as_json(found, path), indent=2, ensure_ascii=False))
        return
    for line in _lines(rated, found):
        typer.echo(line)
    typer.echo(_outcome(found, path, config))


def _lines(rated: RatedSet, found: Recalibration) -> Iterator[str]:
    missing = f", {len(rated.missing)} pictures missing" if rated.missing else ""
    yield f"{len(rated.samples)} ratings{missing}; {rated.scale.in_words()}"
    yield f"as shipped, and fitted, on ratings left out ({found.folds} folds over contents):"
    yield from map(_line, found.changes)
    yield from (f"  {name}: left as it was, {reason}" for name, reason in found.left.items())


def _outcome(found: Recalibration, path: Path, config: Path | None) -> str:
    if not (found.calibrations or found.embedded):
        return "nothing stored: no fit agrees better with ratings left out; more ratings would help"
    return f"stored in {path}; it counts {_since(path, config)} and is named in every result's provenance"


def _since(path: Path, config: Path | None) -> str:
    from agenticiqa.config import load_settings

    used = load_settings(config).tools_overlay_path() == path
    return "from now on" if used else f"where the setting pipeline.tools_overlay is {path}"


def _line(change: Change) -> str:
    before = (
        "no curve" if change.before_rmse is None else f"RMSE {change.before_rmse:.3f}, SRCC {change.before_srcc:.3f}"
    )
    line = f"  {change.name}: {before} → RMSE {change.after_rmse:.3f}, SRCC {change.after_srcc:.3f}"
    if change.after_coverage is not None:
        line += (
            f"; 95 % interval holds {change.before_coverage:.1%} (width {change.before_width:.2f}) → "
            f"{change.after_coverage:.1%} (width {change.after_width:.2f})"
        )
    return line if change.stored else f"{line}; worse, not stored (--force stores it)"


def _as_json(found: Recalibration, path: Path) -> dict[str, Any]:
    return {
        "file": str(path),
        "folds": found.folds,
        "changes": [vars(change) for change in found.changes],
        "left": found.left,
        "embedded": {mode: scale.model_dump(mode="json") for mode, scale in found.embedded.items()},
        "tools": sorted(found.calibrations),
    }
