"""Traces of noise: the floor of fine structure per plane, its grain, its tails, and where it sits."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from agenticiqa.embedded.distortions.tone_features import Traces
from agenticiqa.tools.metrics.planes import OPPONENT, Plane, lagged_product_mean, percentile, product_sum
from agenticiqa.tools.tool import Pixels

CELL = 8
FLOORS = (5, 20, 50, 90)
LAGS = ((0, 1), (1, 0), (1, 1), (0, 2), (2, 0), (0, 3))
TINY = 1e-3


def grain_traces(pixels: Pixels, planes: tuple[Plane, Plane, Plane]) -> Traces:
    """Everything that tells grain from texture."""
    found: Traces = {}
    fine = _fine_structure(pixels)
    floors = [_cells(np.abs(plane)) for plane in cv2.split(cv2.transform(fine, OPPONENT))]
    for name, cells in zip(("y", "cb", "cr"), floors, strict=True):
        levels = percentile(cells, FLOORS)
        found |= {f"grain.{name}_{q}": float(np.log(0.05 + v)) for q, v in zip(FLOORS, levels, strict=True)}
    luma = planes[0]
    calm = _calm_mask(luma)
    residual = np.asarray(luma - cv2.GaussianBlur(luma, (0, 0), 2.0), np.float32)
    still = residual * calm
    found |= _correlations(still, residual)
    found |= _tails(still, residual, int(np.count_nonzero(calm)))
    found |= _between_channels(fine, calm)
    found |= _against_brightness(floors[0], luma)
    found |= _impulses(pixels)
    return found


def _fine_structure(pixels: Pixels) -> Plane:
    """What is left of each channel without planes and slopes; white noise keeps its sigma."""
    # The second derivative both ways, divided by its norm.
    return np.asarray(cv2.Sobel(pixels, cv2.CV_32F, 2, 2, scale=1 / 6), np.float32)


def _cells(plane: npt.NDArray[np.float32]) -> Plane:
    rows, columns = max(1, plane.shape[0] // CELL), max(1, plane.shape[1] // CELL)
    return np.asarray(cv2.resize(plane, (columns, rows), interpolation=cv2.INTER_AREA), np.float32)


def _calm_mask(luma: Plane) -> npt.NDArray[np.bool_]:
    """The quarter of the picture with the least coarse structure, clipped parts left out."""
    coarse = cv2.GaussianBlur(luma, (0, 0), 3.0)
    slope = cv2.magnitude(cv2.Sobel(coarse, cv2.CV_32F, 1, 0), cv2.Sobel(coarse, cv2.CV_32F, 0, 1))
    np.putmask(slope, (coarse < 4) | (coarse > 251), 1e6)
    return np.asarray(slope <= percentile(slope[1::3, 1::3], 25))


def _correlations(still: Plane, residual: Plane) -> Traces:
    """How alike neighbours at some distance are, in calm parts and everywhere."""
    found: Traces = {}
    for name, plane in (("calm", still), ("all", residual)):
        power = product_sum(plane, plane) / plane.size + TINY
        for down, right in LAGS:
            found[f"grain.{name}_lag_{down}{right}"] = lagged_product_mean(plane, down, right) / power
    return found


def _tails(still: Plane, residual: Plane, calm: int) -> Traces:
    found: Traces = {}
    for name, plane, count in (("calm", still, calm), ("all", residual, residual.size)):
        squares = plane * plane
        power = product_sum(plane, plane) / count + TINY
        found[f"grain.{name}_power"] = float(np.log(power))
        found[f"grain.{name}_tails"] = float(np.log1p(product_sum(squares, squares) / count / power**2))
    return found


def _between_channels(fine: Plane, calm: npt.NDArray[np.bool_]) -> Traces:
    """Grain of a sensor differs between channels, texture and film grain do not."""
    values = np.take(fine.reshape(-1, 3), np.flatnonzero(calm), axis=0)
    moments = values.T @ values / len(values) + np.eye(3, dtype=np.float32) * 0.02
    sigma = np.sqrt(np.diag(moments))
    alike = moments / np.outer(sigma, sigma)
    return {
        "grain.red_green": float(alike[0, 1]),
        "grain.green_blue": float(alike[1, 2]),
        "grain.red_blue": float(alike[0, 2]),
        "grain.channels": float(np.log(sigma.max() / sigma.min())),
    }


def _against_brightness(cells: Plane, luma: Plane) -> Traces:
    """The floor in dark, middle and bright cells, and how unevenly the fine structure is spread."""
    fine, bright = cells.ravel(), _cells(luma).ravel()
    parts = np.array_split(np.argsort(bright), 3)
    floors = [float(np.log(0.05 + percentile(fine[part], 20))) for part in parts]
    return {
        "grain.dark_floor": floors[0],
        "grain.middle_floor": floors[1],
        "grain.bright_floor": floors[2],
        "grain.uneven": float(np.log(0.1 + fine.std()) - np.log(0.1 + fine.mean())),
        "grain.dead": float((fine < 0.02).mean()),
    }


def _impulses(pixels: Pixels) -> Traces:
    """Samples far from the median of their neighbours, and those of them at the ends of the scale."""
    off = np.asarray(cv2.absdiff(pixels, cv2.medianBlur(pixels, 3)))
    far = pixels.ravel()[np.flatnonzero(off > 40)]
    counts = {
        "25": np.count_nonzero(off > 25),
        "60": np.count_nonzero(off > 60),
        "at_end": np.count_nonzero((far == 0) | (far == 255)),
    }
    return {f"grain.off_{name}": float(np.log(1e-5 + count / off.size)) for name, count in counts.items()}
