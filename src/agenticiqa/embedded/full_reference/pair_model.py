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

    def strangeness(self, standard: Floats) -> Floats:
        """How far standardised rows are from everything the model was fitted on; 1 is as far as kinds reach."""
        return np.asarray((distances(standard, self.machine.support) / self.reach).min(axis=1), np.float64)


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
        return self.predict_rows(np.array([[values[name] for name in self.opened.names]], np.float64))[0]

    def predict_rows(self, features: Floats) -> list[Prediction]:
        """The same for rows of features."""
        opened = self.opened
        told = with_consensus(features, opened)
        tones = tone_change(features, opened.names).weight
        shares = opened.recognise(opened.standardise(features))
        if self.rated is None:
            kinds = [_by_name(opened.recognise.kinds, row) for row in shares]
            scores, count = told[:, features.shape[1]], len(told)
            spreads, strange, learned = np.full(count, opened.spread), np.ones(count), np.zeros(count)
        else:
            scores, spreads, kinds, strange, learned = self._corrected(self.rated, told, shares)
        numbers = (map(float, column) for column in (np.clip(scores, 1, 5), spreads, strange, learned, tones))
        rows = zip(*numbers, kinds, strict=True)
        return [Prediction(score, spread, named, far, near, tone) for score, spread, far, near, tone, named in rows]

    def _corrected(
        self, rated: RatedModel, told: Floats, made: Floats
    ) -> tuple[Floats, Floats, list[dict[str, float]], Floats, Floats]:
        """Scores, standard errors, kinds, strangeness and share of opinions; near rated pairs as they say."""
        model, names = rated.model, (*self.opened.names, *CONSENSUS_NAMES)
        standard = model.standardise(told[:, [names.index(name) for name in model.names]])
        kinds = model.recognise(standard)
        strange = np.clip((model.strangeness(standard) - NEAR) / (FAR - NEAR), 0, 1)
        consensus = told[:, names.index("consensus.score")]
        visible = np.clip((5 - consensus) / VISIBLE, 0, 1)
        learned = (1 - strange) * (kinds @ rated.known)
        # What looks like nothing that was rated is left to what needs no opinions.
        alone = self.opened.consensus.unlike(told, names)
        base = np.interp((1 - strange) * consensus + strange * alone, *rated.scale)
        scores = base + learned * visible * model.machine(standard, kinds)
        spreads = np.sqrt((1 - strange) * (kinds @ rated.spreads**2) + strange * rated.outside**2)
        both = (*model.recognise.kinds, *self.opened.recognise.kinds)
        shares = np.hstack([(1 - strange)[:, None] * kinds, strange[:, None] * made])
        return scores, spreads, [_by_name(both, row) for row in shares], strange, learned


def with_consensus(features: Floats, opened: OpenModel) -> Floats:
    """Rows of features with what the consensus says of them."""
    return np.hstack([features, opened.consensus.describe(features, opened.names)])


def _by_name(kinds: tuple[str, ...], shares: Floats) -> dict[str, float]:
    """The shares of the kinds, those of one name together, the most probable first."""
    found: dict[str, float] = {}
    for name, share in zip(kinds, map(float, shares), strict=True):
        found[name] = found.get(name, 0.0) + share
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


@lru_cache(maxsize=2)
def load_model(weights: WeightSet = "research") -> FullReferenceModel:
    """The shipped model, loaded once; the open one has no part fitted on opinions."""
    opened = read_open(read_arrays("fr_open.npz"))
    return FullReferenceModel(opened, read_rated(read_arrays("fr_research.npz")) if weights == "research" else None)


def read_open(arrays: Arrays) -> OpenModel:
    """The open model these arrays hold."""
    consensus = Consensus(arrays["quantiles"].astype(np.float64))
    return OpenModel(tuple(map(str, arrays["names"])), consensus, *_recognition(arrays), float(arrays["spread"]))


def read_rated(arrays: Arrays) -> RatedModel:
    """The rated model these arrays hold."""
    number = {name: array.astype(np.float64) for name, array in arrays.items() if array.dtype.kind == "f"}
    machine = KernelMachine(
        number["support"], number["support_kinds"], number["weights"], number["widths"], float(arrays["sharing"])
    )
    return RatedModel(
        PairModel(tuple(map(str, arrays["names"])), *_recognition(arrays), machine, number["reach"]),
        number["rated_scale"],
        number["rated_known"],
        number["rated_spreads"],
        float(arrays["rated_outside"]),
        float(arrays["rated_factor"]),
        int(arrays["rated_clusters"]),
        float(arrays["rated_srcc"]),
    )


def _recognition(arrays: Arrays) -> tuple[Standardiser, KindRecogniser]:
    """What brings features to one scale and names the kind of damage."""
    centre, scale, weights, bias = (
        arrays[name].astype(np.float64) for name in ("centre", "scale", "kind_weights", "kind_bias")
    )
    return Standardiser(centre, scale), KindRecogniser(tuple(map(str, arrays["kinds"])), weights, bias)
