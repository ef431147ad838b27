"""Several images compared by what the embedded perception sees of the attribute a question names."""

from __future__ import annotations

from collections.abc import Sequence

from agenticiqa.embedded.answers.places import READING_OF, flaw_share
from agenticiqa.embedded.findings import Look, Perception
from agenticiqa.images import LoadedImage
from agenticiqa.question.asked import Choose, Compare, Declined, Degree, Open, Question, Score, YesNo
from agenticiqa.values import CATEGORY_OF, Attribute
from agenticiqa.vlm_client.tasks import ComparedImage, RankReply

# Questions that several images can answer together; "where" and "how can I fix it" are about one image.
_COMPARABLE = (Compare, Score, Degree, YesNo, Choose, Open)

# What a flaw is called where the name of the attribute says something else.
_NOUN: dict[Attribute, str] = {
    "dark": "darkness", "bright": "brightness", "exposure": "exposure error", "contrast": "lack of contrast",
    "colour": "colour error", "oversharp": "oversharpening",
}  # fmt: skip


def compare_images(question: Question, images: Sequence[LoadedImage], perception: Perception) -> RankReply:
    """What the question compares, with the attribute measured in every image where it asks for one."""
    if not isinstance(question, _COMPARABLE):
        return RankReply(why_not=_why_not(question))
    flaw, asks_for_flaw = question.topic.flaw, not isinstance(question, Open) and question.polarity == "flaw"
    if flaw.category is None or question.topic.tool:
        return RankReply(first="least" if asks_for_flaw else "most")
    looks = _looks(question, images, perception)
    if isinstance(looks, str):
        return RankReply(why_not=looks)
    # The attributes measured are flaws: the sharpest image has the least blur.
    compared = [_compared(flaw.attribute, look) for look in looks]
    return RankReply(attribute=flaw.attribute, first="most" if asks_for_flaw else "least", images=compared)


def _looks(question: Question, images: Sequence[LoadedImage], perception: Perception) -> list[Look] | str:
    """What is seen of each image, or of the one thing asked about in each; else why that thing cannot be compared."""
    if len(question.topic.scope) != 1:
        return [perception.look(image) for image in images]
    (thing,) = question.topic.scope
    regions = [perception.locate(image, thing) for image in images]
    missing = [str(number) for number, region in enumerate(regions, start=1) if region is None]
    if missing:
        return f"the {thing} could not be located in image {', '.join(missing)}; the images are ranked by quality"
    return [perception.look(image, region=region) for image, region in zip(images, regions, strict=True)]


def _why_not(question: Question) -> str:
    if isinstance(question, Declined) and question.why != "unclear":
        return "the question is not about image quality, so it cannot be answered by comparison"
    if isinstance(question, Declined):
        return "the question was not understood; ask for example which image is the sharpest, noisiest or best"
    return "the question is about one image and cannot be answered by comparison; the images are ranked by quality"


def _compared(attribute: Attribute, look: Look) -> ComparedImage:
    """The share of a flaw, and for people that of 100 with the severity found and the measurement behind it."""
    finding, reading = look.finding(CATEGORY_OF[attribute]), look.reading(READING_OF[attribute])
    told = [f"{reading.name} {reading.value:.3g} {reading.unit}".strip()] if reading else []
    # A finding of the light may be of the other direction than the one asked about.
    if finding is not None and CATEGORY_OF[attribute] != "Brightness change":
        told.insert(0, finding.severity)
    amount = flaw_share(attribute, look)
    share = f"{_NOUN.get(attribute, attribute)} {100 * amount:.0f} of 100"
    # Every picture has a brightness, so dark and bright are always to be seen.
    is_visible = attribute in ("dark", "bright") or (finding is not None and finding.is_present)
    return ComparedImage(amount=amount, evidence=f"{share} ({', '.join(told)})" if told else share, visible=is_visible)
