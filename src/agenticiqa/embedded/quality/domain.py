"""Pictures the quality model was not taught to judge, recognised by simple signs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Kind = Literal["flat colour", "pure noise", "text", "line art", "screenshot"]

FLAT_DEVIATION = 2.0
NOISE_CORRELATION = 0.3
STRONG_EDGE = 80
GLYPHS_PER_MEGAPIXEL = 600


@dataclass(frozen=True)
class OutOfDomain:
    """Why a picture is outside what the model knows."""

    kind: Kind
    reason: str


def find_out_of_domain(pixels: npt.NDArray[np.uint8]) -> OutOfDomain | None:
    """The sign that a picture is no photograph, or None."""
    signs = _measure(pixels)
    if signs.deviation < FLAT_DEVIATION:
        return OutOfDomain("flat colour", f"its brightness varies by only {signs.deviation:.1f} grey levels")
    if signs.neighbour_correlation < NOISE_CORRELATION and signs.still_share < 0.3:
        reason = f"neighbouring pixels are unrelated (correlation {signs.neighbour_correlation:.2f})"
        return OutOfDomain("pure noise", reason)
    # Posterised or over-contrasted photographs have up to 2.4 % hard edges; drawn pictures more, unless nearly empty.
    hard = signs.edge_share > 0.035 or (signs.ground_share > 0.85 and signs.edge_share > 0.006)
    return _drawn(signs, pixels) if hard and signs.still_share > 0.5 else None


@dataclass(frozen=True)
class _Signs:
    deviation: float
    neighbour_correlation: float
    still_share: float
    edge_share: float
    ground_share: float


def _measure(pixels: npt.NDArray[np.uint8]) -> _Signs:
    import cv2

    grey = np.asarray(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY), np.uint8)
    levels, counts = np.arange(256), _shares(grey)
    variance = float(counts @ (levels - counts @ levels) ** 2)
    # Both directions count alike, whatever the shape of the picture.
    steps = (_shares(cv2.absdiff(grey[:, 1:], grey[:, :-1])) + _shares(cv2.absdiff(grey[1:], grey[:-1]))) / 2
    # For a stationary signal half the mean squared step is the variance times one minus the correlation.
    correlation = 1 - float(steps @ levels**2) / 2 / max(variance, 1e-9)
    ground = int(counts.argmax())
    near_ground = float(counts[max(0, ground - 3) : ground + 4].sum())
    return _Signs(
        float(np.sqrt(variance)), correlation, float(steps[0]), float(steps[STRONG_EDGE + 1 :].sum()), near_ground
    )


def _shares(plane: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """The share of each of the 256 levels."""
    import cv2

    counts = cv2.calcHist([plane], [0], None, [256], [0, 256]).ravel().astype(np.float64)
    return np.asarray(counts / max(1.0, counts.sum()))


def _drawn(signs: _Signs, pixels: npt.NDArray[np.uint8]) -> OutOfDomain | None:
    if signs.ground_share <= 0.7:
        reason = f"{signs.still_share:.0%} of neighbouring pixels are equal beside hard edges"
        return OutOfDomain("screenshot", reason) if signs.ground_share > 0.25 else None
    if _glyphs(pixels) > GLYPHS_PER_MEGAPIXEL:
        return OutOfDomain("text", f"{signs.ground_share:.0%} is one ground with many small strokes on it")
    return OutOfDomain("line art", f"{signs.ground_share:.0%} is one ground with hard lines on it")


def _glyphs(pixels: npt.NDArray[np.uint8]) -> float:
    """Separate marks that stand out from the ground, per megapixel."""
    import cv2

    grey = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)
    ground = int(np.bincount(grey.ravel(), minlength=256).argmax())
    ink = (np.abs(grey.astype(np.int16) - ground) > STRONG_EDGE).astype(np.uint8)
    return float((cv2.connectedComponents(ink, connectivity=8)[0] - 1) / grey.size * 1e6)
