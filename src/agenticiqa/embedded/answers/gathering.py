"""Looking where a question wants it, and gathering the evidence for its answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from agenticiqa.embedded.answers.evidence import Evidence, gather, without
from agenticiqa.embedded.answers.file_facts import facts_of
from agenticiqa.embedded.answers.places import share_in
from agenticiqa.embedded.answers.who_is_meant import Meant
from agenticiqa.embedded.combined_models import judgement_from_tools
from agenticiqa.embedded.corrections import as_asked
from agenticiqa.embedded.findings import Look, Perception
from agenticiqa.embedded.objects.scene import in_words, scene_of
from agenticiqa.embedded.regions.places import alike, area
from agenticiqa.embedded.regions.sharpness import focus_parts
from agenticiqa.images import LoadedImage
from agenticiqa.question.asked import Choose, Compare, Measure, Question, Where, YesNo
from agenticiqa.question.object_words import names_a_thing, names_several, place_named
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


class Observer:
    """Gathers what is seen of the places a question names."""

    def __init__(self, perception: Perception) -> None:
        self._perception = perception

    def evidence(
        self,
        question: Question,
        image: LoadedImage,
        reference: LoadedImage | None,
        inputs: AnswerInputs | ScoreInputs | None = None,
    ) -> Evidence:
        """The evidence in the inputs, completed by what is seen of the same places, without what is excepted."""
        return without(self._all_evidence(question, image, reference, inputs), question.topic.excepted)

    def _all_evidence(
        self,
        question: Question,
        image: LoadedImage,
        reference: LoadedImage | None,
        inputs: AnswerInputs | ScoreInputs | None,
    ) -> Evidence:
        analysis, scope = inputs.distortion_analysis if inputs else None, question.topic.scope
        absent = tuple(
            name for name in scope if name not in (analysis or ()) and self._is_absent(image, name, question)
        )
        names = tuple(analysis or (name for name in scope if name not in absent)) or (GLOBAL,)
        looks, unlocated = self.looks(image, reference, names, question)
        regions = {name: self.region(image, name) for name in names}
        located = {name: region for name, region in regions.items() if isinstance(region, LocatedRegion)}
        doubtful = {name: region.confidence for name, region in located.items() if region.is_doubtful}
        several = {name: max(1, len(region.members)) for name, region in located.items() if names_several(name)}
        found = gather(looks, analysis, inputs.quality_scores if inputs else None, has_reference=reference is not None)
        asks_fact, asks_parts = isinstance(question, Measure), _asks_for_parts(question) and not scope
        evidence = replace(
            found,
            judgement=found.judgement or judgement_from_tools(found.tools),
            absent=absent,
            unlocated=unlocated,
            doubtful=doubtful,
            seen_instead=seen_in(image, question.reply.language) if absent or unlocated or doubtful else "",
            meant=self._meant(image, reference, located, question),
            counts=several,
            size=image.size,
            file=facts_of(image) if asks_fact else None,
            is_grey=has_no_colour(image) if asks_fact or question.topic.flaw.attribute == "colour" else None,
            parts=focus_parts(scene_of(image).edges, image.width, image.height) if asks_parts else None,
            values=(inputs.tool_values or {}) if isinstance(inputs, AnswerInputs) else {},
        )
        return self._compared(question, evidence, image, reference)

    def _compared(
        self, question: Question, evidence: Evidence, image: LoadedImage, reference: LoadedImage | None
    ) -> Evidence:
        """The evidence with what the question compares beside it: places, or the reference."""
        if isinstance(question, Compare) and question.places:
            looks, unlocated = self.looks(image, reference, question.places)
            return replace(evidence, places=looks, unlocated=unlocated)
        if reference is not None and _is_compared(question):
            # A "reference" may be the worse of the two, as when an enhanced image is compared with its original.
            alone = self._perception.look(image), self._perception.look(reference)
            if question.topic.flaw.category:
                return replace(evidence, leads=_leads(*alone))
            return replace(evidence, advantage=alone[0].quality.score - alone[1].quality.score)
        return self._with_places(question, evidence, image, reference) if _asks_where(question) else evidence

    def looks(
        self,
        image: LoadedImage,
        reference: LoadedImage | None,
        names: Sequence[str],
        question: Question | None = None,
    ) -> tuple[dict[str, Look], tuple[str, ...]]:
        """A look at each named place, and the names that could not be located and stand for the whole image.

        A soft background is no flaw; a question whether it is soft is answered all the same.
        """
        regions = {name: self.region(image, name) for name in names}
        unlocated = tuple(name for name, region in regions.items() if name != GLOBAL and region is None)
        softness = question is not None and _asks_whether_soft(question)
        looks = {
            name: as_asked(
                self._perception.look(image, reference, region),
                image,
                region,
                asks_softness=softness,
                is_found=name not in unlocated,
            )
            for name, region in regions.items()
        }
        return looks, unlocated

    def region(self, image: LoadedImage, name: str) -> Region | None:
        """The box of a named place; None for the whole image and for what cannot be located."""
        return None if name == GLOBAL else self._perception.locate(image, place_called(name))

    def _is_absent(self, image: LoadedImage, name: str, question: Question) -> bool:
        """Whether a thing is not in the picture. A guess is no place to rate: a number does not show the doubt."""
        region = self.region(image, name)
        if isinstance(region, LocatedRegion) and region.is_doubtful:
            return question.topic.flaw.category is None
        return region is None and names_a_thing(name)

    def _meant(
        self,
        image: LoadedImage,
        reference: LoadedImage | None,
        located: Mapping[str, LocatedRegion],
        question: Question,
    ) -> tuple[Meant, ...]:
        """The names of one thing that may mean one of several, with a look at each that is not much smaller."""
        meant = []
        for name, region in located.items():
            found = alike(scene_of(image), name, *image.size)
            if question.reply.which and region.members:
                found = sorted(region.members, key=area, reverse=True)
            likely = [each for each in found if area(each) >= MUCH_SMALLER * area(found[0])]
            if len(found) > 1:
                from_left = sorted(likely, key=lambda each: each.left + each.right)
                looks = tuple(self._perception.look(image, reference, each) for each in from_left)
                meant.append(Meant(name, looks, len(found) - len(likely)))
        return tuple(meant)

    def _with_places(
        self, question: Question, evidence: Evidence, image: LoadedImage, reference: LoadedImage | None
    ) -> Evidence:
        """The evidence with a look at each place the question compares."""
        named, scope = _offered_places(question), question.topic.scope
        if not named and len(scope) > 1:
            named = list(scope)
            if evidence.unlocated or evidence.absent:  # the place asked for may be the very one that was not found
                return evidence
        boxes = {name: self.region(image, name) for name in named or _PLACES}
        looks = {name: self._perception.look(image, reference, box) for name, box in boxes.items() if box is not None}
        wanted = min if isinstance(question, Where) and question.least else max
        shares = {name: share_in(look, question) for name, look in looks.items()}
        asked = wanted(shares, key=lambda name: shares[name], default=None)
        half = None if named or asked is None else _half_around(asked, shares)
        if half and (box := self.region(image, half)):
            asked, looks = half, {**looks, half: self._perception.look(image, reference, box)}
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


def _asks_where(question: Question) -> bool:
    return isinstance(question, Where) or bool(_offered_places(question))


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


def place_called(name: str) -> str:
    """The place a name stands for ("左上角", "upper left corner" → "top left"), else the name itself."""
    lowered = name.strip().lower()
    return lowered if names_several(lowered) else place_named(lowered) or lowered


def _asks_whether_soft(question: Question) -> bool:
    """Whether softness is asked about, be it a fault or not."""
    return question.topic.flaw.attribute == "blur" and not question.topic.as_fault


def has_no_colour(image: LoadedImage) -> bool:
    """Whether the channels of nearly all pixels agree, up to what JPEG leaves of a grey picture."""
    step = max(1, min(image.size) // GREY_SAMPLES)
    sample = image.pixels[::step, ::step].astype(np.int16)
    return float(np.percentile(np.ptp(sample, axis=2), 99)) <= GREY_SPREAD


def _leads(test: Look, reference: Look) -> dict[str, float]:
    """By category, how much more of it the first look shows."""
    before = {finding.category: finding.weight for finding in reference.findings}
    return {finding.category: finding.weight - before.get(finding.category, 0.0) for finding in test.findings}
