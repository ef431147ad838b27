"""One picture's things by name: what was asked for, and what is there instead.

Whoever names a class says that it is there, so its likeliest candidate is taken at a low confidence, and at a lower one
still as a guess, which is marked as doubtful; unasked, only what is clearly there is told. All thresholds were chosen
on pictures that are in no test (docs/model-card-objects.md).
The main subject is what stands out by U²-Net-p's map of salient things.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property

import cv2
import numpy as np

from agenticiqa.cache import Recent
from agenticiqa.embedded.objects.faces import Face, find_faces
from agenticiqa.embedded.objects.object_detector import (
    SHRUNK,
    Box,
    Located,
    View,
    box_area,
    merged,
    overlap_share,
    share_within,
    shrunk_for_views,
    view_of,
    view_of_parts,
)
from agenticiqa.embedded.regions.sharpness import EdgeMap, find_edges
from agenticiqa.embedded.trunk import Floats, Pixels
from agenticiqa.images import LoadedImage
from agenticiqa.question.object_words import NOT_CLASSES, ObjectName, object_called, word_for
from agenticiqa.state import DOUBTFUL, LocatedRegion, Region
from agenticiqa.weights import open_session

# At 112 pixels a side the map costs a thirtieth of what it does at the size it was trained on.
SUBJECT_SIDE = 112
MEAN, SPREAD = np.array([0.485, 0.456, 0.406], np.float32), np.array([0.229, 0.224, 0.225], np.float32)
SALIENT = 0.5
# The highest value of the raw map below which nothing stands out.
FAINTEST_SUBJECT = 0.3
SMALLEST, LARGEST = 0.01, 0.95
# A second patch belongs to the subject if it is at least this large beside the first.
SECOND_PATCH = 0.25


def find_subject(pixels: Pixels) -> Located | None:
    """What stands out, with how clearly it does as its confidence; None where nothing or everything does."""
    salient = saliency(pixels)
    strength = float(salient.max())
    mask = (salient >= SALIENT * strength).astype(np.uint8)
    if strength < FAINTEST_SUBJECT or not SMALLEST <= float(mask.mean()) <= LARGEST:
        return None
    _, _, stats, _ = cv2.connectedComponentsWithStats(mask)
    patches = stats[1:]
    large = patches[patches[:, cv2.CC_STAT_AREA] >= SECOND_PATCH * patches[:, cv2.CC_STAT_AREA].max()]
    height, width = mask.shape
    left, top, wide, high = large[:, : cv2.CC_STAT_AREA].T
    box = left.min() / width, top.min() / height, (left + wide).max() / width, (top + high).max() / height
    return Located("subject", float(salient[mask > 0].mean()), box)


def saliency(pixels: Pixels, side: int = SUBJECT_SIDE) -> Floats:
    """How much each part stands out, 0 to 1, on a square grid."""
    small = cv2.resize(pixels, (side, side), interpolation=cv2.INTER_AREA).astype(np.float32)
    planes = (small / max(1.0, float(small.max())) - MEAN) / SPREAD
    session = open_session("objects_subject.onnx")
    entry = session.get_inputs()[0].name
    found: Floats = session.run(None, {entry: np.ascontiguousarray(planes.transpose(2, 0, 1)[None])})[0][0, 0]
    return found


LIVING = frozenset(("person", "bird", "cat", "dog", "horse", "sheep", "cow", "elephant", "bear", "zebra", "giraffe"))
LISTED_LIVING, LISTED_THING, LISTED_FACE = 0.46, 0.52, 0.75
NAMED_FACE = 0.7
# The least a named class may count to be a guess; from DOUBTFUL (state.py) on it is found. No guess is made where the
# same box is clearly something else, that is this many times likelier.
GUESSED, CLEARLY_LIKELIER = 0.05, 5.0
SMALLEST_LISTED = 0.01
# Two classes for one box: the likelier one is listed.
ONE_BOX = 0.7
# Of several of a class, those nearly as likely as the best are meant too.
COMPANION = 0.7
# Two boxes that overlap less than this are two things.
SEPARATE = 0.2
# The share of a box that lies in another of the same thing where one of them is a part, or a group, of the other.
NESTED = 0.75


class Scene:
    """The things of one picture; each model runs when it is first needed."""

    def __init__(self, pixels: Pixels) -> None:
        self.pixels = pixels

    def find(self, name: str) -> tuple[Located, ...]:
        """Where the thing a name stands for is, the one meant first; nothing for what is not found."""
        asked = object_called(name)
        if asked is None:
            return ()
        found = self._found(asked)
        if asked.side is None:
            return tuple(found)
        from_left = sorted(found, key=lambda each: each.box[0] + each.box[2])
        return tuple(from_left if asked.side == "left" else reversed(from_left))

    @cached_property
    def listed(self) -> tuple[Located, ...]:
        """What is clearly there, the largest first: things, and faces that are no animal's."""
        things = self._clear_things()
        animals = [thing.box for thing in things if thing.kind in LIVING - {"person"}]
        faces = [
            Located("face", face.confidence, face.box)
            for face in self._faces
            if face.confidence >= LISTED_FACE and not any(share_within(face.box, animal) > 0.7 for animal in animals)
        ]
        return tuple(sorted([*things, *faces], key=lambda each: -box_area(each.box)))

    @cached_property
    def edges(self) -> EdgeMap:
        """The edges of the picture, each with its softness."""
        return find_edges(self.pixels)

    @cached_property
    def _shrunk(self) -> Pixels:
        return shrunk_for_views(self.pixels)

    @cached_property
    def _views(self) -> tuple[View, View]:
        return view_of(self._shrunk), view_of(self._shrunk, SHRUNK)

    @cached_property
    def _parts(self) -> View:
        return view_of_parts(self._shrunk)

    @cached_property
    def _candidates(self) -> tuple[Located, ...]:
        return merged([view.things() for view in self._views])

    @cached_property
    def _faces(self) -> tuple[Face, ...]:
        return find_faces(self.pixels)

    @cached_property
    def _subject(self) -> Located | None:
        return find_subject(self.pixels)

    def _clear_things(self) -> list[Located]:
        kept: list[Located] = []
        for each in self._candidates:
            enough = LISTED_LIVING if each.kind in LIVING else LISTED_THING
            if each.confidence < enough or box_area(each.box) < SMALLEST_LISTED:
                continue
            if not any(_is_listed_already(each, other) for other in kept):
                kept.append(each)
        return kept

    def _found(self, asked: ObjectName) -> list[Located]:
        if asked.kind in ("face", "eyes"):
            likely = [face for face in self._faces if face.confidence >= NAMED_FACE]
            return [
                Located(asked.kind, face.confidence, face.box if asked.kind == "face" else face.eyes)
                for face in sorted(likely, key=lambda face: -box_area(face.box))
            ]
        if asked.kind in ("subject", "foreground"):
            return [replace(self._subject, kind=asked.kind)] if self._subject else []
        return [] if asked.kind in NOT_CLASSES else self._of_class(asked.kinds, several=asked.several)

    def _of_class(self, kinds: Sequence[str], *, several: bool) -> list[Located]:
        """The things of these classes; where none is likely enough, the one likeliest place as a guess."""
        named = [each for each in self._candidates_of(kinds) if each.kind in kinds and _may_be_meant(each)]
        meant = sorted(named, key=lambda each: -each.counted)
        sure = [each for each in meant if each.counted >= DOUBTFUL]
        near = [
            each
            for each in sure
            if each.counted >= COMPANION * sure[0].counted or (several and each.confidence >= LISTED_LIVING)
        ]
        # Of a group's many classes some is always faintly there: only a class of its own is guessed.
        guess = meant[:1] if len(kinds) == 1 else []
        chosen = _largest_of_sure(without_repeats(near) if several else near) or guess
        return [replace(each, confidence=each.counted) for each in chosen]

    def _candidates_of(self, kinds: Sequence[str]) -> tuple[Located, ...]:
        """Two views where they show the class clearly, else all three."""
        if any(each.kind in kinds and each.confidence >= LISTED_LIVING for each in self._candidates):
            return self._candidates
        return merged([view.things(kinds) for view in (*self._views, self._parts)])


# A scene holds its picture: no more are kept than a question compares.
_SCENES = Recent[Scene](2)


def scene_of(image: LoadedImage) -> Scene:
    """The scene of an image; the last few are remembered by their content."""
    key = repr((image.sha256, image.size))
    scene = _SCENES.get(key)
    if scene is None:
        scene = Scene(image.pixels)
        _SCENES.put(key, scene)
    return scene


def as_region(found: Located, width: int, height: int) -> LocatedRegion:
    """The box in pixels, with the class and how likely it is."""
    box = region_of(found.box, width, height)
    return LocatedRegion(**box.model_dump(), kind=found.kind, confidence=round(min(1.0, found.confidence), 3))


def region_of(box: Box, width: int, height: int) -> Region:
    """The box in pixels, at least one wide and high."""
    left, top = min(width - 1, int(box[0] * width)), min(height - 1, int(box[1] * height))
    right, bottom = max(left + 1, round(box[2] * width)), max(top + 1, round(box[3] * height))
    return Region(left=left, top=top, right=min(width, right), bottom=min(height, bottom))


def in_words(found: Iterable[Located], language: str = "en") -> str:
    """A list for a person: "dog, person (2)"."""
    counts = Counter(each.kind for each in found if each.kind != "face")
    return ", ".join(
        word_for(kind, language) + (f" ({count})" if count > 1 else "") for kind, count in counts.most_common()
    )


def without_repeats(found: list[Located]) -> list[Located]:
    """The candidates, the likeliest first, without boxes around several others and without parts of a likelier one."""
    kept: list[Located] = []
    for each in found:
        inside = [other for other in found if other is not each and share_within(other.box, each.box) > NESTED]
        if any(overlap_share(one.box, two.box) < SEPARATE for one in inside for two in inside):
            continue
        if all(max(share_within(each.box, other.box), share_within(other.box, each.box)) <= NESTED for other in kept):
            kept.append(each)
    return kept


def _may_be_meant(candidate: Located) -> bool:
    """Whether a candidate is found, or may be guessed: no speck, and not clearly something else."""
    if candidate.counted >= DOUBTFUL or candidate.counted < GUESSED:
        return candidate.counted >= DOUBTFUL
    return box_area(candidate.box) >= SMALLEST_LISTED and candidate.rival <= CLEARLY_LIKELIER * candidate.confidence


def _largest_of_sure(found: list[Located]) -> list[Located]:
    """Of several that are clearly there the largest comes first, otherwise the likeliest."""
    sure = [each for each in found if each.confidence >= LISTED_LIVING]
    rest = [each for each in found if each.confidence < LISTED_LIVING]
    return sorted(sure, key=lambda each: -box_area(each.box)) + rest


def _is_listed_already(candidate: Located, other: Located) -> bool:
    shared = overlap_share(candidate.box, other.box)
    if candidate.kind == other.kind:
        return shared > 0.5 or (share_within(candidate.box, other.box) > 0.8 and candidate.confidence < 0.6)
    return shared > ONE_BOX
