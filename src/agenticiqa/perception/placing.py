"""What a "where" question asks for, how much of it is in a place, and what sets the place apart that has it."""

from __future__ import annotations

from agenticiqa.perception.evidence import Evidence
from agenticiqa.perception.eyes import Look
from agenticiqa.perception.language import Question
from agenticiqa.perception.lexicon import Mention
from agenticiqa.perception.phrases import phrase, say


def asks_for_the_opposite(question: Question) -> bool:
    """Whether the least is wanted: "which distortion is not there?", "which part is in focus?"."""
    claim = question.claim
    if question.shape == "where":
        return claim.least != (bool(claim.mentions) and all(mention.absent for mention in claim.mentions))
    return question.shape == "which" and (claim.least or claim.negated)


def share_in(look: Look, question: Question) -> float:
    """How much of what the question names is in a place, 0 to 1; of low quality where it names nothing."""
    tone = asked_tone(question)
    brightness = look.reading(tone.category, "mean brightness") if tone else None
    if tone and brightness is not None:
        return brightness.value / 255 if tone.kind == "brighten" else 1 - brightness.value / 255
    found = [look.finding(category) for category in question.categories]
    weights = [finding.weight + finding.probability for finding in found if finding is not None]
    return max(weights) / 5 if weights else (5 - look.quality.score) / 4


def asked_tone(question: Question) -> Mention | None:
    """The "darker" or "brighter" of a question about places: some part always is, whether that is a flaw or not."""
    mention = next(iter(question.claim.mentions), None)
    return mention if mention and mention.kind in ("darken", "brighten") else None


def describe_place(question: Question, evidence: Evidence) -> str | None:
    """How the place differs from those it was compared with; None when nothing asked for is there or none was asked."""
    if question.shape != "where" or evidence.asked_place is None:
        return None
    place, look = phrase("places", evidence.asked_place, question.language), evidence.places[evidence.asked_place]
    if asked_tone(question):
        return _by_brightness(question, place, look)
    return _by_distortion(question, place, look) if question.categories else _by_quality(question, place, look)


def _by_brightness(question: Question, place: str, look: Look) -> str | None:
    tone, brightness = asked_tone(question), look.reading("Brightness change", "mean brightness")
    if tone is None or brightness is None:
        return None
    is_brightest = (tone.kind == "brighten") != asks_for_the_opposite(question)
    sentence = "brightest_place" if is_brightest else "darkest_place"
    return say(sentence, question.language, place=place, value=f"{brightness.value:.3g}")


def _by_distortion(question: Question, place: str, look: Look) -> str | None:
    least, language = asks_for_the_opposite(question), question.language
    found = [finding for finding in map(look.finding, question.categories) if finding is not None]
    strongest = max(found, key=lambda finding: finding.weight, default=None)
    # Options have to be told apart even where hardly anything is there.
    if strongest is None or (strongest.severity == "none" and not least and not question.choices):
        return None
    return say(
        "weakest_place" if least else "strongest_place",
        language,
        place=place,
        category=phrase("categories", strongest.category, language).lower(),
        severity=phrase("severities", strongest.severity, language),
    )


def _by_quality(question: Question, place: str, look: Look) -> str:
    sentence = "best_place" if asks_for_the_opposite(question) else "worst_place"
    return say(sentence, question.language, place=place, score=f"{look.quality.score:.1f}")
