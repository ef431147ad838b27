"""How soft the edges of a region are, beside those of the rest of the picture.

Every edge tells its own blur: blurring it once more by a known sigma flattens a sharp edge a lot and a soft one
hardly at all. Inside a region the edges of an ellipse around its middle count, since the rest of a box shows what is
behind the object, and a sharp ground behind a blurred object has most of the edges. All numbers are pixels at working
size.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from agenticiqa.embedded.trunk import to_working_size
from agenticiqa.state import Region

Pixels = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float32]

# A fine and a coarse second blur: the fine one tells sharp edges apart, the coarse one soft edges.
REBLURS = (1.0, 2.5)
COARSE_FROM = 2.0
LARGEST_SIGMA = 12.0
# Slopes below this many grey levels a pixel are texture of the noise.
FAINTEST = 1.2
FEWEST_EDGES = 25
# The ellipse beside the box; a larger one where the smaller has too few edges.
INNER = (0.5, 0.7, 0.92)


@dataclass(frozen=True)
class Softness:
    """The blur of a region's edges in pixels at working size: of its sharper half, and of its typical edge.

    `edges` is how many edges were there to tell it.
    """

    sharp: float
    typical: float
    edges: int


@dataclass(frozen=True)
class EdgeMap:
    """The edges of a picture: where they are, how soft each is and how much it stands out."""

    rows: npt.NDArray[np.int64]
    columns: npt.NDArray[np.int64]
    sigma: Floats
    height: Floats
    scale: float

    def within(self, region: Region | None) -> Softness | None:
        """The softness of a region, or of the whole picture; None where there are too few edges to tell."""
        if region is None:
            return _summary(self.sigma, self.height)
        distance = self._distance(region)
        summaries = (_summary(self.sigma[inside], self.height[inside]) for inside in (distance <= x for x in INNER))
        return next((summary for summary in summaries if summary is not None), None)

    def outside(self, region: Region) -> Softness | None:
        """The softness of the rest of the picture."""
        box = self._box(region)
        away = ~((self.columns >= box[0]) & (self.rows >= box[1]) & (self.columns < box[2]) & (self.rows < box[3]))
        return _summary(self.sigma[away], self.height[away])

    def _distance(self, region: Region) -> Floats:
        """How far each edge is from the middle of a region; 1 at the ellipse that touches its sides."""
        left, top, right, bottom = self._box(region)
        across = (self.columns - (left + right) / 2) / max(1.0, (right - left) / 2)
        down = (self.rows - (top + bottom) / 2) / max(1.0, (bottom - top) / 2)
        return np.asarray(np.hypot(across, down), np.float32)

    def _box(self, region: Region) -> tuple[float, float, float, float]:
        return (
            region.left * self.scale,
            region.top * self.scale,
            region.right * self.scale,
            region.bottom * self.scale,
        )


def find_edges(pixels: Pixels) -> EdgeMap:
    """The edges of a picture at working size, each with the sigma of the Gaussian that would explain it."""
    working, scale = to_working_size(pixels)
    grey = cv2.cvtColor(working, cv2.COLOR_RGB2GRAY).astype(np.float32)
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


def _summary(sigma: Floats, height: Floats) -> Softness | None:
    if len(sigma) < FEWEST_EDGES:
        return None
    # The edges that stand out most are the outlines a person looks at.
    outstanding = height >= np.percentile(height, 50)
    low, middle = np.percentile(sigma[outstanding], (25, 50))
    return Softness(float(low), float(middle), len(sigma))
