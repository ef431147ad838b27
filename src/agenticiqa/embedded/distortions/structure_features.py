"""Traces of blur, sharpening, coding and resampling: octaves, edges, block grids, repeats, misplaced colours."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from agenticiqa.embedded.distortions.tone_features import Traces
from agenticiqa.tools.metrics.planes import (
    Plane,
    block_dct,
    lagged_product_mean,
    median,
    percentile,
    phase_means,
    product_sum,
    profile,
)
from agenticiqa.tools.tool import Pixels

GRID = 8
TINY = 1e-3
# From this size on neighbours differ and a cosine is not empty.
JUST_SEEN = np.float32(0.6)
SHIFTS = (-4, -2, -1, 1, 2, 4)
REACH = max(SHIFTS)


def structure_traces(pixels: Pixels, planes: tuple[Plane, Plane, Plane]) -> Traces:
    """Everything that tells what happened to edges and blocks."""
    found: Traces = {}
    for name, plane, octaves in zip(("y", "cb", "cr"), planes, (6, 4, 4), strict=True):
        found |= {f"band.{name}_{n}": value for n, value in enumerate(_octaves(plane, octaves))}
    luma = planes[0]
    found |= _directions(luma) | _edge_shape(luma) | _normalised(luma)
    across, down = (np.asarray(cv2.absdiff(*pair)) for pair in ((luma[:, 1:], luma[:, :-1]), (luma[1:], luma[:-1])))
    found |= _grid(across, down) | _cosines(luma)
    found |= _repeats(pixels, luma) | _strips(across, down)
    return found | _displacement(pixels)


def _octaves(plane: Plane, count: int) -> list[float]:
    energies = []
    for _ in range(count):
        smaller = cv2.pyrDown(plane)
        lost = cv2.norm(plane, cv2.pyrUp(smaller, dstsize=plane.shape[::-1]), cv2.NORM_L2SQR)
        energies.append(float(np.log(0.05 + np.sqrt(lost / plane.size))))
        plane = np.asarray(smaller)
    return energies


def _directions(luma: Plane) -> Traces:
    """Strength and one-sidedness of slopes at three scales: motion blur spares one direction."""
    found: Traces = {}
    plane = luma
    for scale in range(3):
        across, down = (np.asarray(cv2.Sobel(plane, cv2.CV_32F, *way)) for way in ((1, 0), (0, 1)))
        xx, yy, xy = (product_sum(a, b) / plane.size for a, b in ((across, across), (down, down), (across, down)))
        large = (xx + yy) / 2 + np.hypot((xx - yy) / 2, xy)
        small = max(xx + yy - large, 0)
        found[f"slope.large_{scale}"] = float(np.log(1 + large))
        found[f"slope.small_{scale}"] = float(np.log(1 + small))
        found[f"slope.straight_{scale}"] = float(np.log((1 + max(xx, yy)) / (1 + min(xx, yy))))
        plane = np.asarray(cv2.pyrDown(plane))
    return found


def _edge_shape(luma: Plane) -> Traces:
    """How the steepest parts behave under further blur, and how far they overshoot."""
    slope = _slope(luma)
    threshold, steepest = percentile(_thinned(slope), (95, 99.5))
    steep = np.flatnonzero(slope >= max(2.0, float(threshold)))[::2]
    before = slope.ravel()[steep]
    found: Traces = {"edge.steepest": float(np.log1p(steepest))}
    for sigma in (0.8, 1.6, 3.2):
        blurred = np.asarray(cv2.GaussianBlur(luma, (0, 0), sigma))
        fading = np.log((before + 0.1) / (_slope_at(blurred, steep) + 0.1)) if len(steep) else np.zeros(1)
        for q, value in zip((25, 50, 90), percentile(fading, (25, 50, 90)), strict=True):
            found[f"edge.fade_{sigma}_{q}"] = float(value)
        overshoot = np.abs(_thinned(luma) - _thinned(blurred))
        found[f"edge.over_{sigma}"] = float(np.log(TINY + percentile(overshoot, 99)))
    clipped = ((luma < 2) | (luma > 253)).ravel()
    everywhere = np.count_nonzero(clipped) / clipped.size
    found["edge.clipped"] = float(clipped[steep].mean() - everywhere) if len(steep) else 0.0
    power, mean = product_sum(slope, slope) / slope.size, cv2.mean(slope)[0]
    found["edge.tails"] = float(np.log1p((power + TINY) / (mean**2 + TINY)))
    return found


def _thinned(plane: Plane) -> Plane:
    """Every third pixel each way: enough for percentiles, which would otherwise cost the most."""
    return plane[1::3, 1::3]


def _slope(plane: npt.NDArray[np.float32]) -> Plane:
    kernel, point = np.array([-0.5, 0, 0.5], np.float32), np.ones(1, np.float32)
    across = cv2.sepFilter2D(plane, cv2.CV_32F, kernel, point, borderType=cv2.BORDER_REFLECT)
    down = cv2.sepFilter2D(plane, cv2.CV_32F, point, kernel, borderType=cv2.BORDER_REFLECT)
    return np.asarray(cv2.magnitude(across, down))


def _slope_at(plane: Plane, places: npt.NDArray[np.intp]) -> Plane:
    """The same at some places of the flat plane only."""
    width = plane.shape[1] + 2
    values = np.asarray(cv2.copyMakeBorder(plane, 1, 1, 1, 1, cv2.BORDER_REFLECT)).ravel()
    # Each row has become longer by two, and all of them lie one row lower and one pixel to the right.
    places = places + 2 * (places // plane.shape[1]) + width + 1
    left, right, above, below = (values[places + offset] for offset in (-1, 1, -width, width))
    return np.asarray(np.hypot((right - left) / 2, (below - above) / 2), np.float32)


def _normalised(luma: Plane) -> Traces:
    """Shape of brightness divided by its local contrast, and of products of neighbours, at two scales."""
    found: Traces = {}
    plane = luma
    for scale in range(2):
        mean = cv2.GaussianBlur(plane, (7, 7), 7 / 6)
        square = cv2.GaussianBlur(plane * plane, (7, 7), 7 / 6)
        even = np.asarray((plane - mean) / (np.sqrt(np.maximum(square - mean * mean, 0)) + 1), np.float32)
        squares, sizes = even * even, np.abs(even)
        power = cv2.mean(squares)[0] + TINY
        found[f"even.power_{scale}"] = float(np.log(power))
        found[f"even.tails_{scale}"] = float(np.log(product_sum(squares, squares) / even.size / power**2 + TINY))
        found[f"even.small_{scale}"] = float(cv2.mean(sizes)[0] / np.sqrt(power))
        for down, right in ((0, 1), (1, 0), (1, 1)):
            found[f"even.pair_{scale}{down}{right}"] = lagged_product_mean(even, down, right) / power
            found[f"even.pair_size_{scale}{down}{right}"] = lagged_product_mean(sizes, down, right) / power
        plane = np.asarray(cv2.pyrDown(plane))
    return found


def _grid(across: Plane, down: Plane) -> Traces:
    """Steps between neighbours by phase of the 8-pixel grid."""
    found: Traces = {}
    for name, steps, along in (("across", across, 0), ("down", down, 1)):
        sizes, still = (phase_means(profile(values, along), GRID) for values in (steps, _below(steps)))
        usual, usually_still = median(sizes), median(still)
        found[f"grid.{name}_excess"] = float(sizes.max() / (usual + 0.05) - 1)
        found[f"grid.{name}_home"] = float(sizes[GRID - 1] / (usual + 0.05) - 1)
        found[f"grid.{name}_still"] = usually_still
        found[f"grid.{name}_contrast"] = float(usually_still - still.min())
    return found


def _cosines(luma: Plane) -> Traces:
    """How empty the fine cosines of the blocks of the 8-pixel grid are."""
    rows, columns = luma.shape[0] // GRID, luma.shape[1] // GRID
    blocks = luma[: rows * GRID, : columns * GRID].reshape(rows, GRID, columns, GRID).swapaxes(1, 2)
    size = np.abs(block_dct(blocks.reshape(-1, GRID, GRID))).reshape(-1, GRID * GRID)
    sizes, empty = (profile(values, 0) for values in (size, _below(size)))
    order = np.add.outer(np.arange(GRID), np.arange(GRID)).ravel()
    found: Traces = {}
    for name, part in (
        ("low", (order > 0) & (order < 4)),
        ("middle", (order >= 4) & (order < 8)),
        ("high", order >= 8),
    ):
        found[f"cosine.{name}_empty"] = float(empty[part].mean())
        found[f"cosine.{name}_size"] = float(np.log(0.05 + sizes[part].mean()))
    found["cosine.flat"] = float((size[:, 1:].max(axis=1) < 2).mean())
    return found


def _below(sizes: Plane) -> Pixels:
    """1 where a step or a cosine is as good as none, 0 elsewhere."""
    return (sizes < JUST_SEEN).view(np.uint8)


def _repeats(pixels: Pixels, luma: Plane) -> Traces:
    """Equal neighbours, as cells and flat areas leave them, and the beat that enlarging leaves in curvature."""
    found: Traces = {}
    codes = cv2.cvtColor(pixels, cv2.COLOR_RGB2RGBA).view(np.int32)[..., 0]
    for name, axis in (("across", 1), ("down", 0)):
        same = codes[:, 1:] == codes[:, :-1] if axis else codes[1:] == codes[:-1]
        runs = profile(same.view(np.uint8), 1 - axis)
        found[f"repeat.{name}"] = float(runs.mean())
        found[f"repeat.{name}_beat"] = _beat(runs)
        found[f"curve.{name}_beat"] = _beat(profile(_curvature(luma, axis), 1 - axis))
    return found


def _curvature(luma: Plane, axis: int) -> Plane:
    """The size of the second difference along an axis."""
    kernel = np.array([1, -2, 1], np.float32)
    curved = np.abs(cv2.filter2D(luma, cv2.CV_32F, kernel[None] if axis else kernel[:, None]))
    return np.ascontiguousarray(curved[:, 1:-1] if axis else curved[1:-1])


def _beat(means: npt.NDArray[np.float64]) -> float:
    """How far the strongest period of a profile stands out."""
    if len(means) < 16:
        return 0.0
    flat = means - means.mean()
    power = np.abs(np.fft.rfft(flat * np.hanning(len(flat))))[4:]
    return float(np.log((power.max() + 1e-4) / (median(power) + 1e-4)))


def _strips(across: Plane, down: Plane) -> Traces:
    """Rows and columns that are much steeper than their neighbours, as displaced strips and pasted blocks leave."""
    found: Traces = {}
    for name, values, along in (("rows", down, 1), ("columns", across, 0)):
        steps = profile(values, along)
        local = np.asarray(cv2.blur(steps.astype(np.float32)[None], (15, 1)))[0]
        jump = steps / (local + 0.3)
        found[f"strip.{name}_jump"] = float(np.log(max(float(percentile(jump, 99)), TINY)))
        found[f"strip.{name}_tails"] = float(
            np.log(((jump - jump.mean()) ** 4).mean() / (jump.var() ** 2 + 1e-9) + TINY)
        )
    return found


def _displacement(pixels: Pixels) -> Traces:
    """Whether red or blue edges lie beside the green ones."""
    red, middle, blue = (np.asarray(plane, np.float32) for plane in cv2.split(cv2.Sobel(pixels, cv2.CV_16S, 1, 0)[::2]))
    found: Traces = {}
    # Without its sides, which would be compared across the border.
    middle[:, :REACH] = middle[:, -REACH:] = 0
    count = middle.size - 2 * REACH * len(middle)
    size = float(np.sqrt(product_sum(middle, middle) / count)) + TINY
    for name, plane in (("red", red), ("blue", blue)):
        own = float(np.sqrt(product_sum(plane, plane) / plane.size)) + TINY
        alike = {shift: _alike(middle, plane, shift) / (count * own * size) for shift in (0, *SHIFTS)}
        best = max(alike, key=lambda shift: alike[shift])
        found[f"move.{name}"] = alike[0]
        found[f"move.{name}_gain"] = alike[best] - alike[0]
        found[f"move.{name}_best"] = float(best)
        found[f"move.{name}_size"] = float(np.log(own / size))
    return found


def _alike(middle: Plane, plane: Plane, shift: int) -> float:
    """The sum of the products with what lies so far to the right."""
    inner = slice(REACH, middle.size - REACH)
    return product_sum(middle.ravel()[inner], plane.ravel()[inner.start + shift : inner.stop + shift])
