"""What the embedded backend sees of an image, as values; whoever computes them is behind the `Perception` protocol."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from agenticiqa.cache import Recent
from agenticiqa.images import LoadedImage
from agenticiqa.state import Region
from agenticiqa.values import Distortion, Judgement, Reading

Found = TypeVar("Found")


@dataclass(frozen=True)
class Look:
    """Everything seen in one image or one region of it.

    With a reference the quality is the one judged against it, and `against_reference` says so.
    """

    quality: Judgement
    findings: tuple[Distortion, ...] = ()
    against_reference: Judgement | None = None

    def finding(self, category: str) -> Distortion | None:
        """What was found for a category, if it was looked for."""
        return next((finding for finding in self.findings if finding.category == category), None)

    def reading(self, category: str, name: str) -> Reading | None:
        """One measurement behind a category's finding, if it was made."""
        finding = self.finding(category)
        return finding.reading(name) if finding else None


class Perception(Protocol):
    """Whoever can look at an image and find a place in it."""

    def look(self, image: LoadedImage, reference: LoadedImage | None = None, region: Region | None = None) -> Look:
        """What is to be seen in the image, or in the region with its surroundings in mind."""
        ...

    def locate(self, image: LoadedImage, name: str) -> Region | None:
        """The box of a place word ("top left", "centre", "background") or a face; None when it cannot be found."""
        ...


class RememberingPerception:
    """Looks only once at the same images and for the same places, however many tasks ask."""

    def __init__(self, perception: Perception, capacity: int = 32) -> None:
        self._perception = perception
        self._known = Recent[tuple[Any]](capacity)

    def look(self, image: LoadedImage, reference: LoadedImage | None = None, region: Region | None = None) -> Look:
        """The remembered look, or a new one."""
        box = region.model_dump_json() if region else None
        key = (image.sha256, image.size, reference.sha256 if reference else None, box)
        return self._remembered(key, lambda: self._perception.look(image, reference, region))

    def locate(self, image: LoadedImage, name: str) -> Region | None:
        """The remembered place, or where the perception finds it now."""
        return self._remembered((image.sha256, image.size, name), lambda: self._perception.locate(image, name))

    def _remembered(self, key: tuple[object, ...], find: Callable[[], Found]) -> Found:
        known = self._known.get(repr(key))
        if known is None:
            known = (find(),)
            self._known.put(repr(key), known)
        found: Found = known[0]
        return found
