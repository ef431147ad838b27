"""The weight files we ship, and the one way to read them.

`manifest.json` lists every file with its size and SHA-256; nothing is used whose hash differs. `LICENCE.md` says
what each was fitted on and under which terms it may be used.
"""

from agenticiqa.weights.loader import (
    WeightSet,
    keep_freed_memory,
    manifest,
    open_session,
    read_arrays,
    read_weights,
    weight_set,
)

__all__ = ["WeightSet", "keep_freed_memory", "manifest", "open_session", "read_arrays", "read_weights", "weight_set"]
