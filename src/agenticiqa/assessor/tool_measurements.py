"""Numbers without the agent: what the tools say of a picture or a pair, at once."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, Field

from agenticiqa.config import Settings, load_settings
from agenticiqa.errors import ToolUnavailableError
from agenticiqa.images import Align, ImageSource, ImageStore, LoadedImage
from agenticiqa.tools.catalogue import default_registry
from agenticiqa.tools.registry import ToolRegistry
from agenticiqa.tools.tool import Measurement

# They are models and take a second to load, so they are made only for whoever names one.
LEARNED = ("AIQA_NR", "AIQA_FR")


def measure(
    image: ImageSource,
    tools: Sequence[str] | str | None = None,
    *,
    reference: ImageSource | None = None,
    align: Align | None = None,
    settings: Settings | None = None,
) -> dict[str, Measurement]:
    """What each tool says, by name; without names, every quick tool that fits. Nothing is planned or asked.

    Raises UnknownToolError, ToolUnavailableError (no reference where one is needed) and ImageError.

    >>> from agenticiqa.tools.synthetic.ladder import photographs
    >>> cat = photographs()["chelsea"].pixels
    >>> measure(cat, "PSNR", reference=cat)["PSNR"].raw
    100.0
    """
    names, settings = tool_names(tools), settings or load_settings()
    return measure_with(measuring_tools(settings, names), settings.image_store(), image, reference, names, align)


def measure_with(
    registry: ToolRegistry,
    store: ImageStore,
    image: ImageSource,
    reference: ImageSource | None,
    names: Sequence[str],
    align: Align | None = None,
) -> dict[str, Measurement]:
    """The same with tools and the door to images at hand."""
    test = store.open(image)
    other = None if reference is None else store.open(reference)
    chosen = [registry.get(name).name for name in names] if names else quick_tools(registry, test, other)
    return {name: registry.execute(name, test, other, align=align) for name in chosen}


class Measured(BaseModel):
    """What a tool said, for programs."""

    tool: str = Field(examples=["SSIM"])
    value: float = Field(examples=[0.9321])
    unit: str | None
    score: float | None = Field(description="the value on the scale from 1 to 5, for calibrated tools")
    higher_is_better: bool
    notes: list[str]
    seconds: float

    @classmethod
    def of(cls, registry: ToolRegistry, found: Measurement) -> Measured:
        """The measurement, with what its card says of the tool."""
        card = registry.card(found.tool)
        return cls(
            tool=found.tool,
            value=found.raw,
            unit=card.unit,
            score=found.calibrated,
            higher_is_better=card.higher_is_better,
            notes=list(found.notes),
            seconds=round(found.seconds, 4),
        )


def tool_names(tools: Sequence[str] | str | None) -> list[str]:
    """The names in a list, or in a text parted by commas."""
    given = tools.split(",") if isinstance(tools, str) else tools or ()
    return [name.strip() for name in given if name.strip()]


def measuring_tools(settings: Settings, names: Sequence[str] = ()) -> ToolRegistry:
    """The tools, without the learned ones unless they are among the names."""
    wanted = {name.upper() for name in names}
    if wanted.isdisjoint(LEARNED):
        return default_registry(settings)
    from agenticiqa.embedded.tools import learned_tools

    return default_registry(settings, more=learned_tools(settings.pipeline.terms))


def quick_tools(registry: ToolRegistry, test: LoadedImage, reference: LoadedImage | None) -> list[str]:
    """The names of all built-in tools that take little time and fit the pictures."""
    cards = [registry.card(name) for name in registry.names()]
    side = min(test.size)
    found = [
        card.name
        for card in cards
        if card.cost == "cheap"
        and card.implementation.startswith("builtin:")
        and (reference is not None or card.reference == "NR")
        and card.min_side <= side
    ]
    if not found:
        raise ToolUnavailableError(f"no tool fits a picture of {test.width}×{test.height} pixels; use a larger one")
    return found
