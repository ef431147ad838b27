"""The whole full-reference model: opinions where pairs like this one were rated, the consensus of metrics elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from agenticiqa.embedded.full_reference.consensus import ON_PURPOSE, Consensus, tone_change
from agenticiqa.weights import WeightSet, read_arrays

Arrays = Mapping[str, npt.NDArray[Any]]
# Beyond this many deviations a feature says no more than "far away".
BOUND = 4.0
Floats = npt.NDArray[np.float64]
CONSENSUS_NAMES = ("consensus.score", "consensus.agreed", "consensus.tone", "consensus.explained")
# Distances, in reaches of the nearest rated kind, between which opinions give way to the consensus.
NEAR, FAR = 0.5, 1.3
# Within this of a perfect consensus the correction fades: between nearly invisible changes opinions are chance.
VISIBLE = 1.05


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


@dataclass(frozen=True)
class OpenModel:
    """What was fitted on synthetic damage of free photographs alone."""

    names: tuple[str, ...]
    consensus: Consensus
    standardise: Standardiser
    recognise: KindRecogniser
    spread: float


@dataclass(frozen=True)
class RatedModel:
    """What was fitted on opinions: the scale people use, and what they add to the consensus near rated pairs.

    `scale` holds the consensus and the opinion it stands for, as two rows; `known` is 1 for each kind that people
    rated and 0 for one of made pairs alone; `spreads` are standard errors by kind, `outside` the one where nothing
    like the pair was rated, and `factor` the number of standard errors that 95 % of opinions stay within when their
    kind was never rated; `clusters` is the number of photographs, `srcc` the rank correlation on photographs left out.
    """

    model: PairModel
    scale: Floats
    known: Floats
    spreads: Floats
    outside: float
    factor: float
    clusters: int
    srcc: float

    def on_scale(self, consensus: Floats) -> Floats:
        """The opinions that these values of the consensus stand for."""
        return np.asarray(np.interp(consensus, *self.scale), np.float64)


@dataclass(frozen=True)
class Prediction:
    """Score, standard error and kinds of one pair.

    `strange` is 1 when no pair of any kind that was rated looks like it; `learned` is the share of what opinions add,
    0 also when the pair looks like a kind that nobody rated.
    """

    score: float
    spread: float
    kinds: dict[str, float]
    strange: float
    learned: float
    tone: float

    @property
    def detail_intact(self) -> bool:
        """Whether brightness, contrast or saturation explain the difference: a change on purpose, not damage."""
        return self.tone >= 0.5 and sum(self.kinds.get(kind, 0.0) for kind in ON_PURPOSE) >= 0.5


@dataclass(frozen=True)
class FullReferenceModel:
    """Predictions from features; without the rated part nothing depends on opinions."""

    opened: OpenModel
    rated: RatedModel | None = None

    def predict(self, values: Mapping[str, float]) -> Prediction:
        """Everything the model says of one pair's features."""
        features = np.array([[values[name] for name in self.opened.names]], np.float64)
        return self.predict_rows(features)[0]

    def predict_rows(self, features: Floats) -> list[Prediction]:
        """The same for rows of features."""
        opened, rated = self.opened, self.rated
        told = with_consensus(features, opened)
        consensus = told[:, features.shape[1]]
        tones = tone_change(features, opened.names).weight
        made = [_by_name(opened.recognise, shares) for shares in opened.recognise(opened.standardise(features))]
        if rated is None:
            spreads, strange, learned = (np.full(len(told), value) for value in (opened.spread, 1.0, 0.0))
            rows = zip(consensus, spreads, made, strange, learned, tones, strict=True)
        else:
            rows = zip(*self._corrected(rated, told, consensus, made), tones, strict=True)
        return [
            Prediction(float(np.clip(score, 1, 5)), float(spread), kinds, float(far), float(share), float(tone))
            for score, spread, kinds, far, share, tone in rows
        ]

    def _corrected(
        self, rated: RatedModel, told: Floats, consensus: Floats, made: list[dict[str, float]]
    ) -> tuple[Floats, Floats, list[dict[str, float]], Floats, Floats]:
        """Scores, standard errors, kinds, strangeness and share of opinions; near rated pairs as they say."""
        names = (*self.opened.names, *CONSENSUS_NAMES)
        rows = told[:, [names.index(name) for name in rated.model.names]]
        strange = np.clip((rated.model.strangeness(rows) - NEAR) / (FAR - NEAR), 0, 1)
        kinds = rated.model.kinds(rows)
        visible = np.clip((5 - consensus) / VISIBLE, 0, 1)
        learned = (1 - strange) * (kinds @ rated.known)
        # What looks like nothing that was rated is left to what needs no opinions.
        alone = self.opened.consensus.unlike(told, names)
        base = (1 - strange) * consensus + strange * alone
        scores = rated.on_scale(base) + learned * visible * rated.model.correction(rows, kinds)
        spreads = np.sqrt((1 - strange) * (kinds @ rated.spreads**2) + strange * rated.outside**2)
        named = [
            _mixed(_by_name(rated.model.recognise, near), ladder, far)
            for near, ladder, far in zip(kinds, made, map(float, strange), strict=True)
        ]
        return scores, spreads, named, strange, learned


def with_consensus(features: Floats, opened: OpenModel) -> Floats:
    """Rows of features with what the consensus says of them."""
    return np.hstack([features, opened.consensus.describe(features, opened.names)])


def _mixed(near: dict[str, float], far: dict[str, float], share: float) -> dict[str, float]:
    """Kind probabilities of both sources, the second with this share; the most probable first."""
    names = {*near, *far}
    found = {name: (1 - share) * near.get(name, 0.0) + share * far.get(name, 0.0) for name in names}
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def _by_name(recognise: KindRecogniser, shares: Floats) -> dict[str, float]:
    named = zip(recognise.kinds, map(float, shares), strict=True)
    return dict(sorted(named, key=lambda item: -item[1]))


@lru_cache(maxsize=2)
def load_model(weights: WeightSet = "research") -> FullReferenceModel:
    """The shipped model, loaded once; the open one has no part fitted on opinions."""
    opened = read_open(read_arrays("fr_open.npz"))
    return FullReferenceModel(opened, read_rated(read_arrays("fr_research.npz")) if weights == "research" else None)


def read_open(arrays: Mapping[str, npt.NDArray[Any]]) -> OpenModel:
    """The open model these arrays hold."""
    number = {name: array.astype(np.float64) for name, array in arrays.items() if array.dtype.kind == "f"}
    return OpenModel(
        tuple(map(str, arrays["names"])),
        Consensus(number["quantiles"]),
        Standardiser(number["centre"], number["scale"]),
        KindRecogniser(tuple(map(str, arrays["kinds"])), number["kind_weights"], number["kind_bias"]),
        float(number["spread"]),
    )


def read_rated(arrays: Mapping[str, npt.NDArray[Any]]) -> RatedModel:
    """The rated model these arrays hold."""
    return RatedModel(
        unpack(arrays),
        arrays["rated_scale"],
        arrays["rated_known"],
        arrays["rated_spreads"],
        float(arrays["rated_outside"]),
        float(arrays["rated_factor"]),
        int(arrays["rated_clusters"]),
        float(arrays["rated_srcc"]),
    )
