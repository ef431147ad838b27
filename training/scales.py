"""A source's map to the common scale, for opinions in standard deviations."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import yaml

from training.opinions import SCALES

Values = npt.NDArray[np.float64]


def knots_of(source: str) -> Values:
    """The knots (opinion, common scale) of a source."""
    return np.array(yaml.safe_load(SCALES.read_text(encoding="utf-8"))[source]["knots"], np.float64)


def standardised_scale(source: str, opinions: Values) -> dict[str, Values]:
    """The map for opinions expressed in standard deviations of the training opinions given."""
    knots = knots_of(source)
    return {"scale_from": (knots[:, 0] - opinions.mean()) / opinions.std(), "scale_to": knots[:, 1]}
