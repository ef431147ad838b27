"""The fitted full-reference model as plain arrays: kind recognition and kernel regression, evaluated with NumPy alone."""

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

    def nearest(self, features: Floats) -> Floats:
        """Mean squared distance per feature to the closest training pair."""
        return distances(features, self.support).min(axis=1)


@dataclass(frozen=True)
class PairModel:
    """Score and kind of a pair from its features; `prior` is the model this one corrects, if any."""

    names: tuple[str, ...]
    standardise: Standardiser
    recognise: KindRecogniser
    machine: KernelMachine
    line: tuple[float, float]
    prior: PairModel | None = None

    def score(self, features: Floats, kinds: Floats | None = None) -> Floats:
        """Scores of rows of features; the kind probabilities are recognised unless given."""
        standard = self.standardise(features)
        known = self.recognise(standard) if kinds is None else kinds
        offset, slope = self.line
        base = offset + slope * self.prior.score(features) if self.prior else offset
        return np.asarray(base + self.machine(standard, known), np.float64)

    def kinds(self, features: Floats) -> Floats:
        """Kind probabilities of rows of features."""
        return self.recognise(self.standardise(features))

    def strangeness(self, features: Floats) -> Floats:
        """How far rows of features are from everything the model was fitted on."""
        nearest = self.machine.nearest(self.standardise(features))
        return np.minimum(nearest, self.prior.strangeness(features)) if self.prior else nearest


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


def pack(model: PairModel, prefix: str) -> dict[str, npt.NDArray[Any]]:
    """The model as arrays under a prefix; half precision where a difference cannot be seen in a score."""
    machine = model.machine
    return {
        f"{prefix}.names": np.array(model.names),
        f"{prefix}.centre": model.standardise.centre.astype(np.float32),
        f"{prefix}.scale": model.standardise.scale.astype(np.float32),
        f"{prefix}.kinds": np.array(model.recognise.kinds),
        f"{prefix}.kind_weights": model.recognise.weights.astype(np.float32),
        f"{prefix}.kind_bias": model.recognise.bias.astype(np.float32),
        f"{prefix}.support": machine.support.astype(np.float16),
        f"{prefix}.support_kinds": machine.support_kinds.astype(np.float16),
        f"{prefix}.weights": machine.weights.astype(np.float32),
        f"{prefix}.widths": machine.widths.astype(np.float32),
        f"{prefix}.sharing": np.array(machine.sharing),
        f"{prefix}.line": np.array(model.line),
    }


def unpack(arrays: Arrays, prefix: str, prior: PairModel | None = None) -> PairModel:
    """The model stored under a prefix."""
    part = {name: arrays[f"{prefix}.{name}"] for name in ("kinds", "names", "line")}
    numbers = {
        name: arrays[f"{prefix}.{name}"].astype(np.float64)
        for name in ("centre", "scale", "kind_weights", "kind_bias", "support", "support_kinds", "weights", "widths")
    }
    offset, slope = (float(value) for value in part["line"])
    return PairModel(
        names=tuple(map(str, part["names"])),
        standardise=Standardiser(numbers["centre"], numbers["scale"]),
        recognise=KindRecogniser(tuple(map(str, part["kinds"])), numbers["kind_weights"], numbers["kind_bias"]),
        machine=KernelMachine(
            numbers["support"],
            numbers["support_kinds"],
            numbers["weights"],
            numbers["widths"],
            float(arrays[f"{prefix}.sharing"]),
        ),
        line=(offset, slope),
        prior=prior,
    )
