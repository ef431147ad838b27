"""What the embedded backend sees of an image, as values; whoever computes them is behind the `Perception` protocol."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from agenticiqa.images import LoadedImage
from agenticiqa.state import Region
from agenticiqa.values import Distortion, Judgement, Reading


@dataclass(frozen=True)
class Look:
    """Everything seen in one image or one region of it; with a reference the quality is the one judged against it."""

    quality: Judgement
    findings: tuple[Distortion, ...] = ()

    def finding(self, category: str) -> Distortion | None:
        """What was found for a category, if it was looked for."""
        return next((finding for finding in self.findings if finding.category == category), None)

    def changed(self, category: str, change: Callable[[Distortion], Distortion]) -> Look:
        """The same look with another finding of a category."""
        return replace(
            self, findings=tuple(change(each) if each.category == category else each for each in self.findings)
        )

    def reading(self, name: str) -> Reading | None:
        """One measurement behind the findings, if it was made."""
        return next((found for finding in self.findings if (found := finding.reading(name))), None)


class Perception(Protocol):
    """Whoever can look at an image and find a place in it."""

    def look(self, image: LoadedImage, reference: LoadedImage | None = None, region: Region | None = None) -> Look:
        """What is to be seen in the image, or in the region with its surroundings in mind."""
        ...

    def locate(self, image: LoadedImage, name: str) -> Region | None:
        """The box of a place word ("top left", "centre", "background") or a face; None when it cannot be found."""
        ...
