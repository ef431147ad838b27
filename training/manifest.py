"""The shipped weight files: how their arrays are written, and the list of them with their hashes."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

# An array that packing makes smaller by no more than this share is stored as it is: unpacking takes most of the time of
# loading, and a run waits for it.
WORTH_PACKING = 0.1


def write_arrays(path: Path, arrays: Mapping[str, Any]) -> None:
    """Write an archive that `numpy.load` reads, each array packed where that is worth its time."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            written = io.BytesIO()
            np.lib.format.write_array(written, np.asanyarray(array), allow_pickle=False)
            content = written.getvalue()
            packed = len(zlib.compress(content)) < (1 - WORTH_PACKING) * len(content)
            # The time of writing is left out: the same arrays give the same bytes.
            entry = zipfile.ZipInfo(f"{name}.npy")
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED)


def write_manifest(weights: Path) -> None:
    """Record size and SHA-256 of every weight file in the folder, keeping what is listed of files elsewhere."""
    listed = weights / "manifest.json"
    files = json.loads(listed.read_text(encoding="utf-8")) if listed.exists() else {}
    for path in sorted([*weights.glob("*.onnx"), *weights.glob("*.npz")]):
        content = path.read_bytes()
        files[path.name] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    listed.write_text(json.dumps(dict(sorted(files.items())), indent=2) + "\n", encoding="utf-8")
