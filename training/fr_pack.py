"""The fitted full-reference models as the arrays that are shipped; `embedded.full_reference.pair_model` reads them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from agenticiqa.embedded.full_reference.pair_model import OpenModel, PairModel, RatedModel


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


def pack_rated(rated: RatedModel) -> dict[str, npt.NDArray[Any]]:
    """The rated model as arrays."""
    own = {
        "rated_scale": rated.scale,
        "rated_known": rated.known,
        "rated_spreads": rated.spreads,
        "rated_outside": np.array(rated.outside),
        "rated_factor": np.array(rated.factor),
        "rated_clusters": np.array(rated.clusters),
        "rated_srcc": np.array(rated.srcc),
    }
    return own | _pack_pair_model(rated.model)


def _pack_pair_model(model: PairModel) -> dict[str, npt.NDArray[Any]]:
    """The model as arrays; half precision where the difference cannot be seen in a score."""
    machine = model.machine
    return {
        "names": np.array(model.names),
        "centre": model.standardise.centre.astype(np.float32),
        "scale": model.standardise.scale.astype(np.float32),
        "kinds": np.array(model.recognise.kinds),
        "kind_weights": model.recognise.weights.astype(np.float32),
        "kind_bias": model.recognise.bias.astype(np.float32),
        "support": machine.support.astype(np.float16),
        "support_kinds": machine.support_kinds.astype(np.float16),
        "weights": machine.weights.astype(np.float32),
        "widths": machine.widths.astype(np.float32),
        "sharing": np.array(machine.sharing),
        "reach": model.reach.astype(np.float32),
    }
