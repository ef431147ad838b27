"""The shipped eyes: the quality model, the distortion model and the full-reference judgement behind one look."""

from __future__ import annotations

from functools import lru_cache

from agenticiqa.errors import ModelFileError
from agenticiqa.images import LoadedImage
from agenticiqa.perception.eyes import Eyes, Look, RememberingEyes
from agenticiqa.state import Region


@lru_cache(maxsize=2)
def shipped_eyes(terms: str) -> Eyes:
    """The eyes for these terms of use, one pair per process, so that all roles share what was seen."""
    return RememberingEyes(ShippedEyes(terms))


class ShippedEyes:
    """Eyes whose models are loaded at the first look."""

    def __init__(self, terms: str) -> None:
        self._terms = terms

    def look(self, image: LoadedImage, reference: LoadedImage | None = None, region: Region | None = None) -> Look:
        """What the shipped models see."""
        raise ModelFileError("the embedded models are not part of this installation; install a released version")

    def locate(self, image: LoadedImage, name: str) -> Region | None:
        """The box of a place word or a face."""
        return None
