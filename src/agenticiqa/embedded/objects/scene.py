"""One picture's things by name: what was asked for, and what is there instead.

Whoever names a class says that it is there, so its likeliest candidate is taken at a low confidence, at a lower one
where the picture is blurred, since a blurred thing is never seen clearly; unasked, only what is clearly there is told.
All thresholds were chosen on pictures that are in no test (docs/objects.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from agenticiqa.embedded.objects.faces import Face, find_faces
from agenticiqa.embedded.objects.object_detector import (
    SHRUNK,
    SMALLEST_VIEW,
    Box,
    Candidate,
    View,
    box_area,
    load_detector,
    merged,
    overlap_share,
    shrunk_for_views,
)
from agenticiqa.embedded.objects.subject import subject_box
from agenticiqa.embedded.regions.sharpness import EdgeMap, find_edges
from agenticiqa.images import LoadedImage
from agenticiqa.question.object_words import NOT_CLASSES, ObjectName, object_called, word_for
from agenticiqa.state import LocatedRegion

Pixels = npt.NDArray[np.uint8]

LIVING = frozenset(("person", "bird", "cat", "dog", "horse", "sheep", "cow", "elephant", "bear", "zebra", "giraffe"))
LISTED_LIVING, LISTED_THING, LISTED_FACE = 0.46, 0.52, 0.75
NAMED, NAMED_FACE = 0.16, 0.7
# The same for a named class where the edges are softer than this, in pixels at working size.
NAMED_BLURRED, SOFT = 0.08, 1.2
SMALLEST_LISTED = 0.01
# Two classes for one box: the likelier one is listed.
ONE_BOX = 0.7
# The least a named class may count where the same box is likelier something else.
LEAST_COUNTED = 0.015
# Of several of a class, those nearly as likely as the best are meant too.
COMPANION = 0.7


@dataclass(frozen=True)
class Located:
    """One thing in the picture: its class, how likely, and where."""

    kind: str
    confidence: float
    box: Box


class Scene:
    """The things of one picture; each model runs when it is first needed."""

    def __init__(self, pixels: Pixels) -> None:
        self._pixels = pixels

    def find(self, name: str) -> tuple[Located, ...]:
        """Where the thing a name stands for is, the one meant first; nothing for what is not found."""
        asked = object_called(name)
        if asked is None:
            return ()
        return _on_side(self._found(asked), asked)

    @cached_property
    def listed(self) -> tuple[Located, ...]:
        """What is clearly there, the largest first: things, and faces that are no animal's."""
        things = self._clear_things()
        animals = [thing.box for thing in things if thing.kind in LIVING - {"person"}]
        faces = [
            Located("face", face.confidence, face.box)
            for face in self._faces
            if face.confidence >= LISTED_FACE and not any(_within(face.box, animal) > 0.7 for animal in animals)
        ]
        return tuple(sorted([*things, *faces], key=lambda each: -box_area(each.box)))

    @cached_property
    def edges(self) -> EdgeMap:
        """The edges of the picture, each with its softness."""
        return find_edges(self._pixels)

    @cached_property
    def _shrunk(self) -> Pixels:
        return shrunk_for_views(self._pixels)

    @cached_property
    def _views(self) -> tuple[View, View]:
        detector = load_detector()
        return detector.view(self._shrunk), detector.view(self._shrunk, SHRUNK)

    @cached_property
    def _smallest_view(self) -> View:
        return load_detector().view(self._shrunk, SMALLEST_VIEW)

    @cached_property
    def _candidates(self) -> tuple[Candidate, ...]:
        return merged([view.things() for view in self._views])

    @cached_property
    def _faces(self) -> tuple[Face, ...]:
        return find_faces(self._pixels)

    @cached_property
    def _subject(self) -> tuple[Box, float] | None:
        return subject_box(self._pixels)

    def _clear_things(self) -> list[Located]:
        kept: list[Located] = []
        for each in self._candidates:
            enough = LISTED_LIVING if each.kind in LIVING else LISTED_THING
            if each.confidence < enough or box_area(each.box) < SMALLEST_LISTED:
                continue
            if not any(_told_already(each, other) for other in kept):
                kept.append(Located(each.kind, each.confidence, each.box))
        return kept

    def _found(self, asked: ObjectName) -> list[Located]:
        if asked.kind in ("face", "eyes"):
            return [
                Located(asked.kind, face.confidence, face.box if asked.kind == "face" else face.eyes)
                for face in self._largest_face_first()
            ]
        if asked.kind in ("subject", "foreground"):
            return [Located(asked.kind, self._subject[1], self._subject[0])] if self._subject else []
        return [] if asked.kind in NOT_CLASSES else self._of_class(asked.kinds, several=asked.several)

    def _of_class(self, kinds: Sequence[str], *, several: bool) -> list[Located]:
        named = [each for each in self._candidates_of(kinds) if each.kind in kinds and self._is_likely(each)]
        meant = sorted(((_counted(each), each) for each in named), key=lambda pair: -pair[0])
        best = meant[0][0] if meant else 0.0
        near = [
            each
            for counted, each in meant
            if counted >= max(LEAST_COUNTED, COMPANION * best) or (several and each.confidence >= LISTED_LIVING)
        ]
        return [Located(each.kind, each.confidence, each.box) for each in _largest_of_sure(near)]

    def _candidates_of(self, kinds: Sequence[str]) -> tuple[Candidate, ...]:
        """Two views where they show the class clearly, else all three: the smallest finds more and places it worse."""
        if any(each.kind in kinds and each.confidence >= LISTED_LIVING for each in self._candidates):
            return self._candidates
        return merged([view.things(kinds) for view in (*self._views, self._smallest_view)])

    def _is_likely(self, candidate: Candidate) -> bool:
        if candidate.confidence >= NAMED or candidate.confidence < NAMED_BLURRED:
            return candidate.confidence >= NAMED
        height, width = self._pixels.shape[:2]
        softness = self.edges.within(as_region(Located(candidate.kind, 1.0, candidate.box), width, height))
        return softness is None or softness.typical >= SOFT

    def _largest_face_first(self) -> list[Face]:
        likely = [face for face in self._faces if face.confidence >= NAMED_FACE]
        return sorted(likely, key=lambda face: -box_area(face.box))


def scene_of(image: LoadedImage) -> Scene:
    """The scene of an image; the last few are remembered by their content."""
    return _scenes(_Key(image.sha256, image.size, image))


def as_region(found: Located, width: int, height: int) -> LocatedRegion:
    """The box in pixels, with the class and how likely it is."""
    left, top = min(width - 1, int(found.box[0] * width)), min(height - 1, int(found.box[1] * height))
    right, bottom = max(left + 1, round(found.box[2] * width)), max(top + 1, round(found.box[3] * height))
    return LocatedRegion(
        left=left,
        top=top,
        right=min(width, right),
        bottom=min(height, bottom),
        kind=found.kind,
        confidence=round(min(1.0, found.confidence), 3),
    )


def in_words(found: Iterable[Located], language: str = "en") -> str:
    """A list for a person: "dog, person (2)"."""
    counts = Counter(each.kind for each in found if each.kind != "face")
    return ", ".join(
        word_for(kind, language) + (f" ({count})" if count > 1 else "") for kind, count in counts.most_common()
    )


class _Key:
    """An image as the key of its scene: equal by content, so that the cache does not compare pixels."""

    def __init__(self, sha256: str, size: tuple[int, int], image: LoadedImage) -> None:
        self.identity = (sha256, size)
        self.image = image

    def __hash__(self) -> int:
        return hash(self.identity)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and other.identity == self.identity


@lru_cache(maxsize=8)
def _scenes(key: _Key) -> Scene:
    return Scene(key.image.pixels)


def _counted(candidate: Candidate) -> float:
    """The confidence, less where the same box is likelier something else."""
    return candidate.confidence * min(1.0, candidate.confidence / max(candidate.rival, 1e-6))


def _largest_of_sure(found: list[Candidate]) -> list[Candidate]:
    """Of several that are clearly there the largest comes first, otherwise the likeliest."""
    sure = [each for each in found if each.confidence >= LISTED_LIVING]
    rest = [each for each in found if each.confidence < LISTED_LIVING]
    return sorted(sure, key=lambda each: -box_area(each.box)) + rest


def _on_side(found: list[Located], asked: ObjectName) -> tuple[Located, ...]:
    if asked.side is None or not found:
        return tuple(found)
    return tuple(sorted(found, key=lambda each: (each.box[0] + each.box[2]) * (1 if asked.side == "left" else -1)))


def _told_already(candidate: Candidate, other: Located) -> bool:
    shared = overlap_share(candidate.box, other.box)
    if candidate.kind == other.kind:
        return shared > 0.5 or (_within(candidate.box, other.box) > 0.8 and candidate.confidence < 0.6)
    return shared > ONE_BOX


def _within(inner: Box, outer: Box) -> float:
    """The share of one box that lies in another."""
    width = min(inner[2], outer[2]) - max(inner[0], outer[0])
    height = min(inner[3], outer[3]) - max(inner[1], outer[1])
    return max(0.0, width) * max(0.0, height) / max(1e-9, box_area(inner))
