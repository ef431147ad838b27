"""Traces of blur, sharpening, coding and resampling: octaves, edges, block grids, repeats, misplaced colours."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from agenticiqa.embedded.distortions.tone_features import Traces
from agenticiqa.tools.metrics.planes import Plane, block_dct, percentile
from agenticiqa.tools.tool import Pixels

GRID = 8
TINY = 1e-3
# The largest float below 0.6, from which on neighbours differ.
JUST_STILL = float(np.nextafter(np.float32(0.6), np.float32(0)))
SHIFTS = (-4, -2, -1, 1, 2, 4)


def structure_traces(pixels: Pixels, planes: tuple[Plane, Plane, Plane]) -> Traces:
    """Everything that tells what happened to edges and blocks."""
    found: Traces = {}
    for name, plane, octaves in zip(("y", "cb", "cr"), planes, (6, 4, 4), strict=True):
        found |= {f"band.{name}_{n}": value for n, value in enumerate(_octaves(plane, octaves))}
    luma = planes[0]
    found |= _directions(luma) | _edge_shape(luma) | _normalised(luma)
    found |= _grid(luma) | _repeats(pixels, luma) | _strips(luma)
    return found | _displacement(pixels)


def _octaves(plane: Plane, count: int) -> list[float]:
    energies = []
    for _ in range(count):
        smaller = cv2.pyrDown(plane)
        detail = plane - cv2.pyrUp(smaller, dstsize=plane.shape[::-1])
        energies.append(float(np.log(0.05 + np.sqrt((detail * detail).mean()))))
        plane = np.asarray(smaller)
    return energies


def _directions(luma: Plane) -> Traces:
    """Strength and one-sidedness of slopes at three scales: motion blur spares one direction."""
    found: Traces = {}
    plane = luma
    for scale in range(3):
        across, down = cv2.Sobel(plane, cv2.CV_32F, 1, 0), cv2.Sobel(plane, cv2.CV_32F, 0, 1)
        xx, yy, xy = (float((a * b).mean()) for a, b in ((across, across), (down, down), (across, down)))
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
        fading = np.log((before + 0.1) / (_slope(blurred).ravel()[steep] + 0.1)) if len(steep) else np.zeros(1)
        for q, value in zip((25, 50, 90), percentile(fading, (25, 50, 90)), strict=True):
            found[f"edge.fade_{sigma}_{q}"] = float(value)
        overshoot = np.abs(_thinned(luma) - _thinned(blurred))
        found[f"edge.over_{sigma}"] = float(np.log(TINY + percentile(overshoot, 99)))
    clipped = ((luma < 2) | (luma > 253)).ravel()
    everywhere = np.count_nonzero(clipped) / clipped.size
    found["edge.clipped"] = float(clipped[steep].mean() - everywhere) if len(steep) else 0.0
    found["edge.tails"] = float(np.log1p(((slope**2).mean() + TINY) / (slope.mean() ** 2 + TINY)))
    return found


def _thinned(plane: Plane) -> Plane:
    """Every third pixel each way: enough for percentiles, which would otherwise cost the most."""
    return plane[1::3, 1::3]


def _slope(plane: npt.NDArray[np.float32]) -> Plane:
    kernel, point = np.array([-0.5, 0, 0.5], np.float32), np.ones(1, np.float32)
    across = cv2.sepFilter2D(plane, cv2.CV_32F, kernel, point, borderType=cv2.BORDER_REFLECT)
    down = cv2.sepFilter2D(plane, cv2.CV_32F, point, kernel, borderType=cv2.BORDER_REFLECT)
    return np.asarray(cv2.magnitude(across, down))


def _normalised(luma: Plane) -> Traces:
    """Shape of brightness divided by its local contrast, and of products of neighbours, at two scales."""
    found: Traces = {}
    plane = luma
    for scale in range(2):
        mean = cv2.GaussianBlur(plane, (7, 7), 7 / 6)
        square = cv2.GaussianBlur(plane * plane, (7, 7), 7 / 6)
        even = (plane - mean) / (np.sqrt(np.maximum(square - mean * mean, 0)) + 1)
        power = float((even * even).mean()) + TINY
        found[f"even.power_{scale}"] = float(np.log(power))
        found[f"even.tails_{scale}"] = float(np.log(np.square(even * even).mean() / power**2 + TINY))
        found[f"even.small_{scale}"] = float(np.abs(even).mean() / np.sqrt(power))
        for down, right in ((0, 1), (1, 0), (1, 1)):
            height, width = even.shape[0] - down, even.shape[1] - right
            product = even[:height, :width] * even[down:, right:]
            found[f"even.pair_{scale}{down}{right}"] = float(product.mean()) / power
            found[f"even.pair_size_{scale}{down}{right}"] = float(np.abs(product).mean()) / power
        plane = np.asarray(cv2.pyrDown(plane))
    return found


def _grid(luma: Plane) -> Traces:
    """Steps by phase of the 8-pixel grid, and how empty the fine cosines of its blocks are."""
    found: Traces = {}
    for name, steps, along in (
        ("across", cv2.absdiff(luma[:, 1:], luma[:, :-1]), 0),
        ("down", cv2.absdiff(luma[1:], luma[:-1]), 1),
    ):
        profile, still = (_by_phase(np.asarray(values), along) for values in (steps, cv2.inRange(steps, 0, JUST_STILL)))
        still /= 255
        found[f"grid.{name}_excess"] = float(profile.max() / (np.median(profile) + 0.05) - 1)
        found[f"grid.{name}_home"] = float(profile[GRID - 1] / (np.median(profile) + 0.05) - 1)
        found[f"grid.{name}_still"] = float(np.median(still))
        found[f"grid.{name}_contrast"] = float(np.median(still) - still.min())
    return found | _cosines(luma)


def _by_phase(steps: npt.NDArray[Any], along: int) -> npt.NDArray[np.float64]:
    """The mean at each of the eight phases of the grid."""
    means = cv2.reduce(steps, along, cv2.REDUCE_SUM, dtype=cv2.CV_64F).ravel() / steps.shape[along]
    return np.array([means[phase::GRID].mean() for phase in range(GRID)])


def _cosines(luma: Plane) -> Traces:
    rows, columns = luma.shape[0] // GRID, luma.shape[1] // GRID
    blocks = luma[: rows * GRID, : columns * GRID].reshape(rows, GRID, columns, GRID).swapaxes(1, 2)
    size = np.abs(block_dct(blocks.reshape(-1, GRID, GRID)))
    order = np.add.outer(np.arange(GRID), np.arange(GRID))
    found: Traces = {}
    for name, part in (
        ("low", (order > 0) & (order < 4)),
        ("middle", (order >= 4) & (order < 8)),
        ("high", order >= 8),
    ):
        values = size[:, part]
        found[f"cosine.{name}_empty"] = float(np.count_nonzero(values < 0.6) / values.size)
        found[f"cosine.{name}_size"] = float(np.log(0.05 + values.mean()))
    found["cosine.flat"] = float((size[:, order > 0].max(axis=1) < 2).mean())
    return found


def _repeats(pixels: Pixels, luma: Plane) -> Traces:
    """Equal neighbours, as cells and flat areas leave them, and the beat that enlarging leaves in curvature."""
    found: Traces = {}
    codes = cv2.cvtColor(pixels, cv2.COLOR_RGB2RGBA).view(np.int32)[..., 0]
    for name, axis in (("across", 1), ("down", 0)):
        same = codes[:, 1:] == codes[:, :-1] if axis else codes[1:] == codes[:-1]
        found[f"repeat.{name}"] = float(same.mean())
        runs = same.mean(axis=1 - axis)
        found[f"repeat.{name}_beat"] = _beat(runs)
        found[f"curve.{name}_beat"] = _beat(np.abs(np.diff(luma, 2, axis=axis)).mean(axis=1 - axis))
    return found


def _beat(profile: npt.NDArray[np.floating]) -> float:
    """How far the strongest period of a profile stands out."""
    if len(profile) < 16:
        return 0.0
    flat = profile - profile.mean()
    power = np.abs(np.fft.rfft(flat * np.hanning(len(flat))))[4:]
    return float(np.log((power.max() + 1e-4) / (np.median(power) + 1e-4)))


def _strips(luma: Plane) -> Traces:
    """Rows and columns that are much steeper than their neighbours, as displaced strips and pasted blocks leave."""
    found: Traces = {}
    for name, axis in (("rows", 0), ("columns", 1)):
        steps = np.abs(np.diff(luma, axis=axis)).mean(axis=1 - axis)
        local = np.asarray(cv2.blur(steps.astype(np.float32)[None], (15, 1)))[0]
        jump = steps / (local + 0.3)
        found[f"strip.{name}_jump"] = float(np.log(max(float(percentile(jump, 99)), TINY)))
        found[f"strip.{name}_tails"] = float(
            np.log(((jump - jump.mean()) ** 4).mean() / (jump.var() ** 2 + 1e-9) + TINY)
        )
    return found


def _displacement(pixels: Pixels) -> Traces:
    """Whether red or blue edges lie beside the green ones."""
    slopes = [np.asarray(cv2.Sobel(channel, cv2.CV_32F, 1, 0))[::2] for channel in cv2.split(pixels)]
    found: Traces = {}
    middle = slopes[1][:, 4:-4]
    size = float(np.sqrt((middle * middle).mean())) + TINY
    for name, channel in (("red", 0), ("blue", 2)):
        plane = slopes[channel]
        own = float(np.sqrt((plane * plane).mean())) + TINY
        alike = {shift: _alike(middle, plane, shift) / (own * size) for shift in (0, *SHIFTS)}
        best = max(alike, key=lambda shift: alike[shift])
        found[f"move.{name}"] = alike[0]
        found[f"move.{name}_gain"] = alike[best] - alike[0]
        found[f"move.{name}_best"] = float(best)
        found[f"move.{name}_size"] = float(np.log(own / size))
    return found


def _alike(middle: Plane, plane: Plane, shift: int) -> float:
    width = plane.shape[1]
    return float((middle * plane[:, 4 + shift : width - 4 + shift]).mean())
