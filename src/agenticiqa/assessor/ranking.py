"""Several images ranked: by what the question asks, and with the probability that one is better than another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import combinations
from typing import Any, Literal

from pydantic import Field, model_validator

from agenticiqa.assessor.assessment import SCHEMA_VERSION, Assessment, Record
from agenticiqa.assessor.wording import ranking_in_words, score_in_words
from agenticiqa.config import Settings
from agenticiqa.embedded.answers.amounts import flaw_share, is_free_of, share_in_words
from agenticiqa.embedded.answers.gathering import place_called
from agenticiqa.embedded.combined_models import shipped_eyes
from agenticiqa.embedded.findings import Look
from agenticiqa.images import ImageSource
from agenticiqa.question.meaning import CATEGORY_OF, Attribute, Intent, Question
from agenticiqa.question.understanding import understand
from agenticiqa.state import LEVEL_LETTERS, LEVEL_SCORES

CLEAR = 0.75
"""From this probability on one image is called better; between 1 − CLEAR and CLEAR there is no clear difference."""
LEVEL = 0.01
"""Images whose shares of a flaw differ by less are level."""
# Half the width of a 95 % interval of a normal distribution, in standard deviations.
_HALF_WIDTH = 1.959964
# Questions that several images can answer together; "where" and "how can I fix it" are about one image.
_COMPARABLE: tuple[Intent, ...] = ("compare", "score", "degree", "yesno", "choose", "open")


class Ranked(Record):
    """One image with its place; one that has no score has no rank, and its assessment says why."""

    rank: int | None
    name: str
    assessment: Assessment
    share: float | None = Field(
        default=None, description="how much of the flaw asked about the image has, 0 to 1; None for overall quality"
    )
    evidence: str | None = Field(default=None, description="the share and what was measured, in words")


class Pair(Record):
    """Two images, the higher ranked first, and what can be said about them."""

    first: str
    second: str
    probability: float | None = Field(description="that the first is better; None where a score is missing")
    verdict: Literal["better", "no clear difference", "unknown"]


class Ranking(Record):
    """Images from the best to the worst, and every pair of them."""

    schema_version: Literal[2] = 2
    entries: list[Ranked]
    pairs: list[Pair]
    attribute: str = Field(default="overall", description="what the images are ranked by")
    answer: str | None = Field(default=None, description="the answer to the question, if one was asked")

    @model_validator(mode="before")
    @classmethod
    def _as_this_version(cls, fields: Any) -> Any:
        """Reads rankings of version 1 too, which were all of overall quality."""
        is_first = isinstance(fields, dict) and fields.get("schema_version") == 1
        return fields | {"schema_version": SCHEMA_VERSION} if is_first else fields

    @property
    def best(self) -> Ranked | None:
        """The highest ranked image, if any has a score."""
        return next((entry for entry in self.entries if entry.rank == 1), None)

    def pair(self, first: str, second: str) -> Pair:
        """What is known about two images, in the order of their ranks; KeyError for names that are not there."""
        for pair in self.pairs:
            if {pair.first, pair.second} == {first, second}:
                return pair
        raise KeyError((first, second))

    def __str__(self) -> str:
        return ranking_in_words(self)

    def _repr_html_(self) -> str:
        """A table for a notebook, the best first."""
        rows = "".join(
            f"<tr><td>{'–' if entry.rank is None else entry.rank}</td><td>{escape(entry.name)}</td>"
            f"<td>{score_in_words(entry.assessment)}</td></tr>"
            for entry in self.entries
        )
        return f"<table><tr><th>Rank</th><th>Image</th><th>Score</th></tr>{rows}</table>"

    def to_json(self, indent: int | None = 2) -> str:
        """The ranking with all assessments as JSON."""
        return self.model_dump_json(indent=indent)


def rank(names: Sequence[str], assessments: Sequence[Assessment], comparison: Comparison | None = None) -> Ranking:
    """The images in the order the question asks for: by falling score, or by the attribute it names; ties share a rank.

    Without a comparison the best comes first; images without a score come last.
    """
    asked = comparison or Comparison()
    entries = _by_attribute(names, assessments, asked) if asked.shares else _by_score(names, assessments)
    pairs = [_attribute_pair(*two) if asked.shares else _pair(*two) for two in combinations(entries, 2)]
    answer = None if comparison is None else asked.unable or _answer(entries, pairs, asked)
    return Ranking(entries=entries, pairs=pairs, attribute=asked.attribute, answer=answer)


def _by_score(names: Sequence[str], assessments: Sequence[Assessment]) -> list[Ranked]:
    """The best first; an image with the very score of the one before it has the same rank."""
    named = sorted(zip(names, assessments, strict=True), key=lambda item: _falling(item[1].score))
    entries: list[Ranked] = []
    for place, (name, found) in enumerate(named, 1):
        before = entries[-1] if entries else None
        number = before.rank if before is not None and before.assessment.score == found.score else place
        entries.append(Ranked(rank=None if found.score is None else number, name=name, assessment=found))
    return entries


def _by_attribute(names: Sequence[str], assessments: Sequence[Assessment], asked: Comparison) -> list[Ranked]:
    """The images from the end asked for; one that is level with the one before it has the same rank."""
    sign = -1 if asked.first == "flaw" else 1
    shares = asked.shares or ()
    words = asked.evidence or (None,) * len(shares)
    free = asked.free or (False,) * len(shares)
    ordered = sorted(zip(names, assessments, shares, words, free, strict=True), key=lambda item: sign * item[2])
    entries: list[Ranked] = []
    # Among images without the flaw none has the most of it.
    was_free = False
    for place, (name, found, share, evidence, is_free) in enumerate(ordered, 1):
        before = entries[-1] if entries else None
        near = before is not None and before.share is not None and abs(before.share - share) < LEVEL
        level = near or (asked.first == "flaw" and was_free and is_free)
        was_free = is_free
        number = before.rank if level and before is not None else place
        entries.append(Ranked(rank=number, name=name, assessment=found, share=share, evidence=evidence))
    return entries


def _answer(entries: Sequence[Ranked], pairs: Sequence[Pair], asked: Comparison) -> str:
    """The image the question asks for; several where they are level."""
    ranked = [entry for entry in entries if entry.rank is not None]
    if not ranked:
        return "Unable to determine: no image has a score"
    if asked.shares is None:
        wanted = ranked[-1] if asked.first == "flaw" else ranked[0]
        unclear = {"no clear difference", "unknown"}
        level = [
            entry.name
            for entry in ranked
            if entry is wanted
            or any({p.first, p.second} == {entry.name, wanted.name} and p.verdict in unclear for p in pairs)
        ]
    else:
        level = [entry.name for entry in ranked if entry.rank == ranked[0].rank]
    return level[0] if len(level) == 1 else "no clear difference between " + ", ".join(level)


def _attribute_pair(one: Ranked, other: Ranked) -> Pair:
    level = one.rank == other.rank
    return Pair(
        first=one.name,
        second=other.name,
        probability=0.5 if level else 1.0,
        verdict="no clear difference" if level else "better",
    )


def probability_better(one: Assessment, other: Assessment) -> float | None:
    """The probability that people on average find the first image better; None where a score is missing.

    Both scores are taken as normal around their values, with errors that do not depend on each other. Errors on
    versions of one scene do, and then the probability is closer to one half than it need be.
    """
    if one.score is None or other.score is None:
        return None
    if _source(one) == _source(other):
        return 0.5
    spreads = (_spread(one), _spread(other))
    if None in spreads:
        return None
    doubt = math.hypot(*(spread or 0.0 for spread in spreads))
    gap = one.score - other.score
    if doubt == 0.0:
        return 0.5 if gap == 0 else float(gap > 0)
    return 0.5 * (1 + math.erf(gap / doubt / math.sqrt(2)))


def _pair(one: Ranked, other: Ranked) -> Pair:
    probability = probability_better(one.assessment, other.assessment)
    return Pair(first=one.name, second=other.name, probability=probability, verdict=_verdict(probability))


def _verdict(probability: float | None) -> Literal["better", "no clear difference", "unknown"]:
    # The first of a pair never scores lower, so that only its own side needs looking at.
    if probability is None:
        return "unknown"
    return "better" if probability >= CLEAR else "no clear difference"


def _spread(found: Assessment) -> float | None:
    """The score's standard error: from its interval, else from the model's level probabilities."""
    if found.interval is not None:
        low, high = found.interval
        return (high - low) / (2 * _HALF_WIDTH)
    if found.level_probabilities is None:
        return None
    weights = {LEVEL_SCORES[name]: found.level_probabilities.get(name, 0.0) for name in LEVEL_LETTERS}
    total = math.fsum(weights.values())
    if total <= 0:
        return None
    mean = math.fsum(level * p for level, p in weights.items()) / total
    return math.sqrt(math.fsum(p * (level - mean) ** 2 for level, p in weights.items()) / total)


def _source(found: Assessment) -> tuple[str, ...]:
    return tuple(sorted(f"{label} {origin.sha256}" for label, origin in found.provenance.images.items()))


def _falling(score: float | None) -> float:
    return math.inf if score is None else -score


@dataclass(frozen=True)
class Comparison:
    """How images are to be ranked: by overall quality, or by an attribute measured for each of them."""

    attribute: Attribute = "overall"
    first: Literal["flaw", "fine"] = "fine"
    """Which end comes first: the most of the flaw ("noisiest") or the least ("cleanest")."""
    shares: tuple[float, ...] | None = None
    """How much of the flaw each image has, 0 to 1; None when they are ranked by their scores."""
    evidence: tuple[str, ...] | None = None
    """The share of each image and what was measured of it, in words."""
    free: tuple[bool, ...] | None = None
    """Whether nothing is to be seen of the flaw in each image."""
    unable: str | None = None
    """Why the question cannot be answered by comparing."""


def read_comparison(query: str | None, images: Sequence[ImageSource], settings: Settings) -> Comparison:
    """What the question compares, with the attribute measured in every image where it asks for one."""
    if query is None:
        return Comparison()
    question = understand(query)
    if question.intent not in _COMPARABLE:
        return Comparison(unable=_why_not(question))
    first = question.yes_means or "fine"
    if question.attribute not in CATEGORY_OF or question.tool:
        return Comparison(first=first)
    looks = _looks(question, images, settings)
    if isinstance(looks, str):
        return Comparison(unable=looks)
    shares = tuple(flaw_share(question.attribute, look) for look in looks)
    evidence = tuple(share_in_words(question.attribute, one) for one in looks)
    free = tuple(is_free_of(question.attribute, one) for one in looks)
    return Comparison(question.attribute, first, shares, evidence, free)


def _looks(question: Question, images: Sequence[ImageSource], settings: Settings) -> list[Look] | str:
    """What is seen of each image, or of the one thing asked about in each; else why that thing cannot be compared."""
    eyes = shipped_eyes(settings.pipeline.terms)
    store = settings.image_store()
    loaded = [store.open(image) for image in images]
    if len(question.scope) != 1:
        return [eyes.look(image) for image in loaded]
    (thing,) = question.scope
    regions = [eyes.locate(image, place_called(thing)) for image in loaded]
    missing = [str(number) for number, region in enumerate(regions, start=1) if region is None]
    if missing:
        return f"the {thing} could not be located in image {', '.join(missing)}; the images are ranked by quality"
    return [eyes.look(image, region=region) for image, region in zip(loaded, regions, strict=True)]


def query_for_each(query: str | None) -> str | None:
    """The question for each image alone: a comparison is none that one image could answer, so it is rated."""
    return None if query is None or understand(query).intent in ("compare", "unclear", "decline") else query


def _why_not(question: Question) -> str:
    if question.intent == "decline":
        return "the question is not about image quality, so it cannot be answered by comparison"
    if question.intent == "unclear":
        return "the question was not understood; ask for example which image is the sharpest, noisiest or best"
    return "the question is about one image and cannot be answered by comparison; the images are ranked by quality"
