"""How soft the edges of a region are, beside those of the rest of the picture, and which part is softest.

Every edge tells its own blur: blurring it once more by a known sigma flattens a sharp edge a lot and a soft one
hardly at all. Inside a region the edges of an ellipse around its middle count, since the rest of a box shows what is
behind the object, and a sharp ground behind a blurred object has most of the edges. Numbers are pixels at working size,
those of a face pixels of a copy in which it is no wider than `FACE_WIDTH`: a viewer judges a face by its own size, be
it most of a portrait or one of twenty.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from agenticiqa.embedded.trunk import Floats, Pixels, to_working_size
from agenticiqa.limits import SOFT_PART, TIMES_SOFTER
from agenticiqa.state import Region

# A fine and a coarse second blur: the fine one tells sharp edges apart, the coarse one soft edges.
REBLURS = (1.0, 2.5)
COARSE_FROM = 2.0
LARGEST_SIGMA = 12.0
# Slopes below this many grey levels a pixel are texture of the noise.
FAINTEST = 1.2
FEWEST_EDGES = 25
# The ellipse beside the box; a larger one where the smaller has too few edges.
INNER = (0.5, 0.7, 0.92)
# How wide a face is looked at, and the margin of its crop beside the face's own width.
FACE_WIDTH, FACE_MARGIN = 128, 0.15


@dataclass(frozen=True)
class Softness:
    """The blur of a region's edges in pixels at working size: of its sharper half, and of its typical edge.

    `edges` is how many edges were there to tell it, `contrast` how high those that stand out typically are, in grey
    levels.
    """

    sharp: float
    typical: float
    edges: int
    contrast: float


@dataclass(frozen=True)
class EdgeMap:
    """The edges of a picture: where they are, how soft each is and how much it stands out."""

    rows: npt.NDArray[np.int64]
    columns: npt.NDArray[np.int64]
    sigma: Floats
    height: Floats
    scale: float

    def within(self, region: Region, shares: Sequence[float] = INNER) -> Softness | None:
        """The softness inside the first ellipse around the middle of a region that has enough edges to tell it."""
        distance = self._distance(region)
        summaries = (self._summary(distance <= share) for share in shares)
        return next((summary for summary in summaries if summary is not None), None)

    def outside(self, region: Region) -> Softness | None:
        """The softness of the rest of the picture."""
        return self._summary(~self._in_box(region))

    def inside(self, region: Region) -> Softness | None:
        """The softness of all of a region up to its corners, for a part of the picture rather than an object."""
        return self._summary(self._in_box(region))

    def _summary(self, chosen: npt.NDArray[np.bool_]) -> Softness | None:
        sigma, height = self.sigma[chosen], self.height[chosen]
        if len(sigma) < FEWEST_EDGES:
            return None
        # The edges that stand out most are the outlines a person looks at.
        outstanding = height >= np.percentile(height, 50)
        low, middle = np.percentile(sigma[outstanding], (25, 50))
        return Softness(float(low), float(middle), len(sigma), float(np.median(height[outstanding])))

    def _in_box(self, region: Region) -> npt.NDArray[np.bool_]:
        left, top, right, bottom = self._box(region)
        return (self.columns >= left) & (self.rows >= top) & (self.columns < right) & (self.rows < bottom)

    def _distance(self, region: Region) -> Floats:
        """How far each edge is from the middle of a region; 1 at the ellipse that touches its sides."""
        left, top, right, bottom = self._box(region)
        across = (self.columns - (left + right) / 2) / max(1.0, (right - left) / 2)
        down = (self.rows - (top + bottom) / 2) / max(1.0, (bottom - top) / 2)
        return np.asarray(np.hypot(across, down), np.float32)

    def _box(self, region: Region) -> tuple[float, float, float, float]:
        left, top, right, bottom = (
            side * self.scale for side in (region.left, region.top, region.right, region.bottom)
        )
        return left, top, right, bottom


def find_edges(pixels: Pixels) -> EdgeMap:
    """The edges of a picture at working size, each with the sigma of the Gaussian that would explain it."""
    return _edges(*to_working_size(pixels))


def face_softness(pixels: Pixels, face: Region) -> Softness | None:
    """The softness of a face, or of a pair of eyes, at its own size; None where it has too few edges to tell."""
    across, down = (round(FACE_MARGIN * side) for side in (face.right - face.left, face.bottom - face.top))
    left, top = max(0, face.left - across), max(0, face.top - down)
    crop = np.ascontiguousarray(pixels[top : face.bottom + down, left : face.right + across])
    scale = min(1.0, FACE_WIDTH / (face.right - face.left))
    if scale < 1:
        crop = np.asarray(cv2.resize(crop, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), np.uint8)
    inside = Region(left=face.left - left, top=face.top - top, right=face.right - left, bottom=face.bottom - top)
    return _edges(crop, scale).within(inside, INNER[-1:])


def _edges(picture: Pixels, scale: float) -> EdgeMap:
    grey = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY).astype(np.float32)
    # The finest grain is no edge; half a pixel is taken off again below.
    smooth = cv2.GaussianBlur(grey, (0, 0), 0.7)
    slope = _slope(smooth)
    peaks = (slope >= cv2.dilate(slope, np.ones((3, 3), np.uint8))) & (slope >= FAINTEST)
    peaks[:3], peaks[-3:], peaks[:, :3], peaks[:, -3:] = False, False, False, False
    rows, columns = np.nonzero(peaks)
    before = slope[rows, columns]
    sigmas = [
        _sigma(before, _slope(cv2.GaussianBlur(smooth, (0, 0), again))[rows, columns], again) for again in REBLURS
    ]
    sigma = np.where(sigmas[0] < COARSE_FROM, sigmas[0], sigmas[1])
    own = np.sqrt(np.maximum(sigma**2 - 0.7**2, 0.05)).astype(np.float32)
    return EdgeMap(rows, columns, own, before * own, scale)


def _sigma(before: Floats, after: Floats, again: float) -> Floats:
    ratio = np.maximum(before / np.maximum(after, 1e-3), 1.001)
    return np.asarray(np.minimum(again / np.sqrt(ratio**2 - 1), LARGEST_SIGMA), np.float32)


def _slope(plane: Floats) -> Floats:
    across = cv2.Sobel(plane, cv2.CV_32F, 1, 0, ksize=3, scale=1 / 8)
    down = cv2.Sobel(plane, cv2.CV_32F, 0, 1, ksize=3, scale=1 / 8)
    return np.asarray(cv2.magnitude(across, down), np.float32)


# Cells a side.
GRID = 4
# A part with fewer edges, or edges fainter than this many grey levels, is a sky, a wall or a cloud: it has nothing
# that could be in focus.
FEWEST_EDGES_OF_PART, FAINTEST_OF_PART = 40, 5.0
# With fewer parts that have detail, the rest may be a wall as well as a background too soft for edges.
FEWEST_PARTS = 4
DOUBT = 0.1
_COLUMNS, _ROWS = ("left", "", "", "right"), ("top", "", "", "bottom")


@dataclass(frozen=True)
class FocusPart:
    """A part of the picture by its place, with the blur of its edges in pixels at working size."""

    place: str
    softness: float


@dataclass(frozen=True)
class FocusParts:
    """The softest and the sharpest part of a picture, and how many of its parts have something to be in focus."""

    softest: FocusPart
    sharpest: FocusPart
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
    if min(width, height) < GRID:
        return None
    parts = []
    columns, rows = ([number * side // GRID for number in range(GRID + 1)] for side in (width, height))
    for row, column in np.ndindex(GRID, GRID):
        left, top, right, bottom = columns[column], rows[row], columns[column + 1], rows[row + 1]
        found = edges.inside(Region(left=left, top=top, right=right, bottom=bottom))
        if found and found.edges >= FEWEST_EDGES_OF_PART and found.contrast >= FAINTEST_OF_PART:
            parts.append(FocusPart(f"{_ROWS[row]} {_COLUMNS[column]}".strip() or "centre", found.typical))
    if not parts:
        return None
    by_softness = sorted(parts, key=lambda part: part.softness)
    return FocusParts(by_softness[-1], by_softness[0], len(parts))


def _step(softness: float) -> float:
    return 1 / (1 + math.exp(-(softness - SOFT_PART) / DOUBT))
