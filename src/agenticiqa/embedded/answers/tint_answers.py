"""The colour of a cast: whether it is the one that was named."""

from __future__ import annotations

from agenticiqa.embedded.answers.evidence import Evidence
from agenticiqa.question.meaning import Tint
from agenticiqa.values import Distortion

# What a person may call a cast that is measured as the color in front: names meet where one color becomes the next.
_ALSO_CALLED: dict[str, tuple[Tint, ...]] = {
    "red": ("orange", "magenta", "warm"), "orange": ("red", "yellow", "warm"), "yellow": ("orange", "warm"),
    "green": ("cyan",), "cyan": ("green", "blue", "cold"), "blue": ("cyan", "violet", "cold"),
    "violet": ("blue", "magenta"), "magenta": ("violet", "red"),
}  # fmt: skip


def cast_of(evidence: Evidence) -> Distortion | None:
    """The cast that was found; None where the colors are not found to be tinted."""
    item = evidence.strongest(["Color distortions"])
    return item if item is not None and item.kind == "color_cast" else None


def is_called(item: Distortion, tints: tuple[Tint, ...]) -> bool | None:
    """Whether a cast may be called by one of these colors; None where its color was not measured."""
    color = item.colour
    return None if color is None else any(tint == color or tint in _ALSO_CALLED[color] for tint in tints)
