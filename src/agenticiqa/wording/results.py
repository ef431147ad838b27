"""Results of several images in words."""

from __future__ import annotations

from collections.abc import Sequence

from agenticiqa.state import UNABLE


def chosen_in_words(names: Sequence[str]) -> str:
    """The image that was asked for, that several are level, or that none could be told."""
    if not names:
        return f"{UNABLE}: no image has a score"
    return names[0] if len(names) == 1 else f"no clear difference between {', '.join(names)}"
