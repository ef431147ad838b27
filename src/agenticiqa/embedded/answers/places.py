"""What a question about places asks for, how much of it is in each, and what sets the place apart that has it."""

from __future__ import annotations

from agenticiqa.embedded.answers.evidence import Evidence
from agenticiqa.embedded.findings import Look
from agenticiqa.limits import PRESENT, SOFT_RADIUS
from agenticiqa.question.asked import Compare, Question, Where, YesNo, categories_of
from agenticiqa.values import Reading
from agenticiqa.wording import phrase, say
from agenticiqa.wording.findings import amount_in_words, capitalised, place_name, reading_in_words

# The measurement behind a category, and how much of it makes one step of severity.
MEASURED_BY = {"Blurs": ("blur radius", 1.5), "Noise": ("noise sigma", 12.0), "Compression": ("JPEG quality", 22.5)}
# What is measured of the others, without such steps.
_ALSO_MEASURED = {
    "Brightness change": "mean brightness", "Contrast": "contrast", "Color distortions": "saturation",
}  # fmt: skip
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
    tone = asked_tone(question)
    brightness = look.reading("Brightness change", "mean brightness") if tone else None
    if brightness is not None:
        return brightness.value / 255 if tone == "bright" else 1 - brightness.value / 255
    amounts = [amount for category in categories_of(question) if (amount := _share_of(category, look)) is not None]
    poor = (5 - look.quality.score) / 4
    # Of places with as much of it, the better one is taken to have less.
    return 0.9 * max(amounts) + 0.1 * poor if amounts else poor


def _share_of(category: str, look: Look) -> float | None:
    """How much of a distortion is in a place, 0 to 1: what was found, and what was measured in support of it."""
    finding = look.finding(category)
    return None if finding is None else (finding.weight + finding.probability + _measured(category, look)) / 9


def _measured(category: str, look: Look) -> float:
    """The measurement on the scale of the severities: a soft corner is softer, be it a flaw or the depth of field."""
    name, per_step = MEASURED_BY.get(category, ("", 1.0))
    reading = look.reading(category, name)
    if reading is None:
        return 0.0
    value = 100 - reading.value if name == "JPEG quality" else reading.value
    return min(4.0, max(0.0, value / per_step))


def measured_in(look: Look, question: Question) -> Reading | None:
    """The measurement that a comparison of places rests on."""
    category = question.topic.flaw.category
    if category is None:
        return Reading("quality", round(look.quality.score, 1), "of 5")
    return look.reading(category, _ALSO_MEASURED.get(category) or MEASURED_BY.get(category, ("", 1.0))[0])


def is_soft(question: Question, evidence: Evidence) -> bool:
    """Whether the place asked for is measurably blurred, although the image as a whole is not found to be."""
    if evidence.asked_place is None or "Blurs" not in categories_of(question):
        return False
    radius = evidence.places[evidence.asked_place].reading("Blurs", "blur radius")
    return radius is not None and radius.value >= SOFT_RADIUS


def asked_tone(question: Question) -> str | None:
    """The "dark" or "bright" of a question about places: some part always is, whether that is a flaw or not."""
    attribute = question.topic.flaw.attribute
    return attribute if attribute in ("dark", "bright") else None


def side_by_side(question: Compare, evidence: Evidence) -> str:
    """The two measurements of a comparison of places: "Dog: blur radius 2 px; Background: blur radius 5 px"."""
    names, language = question.places or ("", ""), question.reply.language
    readings = [(name, measured_in(evidence.places[name], question)) for name in names]
    colon = phrase("marks", "colon", language)
    told = [
        f"{capitalised(place_name(name, language))}{colon}{reading_in_words(reading, language)}"
        for name, reading in readings
        if reading
    ]
    return phrase("marks", "joined", language).join(told) if len(told) == len(names) else ""


def place_told(question: Question, evidence: Evidence) -> str | None:
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
