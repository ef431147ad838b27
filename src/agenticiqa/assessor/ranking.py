"""Several images ranked: by what the question asks, and with the probability that one is better than another."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from html import escape
from itertools import combinations
from typing import Literal

from pydantic import Field

from agenticiqa.assessor.assessment import Assessment, VersionedRecord
from agenticiqa.assessor.wording import ranking_in_words, score_in_words
from agenticiqa.errors import ModelReplyError
from agenticiqa.graph.flow import check_query
from agenticiqa.images import ImageSource, LabelledImage
from agenticiqa.nodes.context import NodeContext, report
from agenticiqa.parts import Parts
from agenticiqa.question.asked import Compare, Declined
from agenticiqa.question.read import read_question
from agenticiqa.state import LEVEL_LETTERS, LEVEL_SCORES, UNABLE, Ledger, Record
from agenticiqa.vlm_client.tasks import OVERALL_QUALITY, RankInputs, RankReply
from agenticiqa.wording.findings import chosen_in_words

RANKING_PROMPT_TEMPLATE = """\
You compare images. Look at all of them and find out what the user's question compares them by, and how much of it each
image has.
Return a valid JSON object:
{
  "attribute": "<what the question compares by, in one or two words>",
  "first": "most" | "least",
  "images": [{"amount": <0 to 1>, "evidence": "<what is seen, in few words>", "visible": true | false}, ...],
  "why_not": "<why the question cannot be answered by comparing these images>" | null
}
Rules
1. images has one entry for each image, in the order in which they are given.
2. amount is how much of the attribute the image has, on one scale for all of them: 0 is none, 1 as much as an image can
   have. visible says whether anything of the attribute is to be seen in it.
3. first says whether the image that is asked for has the most or the least of the attribute.
4. When the quality as a whole is asked for, attribute is "overall" and images is empty: their scores rank them.
5. When the question cannot be answered by comparing these images, why_not says why and images is empty; never guess.
Return the JSON object and nothing else.
"""

CLEARLY_BETTER = 0.75
"""From this probability on one image is called better; down to one minus it there is no clear difference."""
SAME_SHARE = 0.01
"""Images whose shares of a flaw differ by less are level."""
# Half the width of a 95 % interval of a normal distribution, in standard deviations.
_HALF_WIDTH = 1.959964


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


class Ranking(VersionedRecord):
    """Images from the best to the worst, and every pair of them."""

    entries: list[Ranked]
    pairs: list[Pair]
    attribute: str = Field(default="overall", description="what the images are ranked by")
    answer: str | None = Field(default=None, description="the answer to the question, if one was asked")
    chosen: list[str] = Field(default_factory=list, description="the images the answer names; several are level")
    ledger: Ledger = Field(default_factory=Ledger, description="the call that compared the images by the question")

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


def ask_to_rank(query: str, images: Sequence[ImageSource], parts: Parts) -> tuple[RankReply, Ledger]:
    """What the summarizer's backend says the question compares by, and how much each image has of it.

    A backend that gives no valid reply is a reason why not, and the images can still be ranked by their scores.
    """
    store = parts.settings.image_store()
    shown = tuple(LabelledImage("image", store.open(image), number) for number, image in enumerate(images, 1))
    context = NodeContext("summarizer", parts, shown, Ledger(), read_question(query))

    def one_entry_each(reply: RankReply) -> RankReply:
        if reply.images and len(reply.images) != len(shown):
            raise ValueError(f"images: there are {len(shown)} images, not {len(reply.images)}")
        return reply

    inputs = RankInputs(query=query, images=tuple(item.label for item in shown))
    try:
        reply = context.ask(RANKING_PROMPT_TEMPLATE, inputs, check=one_entry_each).value
    except ModelReplyError as error:
        reply = RankReply(why_not=f"{UNABLE}: {report('the comparison', error)}")
    return reply, context.booked()


def rank(
    names: Sequence[str],
    assessments: Sequence[Assessment],
    compared: RankReply | None = None,
    ledger: Ledger | None = None,
) -> Ranking:
    """The images in the order the question asks for: by falling score, or by the attribute it names; ties share a rank.

    Without a comparison the best comes first; images without a score come last.
    """
    asked = compared or RankReply()
    by_attribute = bool(asked.images) and asked.attribute != OVERALL_QUALITY
    entries = _by_attribute(names, assessments, asked) if by_attribute else _by_score(names, assessments)
    pairs = [_pair(*two, by_attribute) for two in combinations(entries, 2)]
    chosen: list[str] = []
    if compared is not None and asked.why_not is None:
        wants_last = asked.first == "least" and not by_attribute
        chosen = _chosen(entries, pairs, by_attribute, wants_last)
    return Ranking(
        entries=entries,
        pairs=pairs,
        attribute=asked.attribute if by_attribute else OVERALL_QUALITY,
        answer=None if compared is None else asked.why_not or chosen_in_words(chosen),
        chosen=chosen,
        ledger=ledger or Ledger(),
    )


def _by_score(names: Sequence[str], assessments: Sequence[Assessment]) -> list[Ranked]:
    """The best first; an image with the very score of the one before it has the same rank."""
    entries = [Ranked(rank=None, name=name, assessment=found) for name, found in zip(names, assessments, strict=True)]
    entries.sort(key=lambda entry: -(entry.assessment.score or -math.inf))
    scored = [entry for entry in entries if entry.assessment.score is not None]
    return [
        *_placed(scored, lambda one, other: one.assessment.score == other.assessment.score),
        *entries[len(scored) :],
    ]


def _by_attribute(names: Sequence[str], assessments: Sequence[Assessment], asked: RankReply) -> list[Ranked]:
    """The images from the end asked for; one that is level with the one before it has the same rank."""
    sign = -1 if asked.first == "most" else 1
    ordered = sorted(zip(names, assessments, asked.images, strict=True), key=lambda item: sign * item[2].amount)
    entries = [
        Ranked(rank=None, name=name, assessment=found, share=seen.amount, evidence=seen.evidence or None)
        for name, found, seen in ordered
    ]
    # Among images in which nothing of it is seen none has the most of it.
    free = {name for name, _, seen in ordered if asked.first == "most" and not seen.visible}

    def are_level(one: Ranked, other: Ranked) -> bool:
        return abs((one.share or 0.0) - (other.share or 0.0)) < SAME_SHARE or {one.name, other.name} <= free

    return _placed(entries, are_level)


def _placed(entries: Sequence[Ranked], are_level: Callable[[Ranked, Ranked], bool]) -> list[Ranked]:
    placed: list[Ranked] = []
    for place, entry in enumerate(entries, 1):
        shared = placed[-1].rank if placed and are_level(placed[-1], entry) else place
        placed.append(entry.model_copy(update={"rank": shared}))
    return placed


def _chosen(entries: Sequence[Ranked], pairs: Sequence[Pair], by_attribute: bool, wants_last: bool) -> list[str]:
    """The image the question asks for; several where they are level, none where no image has a score."""
    ranked = [entry for entry in entries if entry.rank is not None]
    if not ranked:
        return []
    if by_attribute:
        return [entry.name for entry in ranked if entry.rank == ranked[0].rank]
    wanted = (ranked[-1] if wants_last else ranked[0]).name
    unclear = [{pair.first, pair.second} for pair in pairs if pair.verdict != "better"]
    level = {wanted, *(name for both in unclear if wanted in both for name in both)}
    return [entry.name for entry in ranked if entry.name in level]


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


def _pair(one: Ranked, other: Ranked, by_attribute: bool) -> Pair:
    """What can be said of two images, the higher ranked first."""
    if by_attribute:
        probability: float | None = 0.5 if one.rank == other.rank else 1.0
    else:
        probability = probability_better(one.assessment, other.assessment)
    verdict: Literal["better", "no clear difference", "unknown"] = "unknown"
    if probability is not None:
        # The first of a pair never scores lower, so that only its own side needs looking at.
        verdict = "better" if probability >= CLEARLY_BETTER else "no clear difference"
    return Pair(first=one.name, second=other.name, probability=probability, verdict=verdict)


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


def query_for_each(query: str | None, longest: int) -> str | None:
    """The question for each image alone: a comparison is none that one image could answer, so it is rated.

    Raises QueryError for one that is longer than this.
    """
    if query is None:
        return None
    check_query(query, {}, longest)
    return None if isinstance(read_question(query), Compare | Declined) else query
