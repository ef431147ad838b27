"""Traces of noise: the floor of fine structure per plane, its grain, its tails, and where it sits."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from agenticiqa.embedded.distortions.tone_features import Traces
from agenticiqa.tools.metrics.planes import Plane, percentile
from agenticiqa.tools.tool import Pixels

# Annihilates planes and slopes; divided by its norm so that white noise keeps its sigma.
FINE = np.array([[1, -2, 1], [-2, 4, -2], [1, -2, 1]], np.float32) / 6
CELL = 8
FLOORS = (5, 20, 50, 90)
LAGS = ((0, 1), (1, 0), (1, 1), (0, 2), (2, 0), (0, 3))
TINY = 1e-3


def grain_traces(pixels: Pixels, planes: tuple[Plane, Plane, Plane]) -> Traces:
    """Everything that tells grain from texture."""
    found: Traces = {}
    for name, plane in zip(("y", "cb", "cr"), planes, strict=True):
        floors = percentile(_cells(np.abs(cv2.filter2D(plane, -1, FINE))), FLOORS)
        found |= {f"grain.{name}_{q}": float(np.log(0.05 + v)) for q, v in zip(FLOORS, floors, strict=True)}
    luma = planes[0]
    calm = _calm_mask(luma)
    residual = luma - cv2.GaussianBlur(luma, (0, 0), 2.0)
    found |= _correlations(residual, calm)
    found |= _tails(residual, calm)
    found |= _between_channels(pixels, calm)
    found |= _against_brightness(luma)
    found |= _impulses(pixels)
    return found


def _cells(plane: npt.NDArray[np.float32]) -> Plane:
    rows, columns = max(1, plane.shape[0] // CELL), max(1, plane.shape[1] // CELL)
    return np.asarray(cv2.resize(plane, (columns, rows), interpolation=cv2.INTER_AREA), np.float32)


def _calm_mask(luma: Plane) -> npt.NDArray[np.bool_]:
    """The quarter of the picture with the least coarse structure, clipped parts left out."""
    coarse = cv2.GaussianBlur(luma, (0, 0), 3.0)
    slope = cv2.magnitude(cv2.Sobel(coarse, cv2.CV_32F, 1, 0), cv2.Sobel(coarse, cv2.CV_32F, 0, 1))
    slope[(coarse < 4) | (coarse > 251)] = 1e6
    return np.asarray(slope <= percentile(slope[1::3, 1::3], 25))


def _correlations(residual: Plane, calm: npt.NDArray[np.bool_]) -> Traces:
    """How alike neighbours at some distance are, in calm parts and everywhere."""
    found: Traces = {}
    still = np.where(calm, residual, 0).astype(np.float32)
    for name, plane in (("calm", still), ("all", residual)):
        power = float((plane * plane).mean()) + TINY
        for down, right in LAGS:
            height, width = plane.shape[0] - down, plane.shape[1] - right
            shared = float((plane[:height, :width] * plane[down:, right:]).mean())
            found[f"grain.{name}_lag_{down}{right}"] = shared / power
    return found


def _tails(residual: Plane, calm: npt.NDArray[np.bool_]) -> Traces:
    found: Traces = {}
    for name, values in (("calm", residual[calm]), ("all", residual.ravel())):
        power = float((values * values).mean()) + TINY
        found[f"grain.{name}_power"] = float(np.log(power))
        found[f"grain.{name}_tails"] = float(np.log1p(np.square(values * values).mean() / power**2))
    return found


def _between_channels(pixels: Pixels, calm: npt.NDArray[np.bool_]) -> Traces:
    """Grain of a sensor differs between channels, texture and film grain do not."""
    values = cv2.filter2D(pixels, cv2.CV_32F, FINE)[calm]
    moments = values.T @ values / len(values) + np.eye(3, dtype=np.float32) * 0.02
    sigma = np.sqrt(np.diag(moments))
    alike = moments / np.outer(sigma, sigma)
    return {
        "grain.red_green": float(alike[0, 1]),
        "grain.green_blue": float(alike[1, 2]),
        "grain.red_blue": float(alike[0, 2]),
        "grain.channels": float(np.log(sigma.max() / sigma.min())),
    }


def _against_brightness(luma: Plane) -> Traces:
    """The floor in dark, middle and bright cells, and how unevenly the fine structure is spread."""
    fine, bright = _cells(np.abs(cv2.filter2D(luma, -1, FINE))).ravel(), _cells(luma).ravel()
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
    counts = np.cumsum(np.bincount(off.ravel(), minlength=256)) / off.size
    far = pixels[off > 40]
    at_end = np.count_nonzero((far == 0) | (far == 255)) / off.size
    return {
        "grain.off_25": float(np.log(1e-5 + 1 - counts[25])),
        "grain.off_60": float(np.log(1e-5 + 1 - counts[60])),
        "grain.off_at_end": float(np.log(1e-5 + at_end)),
    }
