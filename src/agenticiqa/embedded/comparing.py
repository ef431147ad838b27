"""Several images compared by what the embedded eyes see of the attribute a question names."""

from __future__ import annotations

from collections.abc import Sequence

from agenticiqa.embedded.answers.amounts import flaw_share, is_free_of, share_in_words
from agenticiqa.embedded.answers.gathering import place_called
from agenticiqa.embedded.findings import Eyes, Look
from agenticiqa.images import LoadedImage
from agenticiqa.question.asked import Choose, Compare, Declined, Degree, Open, Question, Score, YesNo
from agenticiqa.vlm_client.tasks import ComparedImage, RankReply

# Questions that several images can answer together; "where" and "how can I fix it" are about one image.
_COMPARABLE = (Compare, Score, Degree, YesNo, Choose, Open)


def compare_images(question: Question, images: Sequence[LoadedImage], eyes: Eyes) -> RankReply:
    """What the question compares, with the attribute measured in every image where it asks for one."""
    if not isinstance(question, _COMPARABLE):
        return RankReply(why_not=_why_not(question))
    flaw, asks_for_flaw = question.topic.flaw, not isinstance(question, Open) and question.polarity == "flaw"
    if flaw.category is None or question.topic.tool:
        return RankReply(first="least" if asks_for_flaw else "most")
    looks = _looks(question, images, eyes)
    if isinstance(looks, str):
        return RankReply(why_not=looks)
    # The attributes measured are flaws: the sharpest image has the least blur.
    compared = [
        ComparedImage(
            amount=flaw_share(flaw.attribute, look),
            evidence=share_in_words(flaw.attribute, look),
            visible=not is_free_of(flaw.attribute, look),
        )
        for look in looks
    ]
    return RankReply(attribute=flaw.attribute, first="most" if asks_for_flaw else "least", images=compared)


def _looks(question: Question, images: Sequence[LoadedImage], eyes: Eyes) -> list[Look] | str:
    """What is seen of each image, or of the one thing asked about in each; else why that thing cannot be compared."""
    if len(question.topic.scope) != 1:
        return [eyes.look(image) for image in images]
    (thing,) = question.topic.scope
    regions = [eyes.locate(image, place_called(thing)) for image in images]
    missing = [str(number) for number, region in enumerate(regions, start=1) if region is None]
    if missing:
        return f"the {thing} could not be located in image {', '.join(missing)}; the images are ranked by quality"
    return [eyes.look(image, region=region) for image, region in zip(images, regions, strict=True)]


def _why_not(question: Question) -> str:
    if isinstance(question, Declined) and question.why != "unclear":
        return "the question is not about image quality, so it cannot be answered by comparison"
    if isinstance(question, Declined):
        return "the question was not understood; ask for example which image is the sharpest, noisiest or best"
    return "the question is about one image and cannot be answered by comparison; the images are ranked by quality"
