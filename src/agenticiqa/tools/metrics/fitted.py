"""Reads the parameters that `training/` fitted for the metrics of this package."""

from __future__ import annotations

import functools
from importlib import resources
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from agenticiqa.errors import ModelFileError

Parameters = MappingProxyType[str, NDArray[np.float64]]


@functools.lru_cache(maxsize=8)
def load_parameters(name: str) -> Parameters:
    """The named arrays of one parameter file, in double precision and not to be written to."""
    source = resources.files("agenticiqa.tools.metrics") / "parameters" / f"{name}.npz"
    try:
        with source.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
            values = {key: np.asarray(arrays[key], np.float64) for key in arrays.files}
    except (OSError, ValueError) as error:
        raise ModelFileError(f"the parameter file {name}.npz is missing or damaged; reinstall agenticiqa") from error
    for array in values.values():
        array.setflags(write=False)
    return MappingProxyType(values)
