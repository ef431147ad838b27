"""The model of real photographs: how strong each flaw of the guide is, from what trunk, tail and measurements say.

It was fitted on photographs labelled by eye and on pictures that went through a simulated camera, so the traces of a
file mean nothing to it. `gate` says whether the picture is rather a clean one damaged by code, which the other model
(`model.py`) knows better. Plain arrays, evaluated with NumPy; a file is used only with the hash in the manifest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from agenticiqa.embedded.distortions.severity import LARGEST_LOSS
from agenticiqa.errors import ModelFileError
from agenticiqa.weights import read_arrays

Floats = npt.NDArray[np.float32]
Arrays = Mapping[str, npt.NDArray[Any]]
FLAWS = ("blur", "noise", "compression", "dark", "bright", "contrast", "colour", "oversharp")
BLUR_KINDS = ("defocus", "motion", "soft")
# The strengths a flaw's curve passes through: nothing, and where slight, moderate, severe and the utmost begin.
HEIGHTS = (0.0, 0.5, 1.5, 2.5, 4.0)
MODERATE = 1.5
# A picture in which nothing is the main flaw has its slight findings weakened: from this share on, by this much.
CALM_FROM, CALM_BY = 0.3, 0.9
# Features further from training than this say only that they are far.
BOUND = 5.0


@dataclass(frozen=True)
class FlawOpinion:
    """The strength of each flaw from 0 to 4, the shares of the kinds of blur, and which world the picture is of.

    `gate` is about -1 for a photograph like those it knows and 1 for a clean picture damaged by code.
    """

    strength: dict[str, float]
    blur_kinds: dict[str, float]
    gate: float


@dataclass(frozen=True)
class PhotographModel:
    """A kernel over projected features; its outputs are put on the scale of the guide by one rising curve per flaw."""

    arrays: Arrays

    def judge(self, vector: Floats) -> FlawOpinion:
        """What the model says about one vector of features."""
        if vector.shape != self.arrays["centre"].shape:
            raise ModelFileError("the photograph weights belong to other features; reinstall the package")
        near = self._nearness(self._prepared(vector))
        # Flaws, kinds of blur, and how likely nothing is the main flaw.
        outputs = np.einsum("wl,wlo->o", near, self.arrays["dual"]) + self.arrays["bias"]
        strength = self._on_scale(outputs[: len(FLAWS)], calm=float(outputs[-1]))
        kinds = outputs[len(FLAWS) : len(FLAWS) + len(BLUR_KINDS)]
        return FlawOpinion(
            dict(zip(FLAWS, map(float, strength), strict=True)),
            dict(zip(BLUR_KINDS, map(float, kinds), strict=True)),
            float(np.sum(near * self.arrays["gate"])),
        )

    def _prepared(self, vector: Floats) -> Floats:
        standard = np.clip((vector - self.arrays["centre"]) / self.arrays["scale"], -BOUND, BOUND)
        projection = self.arrays["projection"]
        projected = standard[: len(projection)] @ projection * self.arrays["projection_scale"]
        return np.concatenate([projected, standard[len(projection) :] * self.arrays["rest_scale"]]).astype(np.float32)

    def _nearness(self, values: Floats) -> Floats:
        """How near each landmark is, once per width of the kernel."""
        distance = np.square(self.arrays["landmarks"] - values).sum(axis=1)
        return np.asarray(np.exp(-self.arrays["gamma"][:, None] * distance), np.float32)

    def _on_scale(self, flaws: Floats, calm: float) -> Floats:
        """Strengths on the guide's scale; where nothing disturbs and nothing is the main flaw, they are weakened."""
        knots = self.arrays["knots"]
        found = np.array([np.interp(value, knots[n], HEIGHTS) for n, value in enumerate(flaws)], np.float32)
        if found.max() < MODERATE:
            found *= np.float32(1 - CALM_BY * min(1.0, max(0.0, calm - CALM_FROM)))
        return np.clip(found, 0, LARGEST_LOSS)


@lru_cache(maxsize=2)
def load_photograph_model(name: str) -> PhotographModel:
    """The named model, loaded once per process."""
    stored = read_arrays(f"{name}.npz")
    return PhotographModel({key: a.astype(np.float32) for key, a in stored.items()})
