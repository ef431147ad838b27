"""Looking where a question wants it, and gathering the evidence for its answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from agenticiqa.embedded.answers.evidence import Evidence, Meant, gather, without
from agenticiqa.embedded.answers.file_facts import facts_of
from agenticiqa.embedded.answers.places import share_in
from agenticiqa.embedded.corrections import as_asked
from agenticiqa.embedded.findings import Look, Perception
from agenticiqa.embedded.objects.scene import in_words, scene_of
from agenticiqa.embedded.regions.places import alike, area
from agenticiqa.embedded.regions.sharpness import focus_parts
from agenticiqa.images import LoadedImage
from agenticiqa.question.asked import Choose, Compare, Measure, Question, Where, YesNo
from agenticiqa.question.object_words import names_a_thing, names_several
from agenticiqa.state import GLOBAL, LocatedRegion, Region
from agenticiqa.values import Language
from agenticiqa.vlm_client.tasks import AnswerInputs, ScoreInputs

# Where a place is looked for when the question offers no places of its own.
_PLACES = ("top left", "top right", "bottom left", "bottom right", "centre")
# Quarters that differ by this share of what is asked for, 0 to 1, are clearly apart.
CLEARLY_APART = 0.1
# A thing of less than this share of the largest one's area is not taken to be meant.
MUCH_SMALLER = 0.25
# Channels of a grey picture differ by no more than this; about so many rows and columns are looked at.
GREY_SPREAD, GREY_SAMPLES = 6, 400


@dataclass(frozen=True)
class Observer:
    """Looks at a picture, and its reference where it has one, as one question wants it."""

    perception: Perception
    question: Question
    image: LoadedImage
    reference: LoadedImage | None = None

    def evidence(self, inputs: AnswerInputs | ScoreInputs | None = None) -> Evidence:
        """The evidence in the inputs, completed by what is seen of the same places, without what is excepted."""
        question, image = self.question, self.image
        analysis, scope = inputs.distortion_analysis if inputs else None, question.topic.scope
        absent = tuple(name for name in scope if name not in (analysis or ()) and self._is_absent(name))
        names = tuple(analysis or (name for name in scope if name not in absent)) or (GLOBAL,)
        looks, unlocated = self.looks(names)
        regions = {name: self.perception.locate(image, name) for name in names}
        located = {name: region for name, region in regions.items() if isinstance(region, LocatedRegion)}
        doubtful = {name: region.confidence for name, region in located.items() if region.is_doubtful}
        asks_fact, asks_parts = isinstance(question, Measure), _asks_for_parts(question) and not scope
        found = replace(
            gather(looks, analysis, inputs.quality_scores if inputs else None, has_reference=bool(self.reference)),
            absent=absent,
            unlocated=unlocated,
            doubtful=doubtful,
            seen_instead=seen_in(image, question.reply.language) if absent or unlocated or doubtful else "",
            meant=tuple(meant for name, region in located.items() if (meant := self._meant(name, region))),
            counts={name: max(1, len(region.members)) for name, region in located.items() if names_several(name)},
            size=image.size,
            file=facts_of(image) if asks_fact else None,
            is_grey=has_no_colour(image) if asks_fact or question.topic.flaw.attribute == "colour" else None,
            parts=focus_parts(scene_of(image).edges, image.width, image.height) if asks_parts else None,
            values=(inputs.tool_values or {}) if isinstance(inputs, AnswerInputs) else {},
        )
        return without(self._compared(found), question.topic.excepted)

    def looks(self, names: Iterable[str], *, to_compare: bool = False) -> tuple[dict[str, Look], tuple[str, ...]]:
        """A look at each named place, and the names that could not be located and stand for the whole image.

        A soft background is no flaw; a question whether it is soft, and no comparison, is answered all the same.
        """
        regions = {name: self.perception.locate(self.image, name) for name in names}
        unlocated = tuple(name for name, region in regions.items() if name != GLOBAL and region is None)
        topic = self.question.topic
        asks_softness = topic.flaw.attribute == "blur" and not topic.as_fault and not to_compare
        looks = {
            name: as_asked(
                self._look(region), self.image, region, asks_softness=asks_softness, is_found=name not in unlocated
            )
            for name, region in regions.items()
        }
        return looks, unlocated

    def _look(self, region: Region | None) -> Look:
        return self.perception.look(self.image, self.reference, region)

    def _is_absent(self, name: str) -> bool:
        """Whether a thing is not in the picture. A guess is no place to rate: a number does not show the doubt."""
        region = self.perception.locate(self.image, name)
        if isinstance(region, LocatedRegion) and region.is_doubtful:
            return self.question.topic.flaw.category is None
        return region is None and names_a_thing(name)

    def _meant(self, name: str, region: LocatedRegion) -> Meant | None:
        """The things that a name of one may mean, with a look at each that is not much smaller; None if it is clear."""
        found = alike(scene_of(self.image), name, *self.image.size)
        if self.question.reply.which and region.members:
            found = sorted(region.members, key=area, reverse=True)
        if len(found) < 2:
            return None
        likely = [each for each in found if area(each) >= MUCH_SMALLER * area(found[0])]
        from_left = sorted(likely, key=lambda each: each.left + each.right)
        return Meant(name, tuple(map(self._look, from_left)), len(found) - len(likely))

    def _compared(self, evidence: Evidence) -> Evidence:
        """The evidence with what the question compares beside it: places, or the reference."""
        question = self.question
        if isinstance(question, Compare) and question.places:
            looks, unlocated = self.looks(question.places, to_compare=True)
            return replace(evidence, places=looks, unlocated=unlocated)
        if self.reference is not None and _is_compared(question):
            # A "reference" may be the worse of the two, as when an enhanced image is compared with its original.
            test, other = self.perception.look(self.image), self.perception.look(self.reference)
            if question.topic.flaw.category is None:
                return replace(evidence, advantage=test.quality.score - other.quality.score)
            before = {finding.category: finding.weight for finding in other.findings}
            leads: dict[str, float] = {
                each.category: each.weight - before.get(each.category, 0.0) for each in test.findings
            }
            return replace(evidence, leads=leads)
        offered = _offered_places(question)
        return self._with_places(evidence, offered) if offered or isinstance(question, Where) else evidence

    def _with_places(self, evidence: Evidence, named: list[str]) -> Evidence:
        """The evidence with a look at each place the question offers or asks for, else at the parts of the picture."""
        question, scope = self.question, self.question.topic.scope
        if not named and len(scope) > 1:
            named = list(scope)
            if evidence.unlocated or evidence.absent:  # the place asked for may be the very one that was not found
                return evidence
        boxes = {name: self.perception.locate(self.image, name) for name in named or _PLACES}
        looks = {name: self._look(box) for name, box in boxes.items() if box is not None}
        wanted = min if isinstance(question, Where) and question.least else max
        shares = {name: share_in(look, question) for name, look in looks.items()}
        asked = wanted(shares, key=lambda name: shares[name], default=None)
        half = None if named or asked is None else _half_around(asked, shares)
        if half and (box := self.perception.locate(self.image, half)):
            asked, looks = half, {**looks, half: self._look(box)}
        return replace(evidence, places=looks, asked_place=asked)


def seen_in(image: LoadedImage, language: Language) -> str:
    """What is clearly in the picture, as a list for a person."""
    listed = in_words(scene_of(image).listed, language)
    return listed.title() if language == "de" else listed  # nouns


def _is_compared(question: Question) -> bool:
    """Whether the image is to be put beside its reference."""
    if not isinstance(question, Choose):
        return isinstance(question, Compare)
    relates = any(option.relation or option.side for option in question.options.values())
    return relates or question.topic.reference == "wanted"


def _asks_for_parts(question: Question) -> bool:
    """Whether the sharpness of the picture's parts decides."""
    if isinstance(question, YesNo):
        return question.part is not None
    return isinstance(question, Where) and question.topic.flaw.attribute == "blur"


def _offered_places(question: Question) -> list[str]:
    options = question.options.values() if isinstance(question, Choose) else ()
    return [option.place for option in options if option.place]


def _half_around(asked: str, shares: Mapping[str, float]) -> str | None:
    """The half of the picture whose two quarters both have what is asked for, while the other two do not."""
    for half in ("left", "right", "top", "bottom"):
        inside = [share for name, share in shares.items() if half in name.split()]
        outside = [share for name, share in shares.items() if name != "centre" and half not in name.split()]
        if half in asked.split() and len(inside) == len(outside) == 2:
            within = max(inside) - min(inside)
            apart = max(min(inside) - max(outside), min(outside) - max(inside))
            if apart > max(CLEARLY_APART, 2 * within):
                return half
    return None


def has_no_colour(image: LoadedImage) -> bool:
    """Whether the channels of nearly all pixels agree, up to what JPEG leaves of a grey picture."""
    step = max(1, min(image.size) // GREY_SAMPLES)
    sample = image.pixels[::step, ::step].astype(np.int16)
    return float(np.percentile(np.ptp(sample, axis=2), 99)) <= GREY_SPREAD
