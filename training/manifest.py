"""The list of shipped weight files with their hashes."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path


def write_manifest(weights: Path) -> None:
    """Record size and SHA-256 of every weight file in the folder, keeping what is listed of files elsewhere."""
    listed = weights / "manifest.json"
    files = json.loads(listed.read_text(encoding="utf-8")) if listed.exists() else {}
    for path in sorted([*weights.glob("*.onnx"), *weights.glob("*.npz")]):
        content = path.read_bytes()
        files[path.name] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    listed.write_text(json.dumps(dict(sorted(files.items())), indent=2) + "\n", encoding="utf-8")
