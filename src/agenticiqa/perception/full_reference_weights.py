"""The whole full-reference model: opinions where pairs like this one were rated, the consensus of metrics elsewhere."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from agenticiqa.backbone.weight_files import verify
from agenticiqa.errors import ModelFileError
from agenticiqa.perception.full_reference_consensus import ON_PURPOSE, Consensus, tone_change
from agenticiqa.perception.full_reference_model import KindRecogniser, PairModel, Standardiser, pack, unpack

Floats = npt.NDArray[np.float64]
Weights = Literal["research", "open"]
MANIFEST = "fr_manifest.json"


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
    """What was fitted on opinions, with how near a pair must be to a rated one to be judged by it.

    `recognise` tells all kinds apart, rated or not; `line` brings the consensus to the opinions' scale; `spreads`
    are standard errors by rated kind, `clusters` the number of photographs they rest on, `srcc` the rank correlation
    on photographs left out.
    """

    model: PairModel
    recognise: KindRecogniser
    line: tuple[float, float]
    near: float
    far: float
    spreads: Floats
    clusters: int
    srcc: float


@dataclass(frozen=True)
class Prediction:
    """Score, standard error and kinds of one pair; `strange` is 1 when nothing like it was rated."""

    score: float
    spread: float
    kinds: dict[str, float]
    strange: float
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
        opened = self.opened
        scores = opened.consensus.score(features, opened.names)
        tones = tone_change(features, opened.names).weight
        if self.rated is not None:
            return [self._mixed(*row) for row in zip(with_consensus(features, opened), scores, tones, strict=True)]
        kinds = opened.recognise(opened.standardise(features))
        rows = zip(scores, kinds, tones, strict=True)
        return [
            Prediction(_bounded(score), opened.spread, _by_name(opened.recognise, shares), 1.0, float(tone))
            for score, shares, tone in rows
        ]

    def _mixed(self, row: Floats, consensus: float, tone: float) -> Prediction:
        assert self.rated is not None
        rated, rows = self.rated, row[None]
        strange = float(np.clip((rated.model.strangeness(rows)[0] - rated.near) / (rated.far - rated.near), 0, 1))
        kinds = rated.model.kinds(rows)
        offset, slope = rated.line
        score = (1 - strange) * rated.model.score(rows, kinds)[0] + strange * (offset + slope * consensus)
        spread = (1 - strange) * float(kinds[0] @ rated.spreads) + strange * self.opened.spread
        named = _by_name(rated.recognise, rated.recognise(rated.model.standardise(rows))[0])
        return Prediction(_bounded(score), spread, named, strange, float(tone))


def with_consensus(features: Floats, opened: OpenModel) -> Floats:
    """Rows of features with what the consensus says of them."""
    return np.hstack([features, opened.consensus.describe(features, opened.names)])


def _bounded(score: float) -> float:
    return float(np.clip(score, 1, 5))


def _by_name(recognise: KindRecogniser, shares: Floats) -> dict[str, float]:
    named = zip(recognise.kinds, map(float, shares), strict=True)
    return dict(sorted(named, key=lambda item: -item[1]))


@lru_cache(maxsize=2)
def load_model(weights: Weights = "research") -> FullReferenceModel:
    """The shipped model, loaded once; the open one has no part fitted on opinions."""
    opened = read_open(_read("fr_open.npz"))
    return FullReferenceModel(opened, read_rated(_read("fr_research.npz")) if weights == "research" else None)


def _read(name: str) -> dict[str, npt.NDArray[Any]]:
    folder = resources.files("agenticiqa.perception") / "weights"
    try:
        recorded = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))[name]
        content = (folder / name).read_bytes()
    except (OSError, KeyError) as error:
        raise ModelFileError(
            f"{name} is missing; reinstall the package: pip install --force-reinstall agenticiqa"
        ) from error
    verify(name, content, str(recorded["sha256"]))
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        return {key: archive[key] for key in archive.files}


def pack_open(opened: OpenModel) -> dict[str, npt.NDArray[Any]]:
    """The open model as arrays."""
    return {
        "names": np.array(opened.names),
        "quantiles": opened.consensus.quantiles,
        "centre": opened.standardise.centre.astype(np.float32),
        "scale": opened.standardise.scale.astype(np.float32),
        "kinds": np.array(opened.recognise.kinds),
        "kind_weights": opened.recognise.weights.astype(np.float32),
        "kind_bias": opened.recognise.bias.astype(np.float32),
        "spread": np.array(opened.spread),
    }


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


def pack_rated(rated: RatedModel) -> dict[str, npt.NDArray[Any]]:
    """The rated model as arrays."""
    own = {
        "all_kinds": np.array(rated.recognise.kinds),
        "all_kind_weights": rated.recognise.weights.astype(np.float32),
        "all_kind_bias": rated.recognise.bias.astype(np.float32),
        "rated_line": np.array(rated.line),
        "rated_reach": np.array([rated.near, rated.far]),
        "rated_spreads": rated.spreads,
        "rated_clusters": np.array(rated.clusters),
        "rated_srcc": np.array(rated.srcc),
    }
    return own | pack(rated.model)


def read_rated(arrays: Mapping[str, npt.NDArray[Any]]) -> RatedModel:
    """The rated model these arrays hold."""
    offset, slope = (float(value) for value in arrays["rated_line"])
    near, far = (float(value) for value in arrays["rated_reach"])
    weights, bias = (arrays[f"all_kind_{part}"].astype(np.float64) for part in ("weights", "bias"))
    return RatedModel(
        unpack(arrays),
        KindRecogniser(tuple(map(str, arrays["all_kinds"])), weights, bias),
        (offset, slope),
        near,
        far,
        arrays["rated_spreads"],
        int(arrays["rated_clusters"]),
        float(arrays["rated_srcc"]),
    )
