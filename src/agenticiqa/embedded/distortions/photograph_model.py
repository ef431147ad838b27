"""The model of real photographs: how strong each flaw of the guide is, from what trunk, tail and measurements say.

It was fitted on photographs labelled by eye and on pictures that went through a simulated camera, so the traces of a
file mean nothing to it. `gate` says whether the picture is rather a clean one damaged by code, which the other model
(`distortion_model.py`) knows better. Plain arrays, evaluated with NumPy; a file is used only with the hash in the
manifest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from agenticiqa.errors import ModelFileError
from agenticiqa.limits import BELOW_SLIGHT, MODERATE, SEVERE, SLIGHT, STRONGEST
from agenticiqa.values import Attribute
from agenticiqa.weights import read_arrays

Floats = npt.NDArray[np.float32]
Values = npt.NDArray[Any]
Arrays = Mapping[str, npt.NDArray[Any]]
FLAWS: tuple[Attribute, ...] = ("blur", "noise", "compression", "dark", "bright", "contrast", "colour", "oversharp")
BLUR_KINDS = ("defocus", "motion", "soft")
# The strengths a flaw's curve passes through: nothing, and where slight, moderate, severe and the utmost begin.
HEIGHTS = (0.0, SLIGHT, MODERATE, SEVERE, STRONGEST)
# The output from which the largest is the main flaw, and how much more it takes where nothing seems to be wrong: per
# share of calm above the usual one. Chosen on content folds, as the curves are.
MAIN_FROM, CALM_COSTS, USUAL_CALM = 0.75, 0.8, 0.3
# The same on photographs of another look than most labels show: lower, every fourth fine one had a slight flaw.
MAIN_FROM_ELSEWHERE = 0.85
# The likeness to the photographs most labels come from at which their curves begin to count, and count alone.
LIKE_HOME = (-0.3, 0.4)
# Features further from training than this say only that they are far.
BOUND = 5.0


@dataclass(frozen=True)
class PhotographOpinion:
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

    def judge(self, vector: Floats) -> PhotographOpinion:
        """What the model says about one vector of features."""
        near = self.near(vector)
        # Flaws, kinds of blur, and how likely nothing is the main flaw.
        outputs = np.einsum("wl,wlo->o", near, self.arrays["dual"]) + self.arrays["bias"]
        strength = self._on_scale(outputs, near)
        kinds = outputs[len(FLAWS) : len(FLAWS) + len(BLUR_KINDS)]
        return PhotographOpinion(
            dict(zip(FLAWS, map(float, strength), strict=True)),
            dict(zip(BLUR_KINDS, map(float, kinds), strict=True)),
            float(np.sum(near * self.arrays["gate"])),
        )

    def near(self, vector: Floats) -> Floats:
        """How near each landmark is to a vector of features, once per width of the kernel."""
        if vector.shape != self.arrays["centre"].shape:
            raise ModelFileError("the photograph weights belong to other features; reinstall the package")
        values, landmarks = self._prepared(vector), self.arrays["landmarks"]
        distance = self.arrays["lengths"] - 2 * (landmarks @ values) + values @ values
        return np.asarray(np.exp(-self.arrays["gamma"][:, None] * np.maximum(distance, 0)), np.float32)

    def _prepared(self, vector: Floats) -> Floats:
        standard = np.clip((vector - self.arrays["centre"]) / self.arrays["scale"], -BOUND, BOUND)
        projection = self.arrays["projection"]
        projected = standard[: len(projection)] @ projection * self.arrays["projection_scale"]
        return np.concatenate([projected, standard[len(projection) :] * self.arrays["rest_scale"]]).astype(np.float32)

    def _on_scale(self, outputs: Floats, near: Floats) -> Floats:
        """Strengths on the guide's scale, the main flaw first."""
        home = self.arrays["knots"]
        likeness = np.sum(near * self.arrays["likeness"]) if "likeness" in self.arrays else LIKE_HOME[1]
        found = on_scale(outputs[None], np.array([likeness]), home, self.arrays.get("knots_elsewhere", home))
        return np.asarray(np.clip(found[0], 0, STRONGEST), np.float32)


def on_scale(outputs: Values, likeness: Values, home: Values, elsewhere: Values) -> Values:
    """Strengths, a row per picture, from all outputs: by the curves of home as far as a picture is like those there.

    Of another source outputs are smaller, some more than others, so its curves begin lower; what is compared for the
    main flaw is made half as comparable.
    """
    start, end = LIKE_HOME
    share = np.clip((likeness - start) / (end - start), 0, 1)
    knots = share[:, None, None] * home + (1 - share[:, None, None]) * elsewhere
    flaws = outputs[:, : len(FLAWS)]
    found = np.array(
        [[np.interp(*pair, HEIGHTS) for pair in zip(*row, strict=True)] for row in zip(flaws, knots, strict=True)]
    )
    comparable = flaws * (1 + home[:, 2] / knots[:, :, 2]) / 2
    main_from = share * MAIN_FROM + (1 - share) * MAIN_FROM_ELSEWHERE
    return main_first(found, comparable, outputs[:, -1], main_from)


def main_first(found: Values, outputs: Values, calm: Values, main_from: Values | float = MAIN_FROM) -> Values:
    """Strengths, a row per picture, in which the flaw of the largest output leads those of the same severity.

    The curves say how severe each flaw is, the outputs which one a person would name: they are severities a person
    would give, comparable between flaws. Where none is large enough, what does not disturb is less than slight.
    """
    found = found.copy()
    rows = np.arange(len(found))
    # Sharpening is hardly ever the main flaw, and the labels show too little of it.
    main = outputs[:, : FLAWS.index("oversharp")].argmax(axis=1)
    named = outputs[rows, main] >= main_from + CALM_COSTS * (calm - USUAL_CALM)
    quiet = ~named & (found.max(axis=1) < MODERATE)
    found[quiet] = np.minimum(found[quiet], SLIGHT - BELOW_SLIGHT + BELOW_SLIGHT * found[quiet] / STRONGEST)
    own = np.maximum(found[rows, main], np.where(named, SLIGHT, 0.0))
    worst = found.max(axis=1)
    leads = named & (own < worst) & (np.floor(own + 0.5) == np.floor(worst + 0.5))
    found[rows, main] = np.where(leads, worst + 0.001, np.where(named, own, found[rows, main]))
    return found


@lru_cache(maxsize=2)
def load_photograph_model(name: str) -> PhotographModel:
    """The named model, loaded once per process."""
    arrays = {key: array.astype(np.float32) for key, array in read_arrays(f"{name}.npz").items()}
    # Landmarks may be stored in whole steps of this size, per column.
    arrays["landmarks"] *= arrays.get("landmark_scale", np.float32(1))
    arrays["lengths"] = np.square(arrays["landmarks"]).sum(axis=1)
    return PhotographModel(arrays)
