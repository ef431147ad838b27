"""Which part of a picture is softest and which sharpest, of the parts that have edges to tell it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from agenticiqa.embedded.regions.sharpness import EdgeMap, Softness
from agenticiqa.limits import SOFT_PART, TIMES_SOFTER
from agenticiqa.state import Region

# Cells a side.
GRID = 4
# A part with fewer edges, or edges fainter than this many grey levels, is a sky, a wall or a cloud: it has nothing
# that could be in focus.
FEWEST_EDGES, FAINTEST = 40, 5.0
# With fewer parts that have detail, the rest may be a wall as well as a background too soft for edges.
FEWEST_PARTS = 4
DOUBT = 0.1
_COLUMNS, _ROWS = ("left", "", "", "right"), ("top", "", "", "bottom")


@dataclass(frozen=True)
class Part:
    """A part of the picture by its place, with the blur of its edges in pixels at working size."""

    place: str
    softness: float


@dataclass(frozen=True)
class FocusParts:
    """The softest and the sharpest part of a picture, and how many of its parts have something to be in focus."""

    softest: Part
    sharpest: Part
    count: int

    @property
    def some_soft(self) -> float:
        """How likely some part is soft while another is not."""
        likely = _step(self.softest.softness)
        return likely if self.softest.softness >= TIMES_SOFTER * self.sharpest.softness else min(likely, 0.45)

    @property
    def all_soft(self) -> float:
        """How likely no part is sharp."""
        return _step(self.sharpest.softness)


def focus_parts(edges: EdgeMap, width: int, height: int) -> FocusParts | None:
    """The softest and the sharpest part; None where no part has enough edges."""
    parts = []
    for row in range(GRID):
        for column in range(GRID):
            found = edges.inside(_cell(row, column, width, height)) if min(width, height) >= GRID else None
            if found is not None and _has_structure(found):
                parts.append(Part(_place(row, column), found.typical))
    if not parts:
        return None
    by_softness = sorted(parts, key=lambda part: part.softness)
    return FocusParts(by_softness[-1], by_softness[0], len(parts))


def _has_structure(found: Softness) -> bool:
    return found.edges >= FEWEST_EDGES and found.contrast >= FAINTEST


def _cell(row: int, column: int, width: int, height: int) -> Region:
    return Region(
        left=column * width // GRID,
        top=row * height // GRID,
        right=(column + 1) * width // GRID,
        bottom=(row + 1) * height // GRID,
    )


def _place(row: int, column: int) -> str:
    return f"{_ROWS[row]} {_COLUMNS[column]}".strip() or "centre"


def _step(softness: float) -> float:
    return 1 / (1 + math.exp(-(softness - SOFT_PART) / DOUBT))
