"""Several images compared by what the embedded perception sees of the attribute a question names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agenticiqa.embedded.answers.gathering import place_called
from agenticiqa.embedded.findings import Look, Perception
from agenticiqa.images import LoadedImage
from agenticiqa.question.asked import Choose, Compare, Declined, Degree, Open, Question, Score, YesNo
from agenticiqa.values import CATEGORY_OF, MIDDLE_GREY, Attribute
from agenticiqa.vlm_client.tasks import ComparedImage, RankReply

# Questions that several images can answer together; "where" and "how can I fix it" are about one image.
_COMPARABLE = (Compare, Score, Degree, YesNo, Choose, Open)

# What is measured of an attribute, and what its flaw is called where the attribute's own name says something else.
_READING_OF: dict[Attribute, str] = {
    "blur": "blur radius", "noise": "noise sigma", "compression": "JPEG quality", "dark": "mean brightness",
    "bright": "mean brightness", "exposure": "mean brightness", "contrast": "contrast", "colour": "color cast",
    "oversharp": "sharpness",
}  # fmt: skip
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
    compared = [
        ComparedImage(
            amount=flaw_share(flaw.attribute, look),
            evidence=share_in_words(flaw.attribute, look),
            visible=not is_free_of(flaw.attribute, look),
        )
        for look in looks
    ]
    return RankReply(attribute=flaw.attribute, first="most" if asks_for_flaw else "least", images=compared)


def _looks(question: Question, images: Sequence[LoadedImage], perception: Perception) -> list[Look] | str:
    """What is seen of each image, or of the one thing asked about in each; else why that thing cannot be compared."""
    if len(question.topic.scope) != 1:
        return [perception.look(image) for image in images]
    (thing,) = question.topic.scope
    regions = [perception.locate(image, place_called(thing)) for image in images]
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


def is_free_of(attribute: Attribute, look: Look) -> bool:
    """Whether nothing is to be seen of the flaw; every picture has a brightness, so dark and bright never are."""
    if attribute not in CATEGORY_OF or attribute in ("dark", "bright"):
        return False
    finding = look.finding(CATEGORY_OF[attribute])
    return finding is None or not finding.is_present


def flaw_share(attribute: Attribute, look: Look) -> float:
    """How much of the flaw one look shows, 0 to 1, as finely as it was measured: for putting images in order."""
    if attribute not in CATEGORY_OF:
        return (5 - look.quality.score) / 4
    category = CATEGORY_OF[attribute]
    values = {reading.name: reading.value for finding in look.findings for reading in finding.readings}
    brightness = values.get("mean brightness", MIDDLE_GREY) / 255
    match attribute:
        case "dark":
            return 0.9 * (1 - brightness) + 0.1 * values.get("clipped shadows", 0.0) / 100
        case "bright":
            return 0.9 * brightness + 0.1 * values.get("clipped highlights", 0.0) / 100
    finding = look.finding(category)
    found = 0.0 if finding is None else (finding.weight + finding.probability) / 5
    measured = _measured(attribute, values, brightness)
    return found if measured is None else (found + measured) / 2


def share_in_words(attribute: Attribute, look: Look) -> str:
    """The same for people: the share of 100, the severity found and the measurement behind it."""
    finding = look.finding(CATEGORY_OF[attribute])
    name = _READING_OF[attribute]
    readings = [reading for each in look.findings for reading in each.readings if reading.name == name]
    told = [f"{reading.name} {reading.value:.3g} {reading.unit}".strip() for reading in readings[:1]]
    # A finding of the light may be of the other direction than the one asked about.
    if finding is not None and CATEGORY_OF[attribute] != "Brightness change":
        told.insert(0, finding.severity)
    share = f"{_NOUN.get(attribute, attribute)} {100 * flaw_share(attribute, look):.0f} of 100"
    return f"{share} ({', '.join(told)})" if told else share


def _measured(attribute: Attribute, values: Mapping[str, float], brightness: float) -> float | None:
    """The measurement behind an attribute, 0 (nothing wrong) to 1; None where there is none."""
    by_attribute = {
        "blur": ("blur radius", 6.0), "noise": ("noise sigma", 48.0), "colour": ("color cast", 40.0),
    }  # fmt: skip
    if attribute in by_attribute:
        name, whole = by_attribute[attribute]
        return min(1.0, values[name] / whole) if name in values else None
    if attribute == "compression" and "JPEG quality" in values:
        return 1 - min(100.0, values["JPEG quality"]) / 100
    if attribute == "contrast" and "contrast" in values:
        return 1 - min(1.0, values["contrast"] / 100)
    return min(1.0, 2 * abs(brightness - 0.45)) if attribute == "exposure" else None
