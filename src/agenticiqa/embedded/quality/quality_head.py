"""From pooled statistics to a quality: plain arrays, no framework, and no term that was set by hand.

The quality is the plain mean of two makes of model that err differently: a network with one hidden layer, and
regressions on likeness to known pictures (rated ones, and ones damaged on purpose). They were fitted on the order of
opinions within each source, so their outputs are in standard deviations of such an order; one rising curve leads from
there to the common scale of 1 to 5. How far opinions lie from the score was measured on sources left out of the fit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]
Arrays = Mapping[str, npt.NDArray[Any]]
Span = tuple[float, float]

CLIP = 6.0
KERNELS = ("likeness", "damage")


class QualityHead:
    """The fitted head of one set of weights."""

    def __init__(self, arrays: Arrays) -> None:
        # Matrices are stored in 16 bits or in bytes: 32 lose nothing of them, and 64 would take three times as long.
        self._arrays: dict[str, npt.NDArray[Any]] = {
            name: np.asarray(value, np.float64 if np.ndim(value) < 2 else np.float32) for name, value in arrays.items()
        }
        # Thousands of points are stored as bytes, in steps of each component.
        self._points = {
            name: self._arrays[f"{name}_points"] * self._arrays[f"{name}_step"].astype(np.float32) for name in KERNELS
        }
        self._lengths = {name: np.einsum("pc,pc->p", points, points) for name, points in self._points.items()}

    def estimate(self, statistics: npt.ArrayLike) -> float:
        """The quality of one picture, 1 to 5."""
        return float(self.on_scale(self.standard(np.asarray(statistics, np.float64)[None]))[0])

    def standard(self, statistics: Values) -> Values:
        """The quality of each row in standard deviations."""
        return np.asarray((self.network(statistics) + sum(self.kernel(name, statistics) for name in KERNELS)) / 2)

    def network(self, statistics: Values) -> Values:
        """What the network makes of each row, in standard deviations."""
        hidden = self._scaled(statistics) @ self._arrays["first_weight"] + self._arrays["first_bias"]
        return np.asarray(np.maximum(hidden, 0) @ self._arrays["last_weight"] + self._arrays["last_bias"])

    def kernel(self, name: str, statistics: Values) -> Values:
        """What likeness to the known pictures of one regression tells of each row."""
        projection, width, weights, mean = (
            self._arrays[f"{name}_{part}"] for part in ("projection", "width", "weights", "mean")
        )
        seen = self._scaled(statistics) @ projection
        points = self._points[name]
        distances = np.maximum((seen**2).sum(1)[:, None] + self._lengths[name] - 2 * seen @ points.T, 0)
        return np.asarray(np.exp(-width * distances) @ weights + mean)

    def _scaled(self, statistics: Values) -> npt.NDArray[np.float32]:
        scaled = (statistics - self._arrays["centre"]) / self._arrays["spread"]
        return np.asarray(np.clip(scaled, -CLIP, CLIP), np.float32)

    def on_scale(self, standard: Values) -> Values:
        """Standard deviations on the common scale, along the fitted curve."""
        return np.asarray(np.interp(standard, self._arrays["scale_from"], self._arrays["scale_to"]))

    @property
    def error(self) -> float:
        """The standard error of a score, as sources left out of the fit show it."""
        return float(self._arrays["error"])

    def interval(self, quality: float) -> Span:
        """The interval that holds 95 of 100 mean opinions, within the scale."""
        return self._around(quality, "reach95")

    def likely_interval(self, quality: float) -> Span:
        """The interval that holds 80 of 100 mean opinions, within the scale."""
        return self._around(quality, "reach80")

    def _around(self, quality: float, reach: str) -> Span:
        below, above = self._arrays[reach]
        return max(1.0, quality - below), min(5.0, quality + above)
