"""What a question about places asks for, how much of it is in each, and what sets the place apart that has it."""

from __future__ import annotations

from typing import Literal

from agenticiqa.embedded.answers.evidence import Evidence
from agenticiqa.embedded.findings import Look
from agenticiqa.limits import PRESENT, SOFT_RADIUS
from agenticiqa.question.asked import Compare, Question, Where, YesNo, categories_of
from agenticiqa.values import CATEGORY_OF, MIDDLE_GREY, Attribute, Reading
from agenticiqa.wording import phrase, say
from agenticiqa.wording.findings import amount_in_words, capitalised, joined, labelled, place_name, reading_in_words

# What is measured of an attribute.
READING_OF: dict[Attribute, str] = {
    "blur": "blur radius", "noise": "noise sigma", "compression": "JPEG quality", "dark": "mean brightness",
    "bright": "mean brightness", "exposure": "mean brightness", "contrast": "contrast", "colour": "color cast",
    "oversharp": "sharpness",
}  # fmt: skip
# How much of it counts as all there can be; of those that fall with the flaw, what counts as none of it.
_WHOLE: dict[Attribute, float] = {"blur": 6.0, "noise": 48.0, "colour": 40.0}
_FULL: dict[Attribute, float] = {"compression": 100.0, "contrast": 100.0}
# The share of white that the mean of a well exposed picture has.
WELL_EXPOSED = 0.45
# Two shares that lie closer than this are about equal.
EQUAL = 0.03


def find_place(question: Where, evidence: Evidence) -> str | None:
    """The place asked for; empty where the flaw asked for is nowhere to be seen, None where no place was looked at."""
    if evidence.asked_place is None:
        return None
    category = question.topic.flaw.category
    if category is None or asked_tone(question) or question.least:
        return evidence.asked_place
    found = [look.finding(category) for look in evidence.places.values()]
    found += [item for item in evidence.findings if item.category == category]
    seen = any(finding.is_present for finding in found if finding)
    return evidence.asked_place if seen or is_soft(question, evidence) else ""


def rests_on_parts(question: Question, evidence: Evidence) -> bool:
    """Whether the answer rests on the sharpness of the parts: all are asked about, or which of them is soft."""
    if evidence.parts is None or (isinstance(question, YesNo) and question.part):
        return evidence.parts is not None
    return isinstance(question, Where) and not question.least and evidence.parts.some_soft >= PRESENT


def share_in(look: Look, question: Question) -> float:
    """How much of what the question names is in a place, 0 to 1; of low quality where it names nothing."""
    if (tone := asked_tone(question)) is not None:
        brightness = _value("mean brightness", look, MIDDLE_GREY) / 255
        return brightness if tone == "bright" else 1 - brightness
    poor = flaw_share("overall", look)
    attribute_of = {category: attribute for attribute, category in CATEGORY_OF.items()}
    shares = [flaw_share(attribute_of[category], look) for category in categories_of(question)]
    # Of places with as much of it, the better one is taken to have less.
    return 0.9 * max(shares) + 0.1 * poor if shares else poor


def flaw_share(attribute: Attribute, look: Look) -> float:
    """How much of a flaw one look shows, 0 to 1, as finely as it was measured: for putting looks in order.

    A soft corner is softer than a sharp one, be that a flaw or the depth of field.
    """
    if attribute not in CATEGORY_OF:
        return (5 - look.quality.score) / 4
    if attribute in ("dark", "bright"):
        brightness = _value("mean brightness", look, MIDDLE_GREY) / 255
        clipped = _value("clipped shadows" if attribute == "dark" else "clipped highlights", look, 0.0) / 100
        return 0.9 * (brightness if attribute == "bright" else 1 - brightness) + 0.1 * clipped
    finding, measured = look.finding(CATEGORY_OF[attribute]), _measured(attribute, look)
    found = 0.0 if finding is None else (finding.weight + finding.probability) / 5
    return found if measured is None else (found + measured) / 2


def _value(name: str, look: Look, otherwise: float) -> float:
    reading = look.reading(name)
    return otherwise if reading is None else reading.value


def _measured(attribute: Attribute, look: Look) -> float | None:
    """The measurement behind an attribute, 0 (nothing wrong) to 1; None where there is none."""
    if attribute == "exposure":
        return min(1.0, 2 * abs(_value("mean brightness", look, MIDDLE_GREY) / 255 - WELL_EXPOSED))
    reading = look.reading(READING_OF[attribute])
    if reading is None or attribute not in _WHOLE | _FULL:
        return None
    if attribute in _FULL:
        return 1 - min(1.0, reading.value / _FULL[attribute])
    return min(1.0, reading.value / _WHOLE[attribute])


def measured_in(look: Look, question: Question) -> Reading | None:
    """The measurement that a comparison of places rests on."""
    attribute = question.topic.flaw.attribute
    if attribute not in READING_OF:
        return Reading("quality", round(look.quality.score, 1), "of 5")
    return look.reading(READING_OF[attribute])


def is_soft(question: Question, evidence: Evidence) -> bool:
    """Whether the place asked for is measurably blurred, although the image as a whole is not found to be."""
    if evidence.asked_place is None or "Blurs" not in categories_of(question):
        return False
    radius = evidence.places[evidence.asked_place].reading("blur radius")
    return radius is not None and radius.value >= SOFT_RADIUS


def asked_tone(question: Question) -> Literal["dark", "bright"] | None:
    """The "dark" or "bright" of a question about places: some part always is, whether that is a flaw or not."""
    attribute = question.topic.flaw.attribute
    return attribute if attribute == "dark" or attribute == "bright" else None


def side_by_side(question: Compare, evidence: Evidence) -> str:
    """The two measurements of a comparison of places: "Dog: blur radius 2 px; Background: blur radius 5 px"."""
    names, language = question.places or ("", ""), question.reply.language
    readings = [(name, measured_in(evidence.places[name], question)) for name in names]
    told = [
        labelled(capitalised(place_name(name, language)), reading_in_words(reading, language), language)
        for name, reading in readings
        if reading
    ]
    return joined(told, language) if len(told) == len(names) else ""


def place_in_words(question: Question, evidence: Evidence) -> str | None:
    """How the place differs from those it was compared with; None when nothing asked for is there or none was asked."""
    if not isinstance(question, Where) or evidence.asked_place is None:
        return None
    language, what = question.reply.language, _what_is_there(question, evidence.places[evidence.asked_place], evidence)
    if what is None:
        return None
    # Of the darkest place it is said that it has the least brightness, of the worst that it has the least quality.
    counts_down = asked_tone(question) == "dark" or not categories_of(question)
    sentence = "most_there" if question.least == counts_down else "least_there"
    return say(sentence, language, place=place_name(evidence.asked_place, language), what=what)


def _what_is_there(question: Where, look: Look, evidence: Evidence) -> str | None:
    language, categories = question.reply.language, categories_of(question)
    found = [finding for finding in map(look.finding, categories) if finding is not None]
    strongest = max(found, key=lambda finding: finding.weight, default=None)
    is_there = strongest is not None and (strongest.is_present or question.least)
    if asked_tone(question) or not categories or (not is_there and is_soft(question, evidence)):
        reading = measured_in(look, question)
        word = phrase("readings", reading.name, language) if reading else None
        remark = amount_in_words(reading, language) if reading else ""
    else:
        word = phrase("attributes", strongest.attribute, language) if strongest and is_there else None
        remark = phrase("severities", strongest.severity, language) if strongest else ""
    return say("with_remark", language, word=word, remark=remark) if word else None
