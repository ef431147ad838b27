"""What the embedded backend sees of an image, as values; whoever computes them is behind the `Eyes` protocol."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from agenticiqa.embedded.full_reference.disagreement import Disagreement
from agenticiqa.images import LoadedImage
from agenticiqa.state import LEVEL_LETTERS, LEVEL_SCORES, SEVERITIES, DistortionCategory, LevelLetter, Region, Severity

Found = TypeVar("Found")


@dataclass(frozen=True)
class Reading:
    """One measured number in a unit a person knows, for example ("blur radius", 2.4, "px")."""

    name: str
    value: float
    unit: str = ""


@dataclass(frozen=True)
class Finding:
    """One distortion category in one place: how likely it is there, how strong, of which kind, and what was measured.

    `kind` is a name of `tools.synthetic.kinds.KINDS` or None when it cannot be told; `strength` is the severity as a
    number between 0 (none) and 4 (extreme), where the eyes can be finer than the five words. `manner` says which way
    in a photographer's words ("under-exposed", "out of focus", "yellow cast"), `color` which color a cast has where
    that was measured, `region` where the flaw is worst.
    A brightness that may be wrong either way has both under `directions`: too dark, then too bright.
    """

    category: DistortionCategory
    probability: float
    severity: Severity
    kind: str | None = None
    readings: tuple[Reading, ...] = ()
    strength: float | None = None
    manner: str | None = None
    color: str | None = None
    region: Region | None = None
    directions: tuple[Finding, ...] = ()

    @property
    def position(self) -> float:
        """Where the severity lies between 0 (none) and 4 (extreme)."""
        return float(SEVERITIES.index(self.severity)) if self.strength is None else self.strength

    @property
    def weight(self) -> float:
        """How much the finding matters: its strength, discounted by its doubt."""
        return self.probability * self.position


@dataclass(frozen=True)
class Judgement:
    """Overall quality: probabilities of the five levels, the 95 % interval of the score, and what is doubtful."""

    levels: dict[LevelLetter, float]
    interval: tuple[float, float] | None = None
    out_of_domain: str | None = None
    source: str = "AIQA_NR"
    disagreement: Disagreement | None = None
    notes: tuple[str, ...] = ()
    """What was done to the images before they were judged, or what to know of them."""

    @property
    def score(self) -> float:
        """The expected level, 1 to 5."""
        return sum(LEVEL_SCORES[letter] * p for letter, p in self.levels.items()) / sum(self.levels.values())

    @property
    def letter(self) -> LevelLetter:
        """The level of the expected score, halves rounded up."""
        return level_of(self.score)


@dataclass(frozen=True)
class Look:
    """Everything seen in one image or one region of it.

    With a reference the quality is the one judged against it, and `against_reference` says so.
    """

    quality: Judgement
    findings: tuple[Finding, ...] = ()
    against_reference: Judgement | None = None

    def finding(self, category: str) -> Finding | None:
        """What was found for a category, if it was looked for."""
        return next((finding for finding in self.findings if finding.category == category), None)

    def reading(self, category: str, name: str) -> Reading | None:
        """One measurement behind a category's finding, if it was made."""
        finding = self.finding(category)
        return next((reading for reading in finding.readings if reading.name == name), None) if finding else None


class Eyes(Protocol):
    """Whoever can look at an image and find a place in it."""

    def look(self, image: LoadedImage, reference: LoadedImage | None = None, region: Region | None = None) -> Look:
        """What is to be seen in the image, or in the region with its surroundings in mind."""
        ...

    def locate(self, image: LoadedImage, name: str) -> Region | None:
        """The box of a place word ("top left", "centre", "background") or a face; None when it cannot be found."""
        ...


class RememberingEyes:
    """Eyes that look only once at the same images and for the same places, however many tasks ask."""

    def __init__(self, eyes: Eyes, capacity: int = 32) -> None:
        self._eyes = eyes
        self._capacity = capacity
        self._known: OrderedDict[tuple[object, ...], Any] = OrderedDict()
        self._lock = threading.Lock()

    def look(self, image: LoadedImage, reference: LoadedImage | None = None, region: Region | None = None) -> Look:
        """The remembered look, or a new one."""
        box = region.model_dump_json() if region else None
        key = (image.sha256, image.size, reference.sha256 if reference else None, box)
        return self._remembered(key, lambda: self._eyes.look(image, reference, region))

    def locate(self, image: LoadedImage, name: str) -> Region | None:
        """The remembered place, or where the eyes find it now."""
        return self._remembered((image.sha256, image.size, name), lambda: self._eyes.locate(image, name))

    def _remembered(self, key: tuple[object, ...], find: Callable[[], Found]) -> Found:
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                kept: Found = self._known[key]
                return kept
        found = find()
        with self._lock:
            self._known[key] = found
            while len(self._known) > self._capacity:
                self._known.popitem(last=False)
        return found


def level_of(score: float) -> LevelLetter:
    """The letter of a score between 1 and 5, halves rounded up."""
    return LEVEL_LETTERS[5 - min(5, max(1, math.floor(score + 0.5)))]
