"""Reads the parameters that `training/` fitted for the metrics of this package."""

from __future__ import annotations

import functools
import hashlib
import io
import json
from importlib import resources
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from agenticiqa.errors import ModelFileError

Parameters = MappingProxyType[str, NDArray[np.float64]]


@functools.lru_cache(maxsize=8)
def load_parameters(name: str) -> Parameters:
    """The named arrays of one parameter file, in double precision and not to be written to."""
    folder = resources.files("agenticiqa.tools.metrics") / "parameters"
    try:
        content = (folder / f"{name}.npz").read_bytes()
        expected = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))[f"{name}.npz"]
        if hashlib.sha256(content).hexdigest() != expected:
            raise ValueError("its hash is not the one written down")
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            values = {key: np.asarray(arrays[key], np.float64) for key in arrays.files}
    except (OSError, ValueError, KeyError) as error:
        raise ModelFileError(f"the parameter file {name}.npz is missing or altered; reinstall agenticiqa") from error
    for array in values.values():
        array.setflags(write=False)
    return MappingProxyType(values)
