"""The weight files we ship, and the one way to read them.

`manifest.json` lists every file with its size and SHA-256; nothing is used whose hash differs. `LICENCE.md` says
what each was fitted on and under which terms it may be used.
"""

from __future__ import annotations

import ctypes
import hashlib
import io
import json
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from agenticiqa.errors import ModelFileError

# Which set of weights: fitted on data for research use, or on photographs free for any use.
WeightSet = Literal["research", "open"]


def weight_set(terms: str) -> WeightSet:
    """The weights that may be used under these terms."""
    return "open" if terms == "commercial" else "research"


@dataclass
class _Memory:
    gives_back: bool = False


# One for the process, as its memory is.
_memory = _Memory()
# What one picture's planes take, and the next one's take again.
_PLANES = 24 << 20


def give_memory_back() -> None:
    """Has sessions opened from now on give back what a run took: for processes that live long; 12 % slower."""
    _memory.gives_back = True


def keep_freed_memory() -> None:
    """Has the C library keep what one picture frees for the next, unless this process gives memory back.

    Asking the system for it again, page by page, took up to a twentieth of an assessment. The GNU library keeps twice
    the largest block that was ever freed; others take no notice.
    """
    if not _memory.gives_back:
        np.empty(_PLANES, np.uint8)


def read_weights(name: str) -> bytes:
    """The bytes of a shipped weight file, checked against the manifest."""
    recorded = manifest().get(name)
    if recorded is None:
        raise ModelFileError(f"{name} is not among the shipped weights: {', '.join(manifest())}; reinstall the package")
    try:
        content = (resources.files("agenticiqa.weights") / name).read_bytes()
    except OSError as error:
        raise ModelFileError(
            f"{name} is missing; reinstall the package: pip install --force-reinstall agenticiqa"
        ) from error
    verify(name, content, str(recorded["sha256"]))
    return content


def verify(name: str, content: bytes, expected: str) -> None:
    """Raise unless the content has the expected SHA-256."""
    found = hashlib.sha256(content).hexdigest()
    if found != expected:
        raise ModelFileError(f"{name} has hash {found[:12]}…, not {expected[:12]}…; reinstall the package")


def read_arrays(name: str) -> dict[str, npt.NDArray[Any]]:
    """The plain arrays of a shipped archive; pickled content is refused."""
    with np.load(io.BytesIO(read_weights(name)), allow_pickle=False) as archive:
        return {key: archive[key] for key in archive.files}


@cache
def open_session(name: str) -> Any:
    """A one-thread session on a shipped ONNX file, so that sums are always taken in one order; opened once."""
    import onnxruntime

    # The variable in the package's root keeps the library silent; this covers one that was imported before us.
    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.enable_cpu_mem_arena = not _memory.gives_back
    session = onnxruntime.InferenceSession(read_weights(name), options, providers=["CPUExecutionProvider"])
    if _memory.gives_back:
        # Opening widens the weights in several steps; the C library would keep what they freed, twice a file's size.
        with suppress(AttributeError, OSError, TypeError):
            ctypes.CDLL(None).malloc_trim(0)
    return session


def manifest() -> dict[str, dict[str, Any]]:
    """Every shipped weight file with its size and hash."""
    text = (resources.files("agenticiqa.weights") / "manifest.json").read_text(encoding="utf-8")
    listed: dict[str, dict[str, Any]] = json.loads(text)
    return listed
