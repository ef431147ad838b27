"""Softness, noise and coding measured at the file's own resolution on nine tiles spread over the whole picture.

A picture of any size costs the same. The tiles begin on borders of 16-pixel blocks, so that a JPEG grid stays in
place; nothing is measured across their seams.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import cv2
import numpy as np
import numpy.typing as npt

from agenticiqa.embedded.distortions.tone_features import Traces
from agenticiqa.state import Region
from agenticiqa.tools.metrics import blur_radius, jpeg, noise
from agenticiqa.tools.metrics.planes import percentile
from agenticiqa.tools.tool import Pixels

Floats = npt.NDArray[np.float32]
Values = npt.NDArray[np.float64]
SIDE, PER_SIDE = 112, 3
GRID = 16
SMALLEST_SIDE = 32
LUMA = np.array([0.299, 0.587, 0.114], np.float32)


@dataclass(frozen=True)
class Tiles:
    """Nine square tiles, row by row, with the corner (top, left) of each."""

    pixels: Pixels
    corners: tuple[tuple[int, int], ...]

    @property
    def side(self) -> int:
        """The side of a tile in pixels."""
        return int(self.pixels.shape[1])

    @cached_property
    def radii(self) -> Values:
        """The blur radius of each tile in pixels; 12 where it has no edge."""
        return np.array([min(blur_radius.LARGEST_RADIUS, blur_radius.blur_radius(tile)) for tile in self.pixels])

    @cached_property
    def sigmas(self) -> Values:
        """The noise of each tile in grey levels."""
        return noise.noise_sigmas(self.pixels)

    @cached_property
    def quality(self) -> float:
        """The JPEG quality all tiles together betray, 100 without traces."""
        return jpeg.jpeg_quality(self.joined)

    @property
    def joined(self) -> Pixels:
        """The tiles side by side; a JPEG grid goes on over their seams."""
        side = self.side
        rows = self.pixels.reshape(PER_SIDE, PER_SIDE, side, side, 3).swapaxes(1, 2)
        return np.ascontiguousarray(rows.reshape(PER_SIDE * side, PER_SIDE * side, 3))

    @cached_property
    def luma(self) -> Floats:
        """The brightness of each tile."""
        return np.asarray(self.pixels.astype(np.float32) @ LUMA, np.float32)

    def region(self, number: int) -> Region:
        """Where a tile lies in the picture."""
        top, left = self.corners[number]
        return Region(left=left, top=top, right=left + self.side, bottom=top + self.side)


def cut_tiles(pixels: Pixels) -> Tiles:
    """Tiles of 112 pixels, smaller in a small picture, that overlap where they must."""
    side = max(GRID, min(SIDE, *(length // GRID * GRID for length in pixels.shape[:2])))
    starts = [
        [(length - side) * n // (PER_SIDE - 1) // GRID * GRID for n in range(PER_SIDE)] for length in pixels.shape[:2]
    ]
    corners = tuple((top, left) for top in starts[0] for left in starts[1])
    return Tiles(np.stack([pixels[t : t + side, left : left + side] for t, left in corners]), corners)


def tile_traces(tiles: Tiles) -> Traces:
    """Named statistics of softness, noise, the coding grid, ringing and blotches, in a fixed order."""
    radii, sigmas = np.sort(tiles.radii), np.sort(tiles.sigmas)
    middle = len(radii) // 2
    found = {f"tile.radius_{n}": float(radii[n]) for n in (0, 2, 4, 8)} | {
        "tile.radius_middle": float(tiles.radii[middle])
    }
    found |= {f"tile.sigma_{n}": float(sigmas[n]) for n in (0, 4, 8)} | {
        "tile.sigma_middle": float(tiles.sigmas[middle])
    }
    found["tile.jpeg_quality"] = tiles.quality
    red = np.asarray(tiles.pixels[..., 0].astype(np.float32) - tiles.luma, np.float32)
    for name, planes in (("luma", tiles.luma), ("red", red)):
        for axis, way in ((2, "across"), (1, "down")):
            found |= _grid(f"{name}_{way}", np.moveaxis(np.abs(np.diff(planes, axis=axis)), axis, 2))
    found["grid.red_16"] = _excess(_by_phase(np.abs(np.diff(red, axis=2)), 16).mean(axis=0))
    return found | _ringing(tiles.luma) | _blotches("luma", tiles.luma) | _blotches("red", red)


def _grid(name: str, steps: Floats) -> Traces:
    """How far steps on one phase of eight exceed the others: over all, over small ones, in the second worst tile."""
    by_tile, small = (_by_phase(values, 8) for values in (steps, np.minimum(steps, 6)))
    return {
        f"grid.{name}": _excess(by_tile.mean(axis=0)),
        f"grid.{name}_small": _excess(small.mean(axis=0)),
        f"grid.{name}_worst": float(np.sort([_excess(profile) for profile in by_tile])[-2]),
    }


def _by_phase(steps: Floats, period: int) -> Values:
    """The mean of each tile's steps at every phase of a period."""
    phases = np.arange(steps.shape[2]) % period == np.arange(period)[:, None]
    return np.asarray(steps.mean(axis=1) @ (phases / phases.sum(axis=1, keepdims=True)).T)


def _excess(profile: npt.NDArray[np.floating]) -> float:
    ordered = np.sort(profile)
    return float(np.log((ordered[-1] + 0.05) / (ordered[:-1].mean() + 0.05)))


def _ringing(luma: Floats) -> Traces:
    """Fine structure beside strong edges and far from them, flat neighbours, the calmest and the liveliest tile."""
    stacked = luma.reshape(-1, luma.shape[2])
    edges = cv2.magnitude(cv2.Sobel(stacked, cv2.CV_32F, 1, 0), cv2.Sobel(stacked, cv2.CV_32F, 0, 1))
    fine = np.abs(cv2.Laplacian(stacked, cv2.CV_32F))
    strong = (edges > percentile(edges, 95)).astype(np.uint8)
    wide, narrow, far = (cv2.dilate(strong, np.ones((side, side), np.uint8)) for side in (9, 3, 17))
    beside, away = fine[wide > narrow], fine[far == 0]
    across = cv2.absdiff(stacked[:, 1:], stacked[:, :-1])
    by_tile = np.log(0.1 + fine.reshape(len(luma), -1).mean(axis=1))
    return {
        "ringing.beside": float(np.log(0.1 + beside.mean())) if len(beside) else 0.0,
        "ringing.away": float(np.log(0.1 + away.mean())) if len(away) else 0.0,
        "ringing.flat": float(np.count_nonzero(across < 0.5) / across.size),
        "ringing.calmest": float(by_tile.min()),
        "ringing.liveliest": float(by_tile.max()),
    }


def _blotches(name: str, planes: Floats) -> Traces:
    """Structure a few pixels wide and structure of single pixels, in the calm parts: joined and plain grain."""
    stacked = planes.reshape(-1, planes.shape[2])
    narrow, wide = (cv2.GaussianBlur(stacked, (0, 0), sigma) for sigma in (1.2, 3.5))
    size = (stacked.shape[1] // GRID, stacked.shape[0] // GRID)
    band, fine = (
        np.asarray(cv2.resize(cv2.absdiff(*pair), size, interpolation=cv2.INTER_AREA), np.float32)
        for pair in ((narrow, wide), (stacked, narrow))
    )
    return {
        f"blotches.{name}": float(np.log(0.05 + percentile(band, 15))),
        f"blotches.{name}_fine": float(np.log(0.05 + percentile(fine, 15))),
        f"blotches.{name}_usual": float(np.log(0.05 + percentile(band, 50))),
    }
