"""The fitted full-reference model as plain arrays: kinds and kernel regression, evaluated with NumPy alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Arrays = Mapping[str, npt.NDArray[Any]]
# Beyond this many deviations a feature says no more than "far away".
BOUND = 4.0


@dataclass(frozen=True)
class Standardiser:
    """Brings each feature to mean 0 and deviation 1 as in training, bounded."""

    centre: Floats
    scale: Floats

    def __call__(self, features: Floats) -> Floats:
        return np.asarray(np.clip((features - self.centre) / self.scale, -BOUND, BOUND), np.float64)


@dataclass(frozen=True)
class KindRecogniser:
    """Probabilities of the kinds of damage, linear in the standardised features before normalisation."""

    kinds: tuple[str, ...]
    weights: Floats
    bias: Floats

    def __call__(self, features: Floats) -> Floats:
        scores = features @ self.weights + self.bias
        likely = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return np.asarray(likely / likely.sum(axis=-1, keepdims=True), np.float64)


@dataclass(frozen=True)
class KernelMachine:
    """Gaussian bumps of several widths around training pairs, higher where the kind of damage is shared.

    `sharing` is how much a pair of another kind counts: 1 ignores kinds.
    """

    support: Floats
    support_kinds: Floats
    weights: Floats
    widths: Floats
    sharing: float

    def __call__(self, features: Floats, kinds: Floats) -> Floats:
        """The mean over the widths, for rows of features and of kind probabilities."""
        likeness = kernels(features, kinds, self.support, self.support_kinds, self.widths, self.sharing)
        return np.asarray(np.einsum("wrs,ws->r", likeness, self.weights) / len(self.widths), np.float64)


@dataclass(frozen=True)
class PairModel:
    """What opinions add to the consensus for a pair with these features, and its kind.

    `reach` says, for each training pair, how far pairs of its kind lie from each other across photographs: the unit in
    which the distance of a new pair is told.
    """

    names: tuple[str, ...]
    standardise: Standardiser
    recognise: KindRecogniser
    machine: KernelMachine
    reach: Floats

    def correction(self, features: Floats, kinds: Floats | None = None) -> Floats:
        """What to add to the consensus for rows of features; the kind probabilities are recognised unless given."""
        standard = self.standardise(features)
        return self.machine(standard, self.recognise(standard) if kinds is None else kinds)

    def kinds(self, features: Floats) -> Floats:
        """Kind probabilities of rows of features."""
        return self.recognise(self.standardise(features))

    def strangeness(self, features: Floats) -> Floats:
        """How far rows of features are from everything the model was fitted on; 1 is as far as kinds reach."""
        apart = distances(self.standardise(features), self.machine.support)
        return np.asarray((apart / self.reach).min(axis=1), np.float64)


def kernels(
    rows: Floats, row_kinds: Floats, support: Floats, support_kinds: Floats, widths: Floats, sharing: float
) -> Floats:
    """Likeness of every row to every support pair, one layer per width."""
    shared = sharing + (1 - sharing) * (row_kinds @ support_kinds.T)
    return np.asarray(np.exp(-widths[:, None, None] * distances(rows, support)) * shared, np.float64)


def distances(rows: Floats, support: Floats) -> Floats:
    """Mean squared difference per feature between rows and support pairs."""
    squares = (rows**2).sum(1)[:, None] + (support**2).sum(1)[None] - 2 * rows @ support.T
    return np.asarray(np.maximum(squares, 0) / rows.shape[1], np.float64)


def unpack(arrays: Arrays) -> PairModel:
    """The model these arrays hold."""
    number = {name: array.astype(np.float64) for name, array in arrays.items() if array.dtype.kind == "f"}
    return PairModel(
        names=tuple(map(str, arrays["names"])),
        standardise=Standardiser(number["centre"], number["scale"]),
        recognise=KindRecogniser(tuple(map(str, arrays["kinds"])), number["kind_weights"], number["kind_bias"]),
        machine=KernelMachine(
            number["support"], number["support_kinds"], number["weights"], number["widths"], float(number["sharing"])
        ),
        reach=number["reach"],
    )
