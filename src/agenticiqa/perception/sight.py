"""The shipped eyes: the quality model, the distortion model and the full-reference judgement behind one look."""

from __future__ import annotations

from functools import lru_cache

from agenticiqa.errors import ModelFileError
from agenticiqa.perception.eyes import Eyes


@lru_cache(maxsize=2)
def shipped_eyes(terms: str) -> Eyes:
    """The eyes for these terms of use, one pair per process, so that all roles share what was seen."""
    raise ModelFileError("the embedded models are not part of this installation; install a released version")
