"""What a "where" question asks for, how much of it is in a place, and what sets the place apart that has it."""

from __future__ import annotations

from agenticiqa.embedded.answers.evidence import Evidence
from agenticiqa.embedded.findings import Look
from agenticiqa.question.asked import Question, Where, YesNo, categories_of
from agenticiqa.values import Reading
from agenticiqa.wording import phrase, say

# The measurement behind a category, and how much of it makes one step of severity.
MEASURED_BY = {"Blurs": ("blur radius", 1.5), "Noise": ("noise sigma", 12.0), "Compression": ("JPEG quality", 22.5)}

# Two shares that lie closer than this are about equal.
EQUAL = 0.03
# From this blur radius on, in pixels, a place is seen to be soft; what is in focus stays below half a pixel.
SOFT = 1.5


def find_place(question: Where, evidence: Evidence) -> str | None:
    """The place asked for; empty where the flaw asked for is nowhere to be seen, None where no place was looked at."""
    if evidence.asked_place is None:
        return None
    category = question.topic.flaw.category
    if category is None or asked_tone(question) or question.least:
        return evidence.asked_place
    looks = [*evidence.places.values()]
    found = [finding for look in looks if (finding := look.finding(category))]
    found += [item for item in evidence.findings if item.category == category]
    seen = any(finding.is_present for finding in found)
    return evidence.asked_place if seen or is_soft(question, evidence) else ""


def rests_on_parts(question: Question, evidence: Evidence) -> bool:
    """Whether the answer rests on the sharpness of the parts: all are asked about, or which of them is soft."""
    if evidence.parts is None or (isinstance(question, YesNo) and question.part):
        return evidence.parts is not None
    return isinstance(question, Where) and not question.least and evidence.parts.some_soft >= 0.5


def share_in(look: Look, question: Question) -> float:
    """How much of what the question names is in a place, 0 to 1; of low quality where it names nothing."""
    tone = asked_tone(question)
    brightness = look.reading("Brightness change", "mean brightness") if tone else None
    if tone and brightness is not None:
        return brightness.value / 255 if tone == "bright" else 1 - brightness.value / 255
    amounts = [amount for category in categories_of(question) if (amount := share_of(category, look)) is not None]
    poor = (5 - look.quality.score) / 4
    # Of places with as much of it, the better one is taken to have less.
    return 0.9 * max(amounts) + 0.1 * poor if amounts else poor


def share_of(category: str, look: Look) -> float | None:
    """How much of a distortion is in a place, 0 to 1: what was found, and what was measured in support of it."""
    finding = look.finding(category)
    if finding is None:
        return None
    return (finding.weight + finding.probability + _measured(category, look)) / 9


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
    name = {"Brightness change": "mean brightness", "Contrast": "contrast", "Color distortions": "saturation"}.get(
        category, MEASURED_BY.get(category, ("", 1.0))[0]
    )
    return look.reading(category, name)


def is_soft(question: Question, evidence: Evidence) -> bool:
    """Whether the place asked for is measurably blurred, although the image as a whole is not found to be."""
    if evidence.asked_place is None or "Blurs" not in categories_of(question):
        return False
    radius = evidence.places[evidence.asked_place].reading("Blurs", "blur radius")
    return radius is not None and radius.value >= SOFT


def asked_tone(question: Question) -> str | None:
    """The "dark" or "bright" of a question about places: some part always is, whether that is a flaw or not."""
    attribute = question.topic.flaw.attribute
    return attribute if attribute in ("dark", "bright") else None


def describe_place(question: Question, evidence: Evidence) -> str | None:
    """How the place differs from those it was compared with; None when nothing asked for is there or none was asked."""
    if not isinstance(question, Where) or evidence.asked_place is None:
        return None
    place, look = phrase("places", evidence.asked_place, question.reply.language), evidence.places[evidence.asked_place]
    if asked_tone(question):
        return _by_brightness(question, place, look)
    return (
        _by_distortion(question, place, look, evidence)
        if categories_of(question)
        else _by_quality(question, place, look)
    )


def _by_brightness(question: Where, place: str, look: Look) -> str | None:
    tone, brightness = asked_tone(question), look.reading("Brightness change", "mean brightness")
    if tone is None or brightness is None:
        return None
    is_brightest = (tone == "bright") != question.least
    sentence = "brightest_place" if is_brightest else "darkest_place"
    return say(sentence, question.reply.language, place=place, value=f"{brightness.value:.3g}")


def _by_softness(question: Where, place: str, look: Look, evidence: Evidence) -> str:
    radii = [reading.value for each in evidence.places.values() if (reading := each.reading("Blurs", "blur radius"))]
    radius = look.reading("Blurs", "blur radius")
    return say(
        "softest_place",
        question.reply.language,
        place=place,
        value=f"{radius.value if radius else max(radii):.3g}",
        least=f"{min(radii):.3g}",
    )


def _by_distortion(question: Where, place: str, look: Look, evidence: Evidence) -> str | None:
    least, language = question.least, question.reply.language
    found = [finding for finding in map(look.finding, categories_of(question)) if finding is not None]
    strongest = max(found, key=lambda finding: finding.weight, default=None)
    if not least and is_soft(question, evidence) and (strongest is None or not strongest.is_present):
        return _by_softness(question, place, look, evidence)
    if strongest is None or (not strongest.is_present and not least):
        return None
    return say(
        "weakest_place" if least else "strongest_place",
        language,
        place=place,
        category=phrase("categories", strongest.category, language).lower(),
        severity=phrase("severities", strongest.severity, language),
    )


def _by_quality(question: Where, place: str, look: Look) -> str:
    sentence = "best_place" if question.least else "worst_place"
    return say(sentence, question.reply.language, place=place, score=f"{look.quality.score:.1f}")
