"""The list of shipped weight files with their hashes."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path


def write_manifest(weights: Path) -> None:
    """Record size and SHA-256 of every weight file in the folder."""
    files = {}
    for path in sorted([*weights.glob("*.onnx"), *weights.glob("*.npz")]):
        content = path.read_bytes()
        files[path.name] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    (weights / "manifest.json").write_text(json.dumps(files, indent=2) + "\n", encoding="utf-8")
