"""`agenticiqa measure`: what the tools say, without the agent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from agenticiqa.cli.shared_options import AsJson, ConfigFile, Offline, effective_settings, guard_outputs
from agenticiqa.errors import UsageError
from agenticiqa.outputs import replacing, require_folder_of

if TYPE_CHECKING:
    from agenticiqa.assessor.tool_measurements import Measured
    from agenticiqa.config import Settings
    from agenticiqa.tools.registry import ToolRegistry


def measure(
    image: Annotated[Path | None, typer.Argument(help="The image to measure.")] = None,
    reference: Annotated[Path | None, typer.Argument(help="Its original, for tools that compare.")] = None,
    tools: Annotated[
        str | None, typer.Option(help="Names, parted by commas; default: all quick ones that fit.")
    ] = None,
    align: Annotated[
        Literal["resize"] | None, typer.Option(help="Scale a reference of another size to the image's.")
    ] = None,
    map_to: Annotated[
        Path | None, typer.Option("--map", help="Also draw where a pair differs, or where one image is poor (PNG).")
    ] = None,
    listing: Annotated[bool, typer.Option("--list", help="List the tools that can be named.")] = False,
    config: ConfigFile = None,
    offline: Offline = False,
    as_json: AsJson = False,
) -> None:
    """Measure an image, or a pair, with tools of your choice; no agent, no model is asked.

    \b
    Examples:
      agenticiqa measure photo.jpg
      agenticiqa measure compressed.jpg original.png --tools SSIM,PSNR,BLUR_RADIUS
      agenticiqa measure compressed.jpg original.png --tools SSIM --json --map difference.png
      agenticiqa measure --list
    """
    from agenticiqa.assessor.tool_measurements import Measured, measure_with, measuring_tools, tool_names

    settings = effective_settings(config, offline=offline)
    if listing:
        typer.echo(_listed(measuring_tools(settings, ["AIQA_NR"]), as_json))
        return
    if image is None:
        raise UsageError("an image is needed; `agenticiqa measure --list` shows the tools")
    if map_to is not None:
        require_folder_of(map_to)
        guard_outputs(settings, [map_to], (image, reference))
    names = tool_names(tools)
    registry = measuring_tools(settings, names)
    found = measure_with(registry, settings.image_store(), image, reference, names, align)
    values = [Measured.of(registry, each) for each in found.values()]
    as_values = [one.model_dump() for one in values]
    typer.echo(json.dumps(as_values, indent=2) if as_json else "\n".join(map(_line, values)))
    if map_to is not None:
        write_map(map_to, image, reference, settings, align)


def write_map(
    target: Path, image: Path, reference: Path | None, settings: Settings, align: Literal["resize"] | None
) -> None:
    """Draws where the pair differs; of a single image, where its quality is low."""
    from PIL import Image

    test, *others = settings.image_store(align).images(str(image), str(reference) if reference else None)
    if others:
        from agenticiqa.embedded.full_reference.difference_map import difference_map, in_colours

        with replacing(target) as spare:
            drawn = difference_map(others[0].image.pixels, test.image.pixels)
            Image.fromarray(in_colours(drawn)).save(spare, "PNG")
        return
    from agenticiqa.report.pictures import quality_overlay

    with replacing(target) as spare:
        quality_overlay(test.image, settings.pipeline.terms).save(spare, "PNG")


def _line(found: Measured) -> str:
    score = "" if found.score is None else f", {found.score:.2f} of 5"
    unit = f" {found.unit}" if found.unit else ""
    notes = "".join(f"\n  {note}" for note in found.notes)
    return f"{found.tool}: {found.value:.6g}{unit}{score}{notes}"


def _listed(registry: ToolRegistry, as_json: bool) -> str:
    cards = [registry.card(name) for name in registry.names() if registry.available(name) is None]
    if as_json:
        return json.dumps([card.model_dump(mode="json") for card in cards], indent=2)
    return "\n".join(
        f"{card.name}: {'compares with a reference' if card.reference == 'FR' else 'needs no reference'}, "
        f"{'higher' if card.higher_is_better else 'lower'} is better{', ' + card.unit if card.unit else ''}"
        for card in cards
    )
