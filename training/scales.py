"""The common scale: each source's monotone map from its mean opinions to 1–5."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import yaml

Values = npt.NDArray[np.float64]
SCALES = Path(__file__).with_name("scales.yaml")


def knots_of(source: str) -> Values:
    """The knots (opinion, common scale) of a source."""
    return np.array(yaml.safe_load(SCALES.read_text(encoding="utf-8"))[source]["knots"], np.float64)


def on_common_scale(source: str, opinions: npt.ArrayLike) -> Values:
    """Opinions of a source on the scale of 1 to 5."""
    knots = knots_of(source)
    return np.interp(np.asarray(opinions, np.float64), knots[:, 0], knots[:, 1])


def standardised_scale(source: str, opinions: Values) -> dict[str, Values]:
    """The map for opinions expressed in standard deviations of the training opinions given."""
    knots = knots_of(source)
    return {"scale_from": (knots[:, 0] - opinions.mean()) / opinions.std(), "scale_to": knots[:, 1]}
