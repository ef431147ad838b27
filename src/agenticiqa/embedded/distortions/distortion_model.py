"""The fitted distortion models: small networks stored as plain arrays and evaluated with NumPy.

`load_distortion_model("distortions_research")` judges one picture from its features;
`load_distortion_model("distortions_pair_research")` judges a pair.
A file is used only with the hash recorded beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from agenticiqa.errors import ModelFileError
from agenticiqa.limits import STRONGEST
from agenticiqa.state import DISTORTION_CATEGORIES
from agenticiqa.weights import read_arrays

Floats = npt.NDArray[np.float32]
Arrays = Mapping[str, npt.NDArray[Any]]
CATEGORIES = len(DISTORTION_CATEGORIES)
# Features further from training than this say only that they are far.
BOUND = 5.0


@dataclass(frozen=True)
class Opinion:
    """Per category the probability and the strength, 0 to 4; per kind how much speaks for it."""

    presence: Floats
    strength: Floats
    kinds: dict[str, float]


@dataclass(frozen=True)
class DistortionModel:
    """Several networks on one standardised, partly projected input; their outputs are averaged and calibrated."""

    arrays: Arrays
    kind_names: tuple[str, ...]
    names: tuple[str, ...] = ()
    """The features it is shown, where they are picked by name."""

    def judge(self, vector: Floats) -> Opinion:
        """What the networks together say about one vector of features."""
        if vector.shape != self.arrays["centre"].shape:
            raise ModelFileError("the distortion weights belong to other features; reinstall the package")
        outputs = np.mean([self._member(layers, self._prepared(vector)) for layers in self._layers()], axis=0)
        logits, strength, kinds = np.split(outputs, (CATEGORIES, 2 * CATEGORIES))
        evidence = self.arrays["slope"] * logits + self.arrays["lift"] * strength + self.arrays["shift"]
        presence = _logistic(evidence)
        return Opinion(presence, self._calibrated(strength), dict(zip(self.kind_names, map(float, kinds), strict=True)))

    def _prepared(self, vector: Floats) -> Floats:
        standard = np.clip((vector - self.arrays["centre"]) / self.arrays["scale"], -BOUND, BOUND)
        projection = self.arrays["projection"]
        count = len(projection)
        projected = standard[:count] @ projection
        return np.concatenate([projected, standard[count:]]).astype(np.float32)

    def _layers(self) -> list[list[tuple[Floats, Floats]]]:
        count, depth = (int(number) for number in self.arrays["shape"])
        return [
            [(self.arrays[f"weight_{m}_{d}"], self.arrays[f"bias_{m}_{d}"]) for d in range(depth)] for m in range(count)
        ]

    def _member(self, layers: list[tuple[Floats, Floats]], values: Floats) -> Floats:
        for depth, (weight, bias) in enumerate(layers):
            values = values @ weight + bias
            if depth < len(layers) - 1:
                values = np.maximum(values, 0)
        return values

    def _calibrated(self, strength: Floats) -> Floats:
        """The strength on the scale of true losses, through a rising curve per category."""
        knots, heights = self.arrays["knots"], self.arrays["heights"]
        found = [np.interp(value, knots[n], heights[n]) for n, value in enumerate(strength)]
        return np.clip(np.array(found, np.float32), 0, STRONGEST)


@lru_cache(maxsize=4)
def load_distortion_model(name: str) -> DistortionModel:
    """The named model, loaded once per process."""
    arrays = {key: _widened(array) for key, array in read_arrays(f"{name}.npz").items()}
    kinds, names = (tuple(map(str, arrays.pop(key))) for key in ("kinds", "names"))
    return DistortionModel(arrays, kinds, names)


def _widened(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Stored in half precision, computed in single."""
    return array.astype(np.float32) if array.dtype == np.float16 else array


def _logistic(values: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-np.clip(values, -30, 30))), np.float32)
