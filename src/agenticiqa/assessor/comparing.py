"""What a comparison is asked: by which attribute images are ranked, from which end, and how much each has of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from agenticiqa.config import Settings
from agenticiqa.embedded.answers.amounts import flaw_share
from agenticiqa.embedded.combined_models import shipped_eyes
from agenticiqa.images import ImageSource, load_image
from agenticiqa.question.meaning import CATEGORY_OF, Attribute, Intent, Question
from agenticiqa.question.understanding import understand

# Questions that several images can answer together; "where" and "how can I fix it" are about one image.
_COMPARABLE: tuple[Intent, ...] = ("compare", "score", "degree", "yesno", "choose", "open")


@dataclass(frozen=True)
class Comparison:
    """How images are to be ranked: by overall quality, or by an attribute measured for each of them."""

    attribute: Attribute = "overall"
    first: Literal["flaw", "fine"] = "fine"
    """Which end comes first: the most of the flaw ("noisiest") or the least ("cleanest")."""
    shares: tuple[float, ...] | None = None
    """How much of the flaw each image has, 0 to 1; None when they are ranked by their scores."""
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
    eyes = shipped_eyes(settings.pipeline.terms)
    shares = tuple(flaw_share(question.attribute, eyes.look(load_image(image))) for image in images)
    return Comparison(question.attribute, first, shares)


def query_for_each(query: str | None) -> str | None:
    """The question for each image alone: a comparison is none that one image could answer, so it is rated."""
    return None if query is None or understand(query).intent in ("compare", "unclear", "decline") else query


def _why_not(question: Question) -> str:
    if question.intent == "decline":
        return "the question is not about image quality, so it cannot be answered by comparison"
    if question.intent == "unclear":
        return "the question was not understood; ask for example which image is the sharpest, noisiest or best"
    return "the question is about one image and cannot be answered by comparison; the images are ranked by quality"
