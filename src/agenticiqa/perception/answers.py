"""The answer to a question: the option the evidence fits best, or a few words of our own."""

from __future__ import annotations

from dataclasses import dataclass, replace

from agenticiqa.perception.beside import strength_of
from agenticiqa.perception.comparing import better_if_different, same_quality
from agenticiqa.perception.evidence import Evidence, PlacedFinding
from agenticiqa.perception.language import DECLINED, Question
from agenticiqa.perception.lexicon import lexicon
from agenticiqa.perception.likelihood import of_option, of_question
from agenticiqa.perception.phrases import phrase, say
from agenticiqa.perception.placing import asked_tone, asks_for_the_opposite, is_soft
from agenticiqa.state import UNABLE

# Two options closer than this are not told apart by the evidence.
TIE = 1e-6
# From here on a distortion is taken to be there.
PRESENT = 0.5
# Readings whose names ask for a number; "contrast" and "saturation" are asked about in words.
MEASUREMENTS = ("JPEG quality", "blur radius", "noise sigma", "mean brightness")


@dataclass(frozen=True)
class Answer:
    """The answer's text, how sure it is, and why there is none if there is none (the name of a sentence)."""

    text: str
    certainty: float | None = None
    why_not: str | None = None


def answer(question: Question, evidence: Evidence) -> Answer:
    """The letter of an option, or words when there are no options; "Unable to determine" with the reason."""
    if question.shape in DECLINED:
        return Answer(UNABLE, why_not=question.shape)
    if question.shape == "compare" and not evidence.has_reference:
        return Answer(UNABLE, why_not="no_reference")
    if question.choices:
        return choose(question, evidence)
    if question.asks_whether and question.shape in ("yes_no", "compare"):
        return _yes_or_no(question, evidence)
    text = _in_words(question, evidence)
    return Answer(text) if text else Answer(UNABLE, why_not="no_evidence")


def choose(question: Question, evidence: Evidence) -> Answer:
    """The option that fits best; none when no option fits at all or the evidence does not separate the best two."""
    fits = {label: of_option(claim, question, evidence) for label, claim in question.options.items()}
    known = {label: fit for label, fit in fits.items() if fit is not None}
    if not known:
        return Answer(UNABLE, why_not="no_match")
    ranked = sorted(known, key=lambda label: -known[label])
    best = ranked[0]
    if len(ranked) > 1 and known[best] - known[ranked[1]] < TIE:
        return Answer(UNABLE, why_not="tie")
    # A lone understood option wins only on its own merit, never because the others were not understood.
    if len(known) < len(fits) and known[best] < PRESENT:
        return Answer(UNABLE, why_not="no_match")
    total = sum(known.values())
    return Answer(best, known[best] / total if total else None)


def _yes_or_no(question: Question, evidence: Evidence) -> Answer:
    yes = of_question(question, evidence)
    if yes is None:
        missing = question.versus and question.versus.places and evidence.unlocated
        return Answer(UNABLE, why_not="not_located" if missing else "no_evidence")
    return Answer(phrase("words", "yes" if yes >= PRESENT else "no", question.language), max(yes, 1 - yes))


def _in_words(question: Question, evidence: Evidence) -> str | None:
    if question.shape == "where":
        return _where(question, evidence)
    if question.shape == "compare" and question.asks_what_changed and _is_damaged(question, evidence):
        return _headline(question, evidence)
    if question.shape == "compare" and question.asks_which_image:
        return _one_of_the_pair(question, evidence)
    if question.shape == "compare" and not question.claim.mentions:
        return _against_reference(question, evidence)
    if question.shape == "score":
        judgement = evidence.judgement
        return phrase("levels", judgement.letter, question.language) if judgement else None
    item = evidence.strongest(question.categories)
    if item is None:
        return None
    if measured := _measured(question, item):
        return measured
    if question.shape == "severity":
        return _severity(question, item)
    return _headline(question, evidence)


def _severity(question: Question, item: PlacedFinding) -> str:
    """The severity in a word, and as a number where the question gives a scale."""
    word, scale = phrase("severities", item.finding.severity, question.language), question.claim.scale
    if scale is None:
        return word
    low, high = scale
    number = f"{low + item.finding.position / 4 * (high - low):.1f}"
    return say("severity_on_scale", question.language, word=word, number=number, low=f"{low:g}", high=f"{high:g}")


def _measured(question: Question, item: PlacedFinding) -> str | None:
    """The number itself, where the question names the measurement: "What is the JPEG quality?" """
    asked = [name for name in MEASUREMENTS if name.lower() in question.text.lower()]
    reading = next((reading for reading in item.finding.readings if reading.name in asked), None)
    return f"{reading.value:.3g} {reading.unit}".rstrip() if reading else None


def _where(question: Question, evidence: Evidence) -> str | None:
    """The place; where what is asked for is nowhere to be seen, that it is not there."""
    if evidence.asked_place is None:
        return None
    named = (question.categories or question.claim.any_distortion) and not asked_tone(question)
    if named and not asks_for_the_opposite(question) and not _is_anything(question, evidence):
        return _none_of(question)
    return phrase("places", evidence.asked_place, question.language)


def _is_damaged(question: Question, evidence: Evidence) -> bool:
    """Whether what changed is damage of the test image, rather than of its reference."""
    return _is_anything(question, evidence) and better_if_different(evidence) < PRESENT


def _is_anything(question: Question, evidence: Evidence) -> bool:
    """Whether anything the question asks for is in the image or in one of the places compared."""
    placed = [PlacedFinding(finding, name) for name, look in evidence.places.items() for finding in look.findings]
    return is_soft(question, evidence) or any(is_present(item, question) for item in (*evidence.findings, *placed))


def _one_of_the_pair(question: Question, evidence: Evidence) -> str | None:
    """ "Which image is sharper?"; what "which image is greener?" compares is not known."""
    if not (question.claim.mentions or question.claim.relation or question.claim.level):
        return None
    test, reference = (
        of_question(replace(question, claim=replace(question.claim, subject=side)), evidence)
        for side in ("test", "reference")
    )
    if test is None or reference is None:
        return None
    if max(test, reference) < PRESENT:
        return phrase("words", "neither", question.language)
    return phrase("words", "the_test" if test >= reference else "the_reference", question.language)


def _against_reference(question: Question, evidence: Evidence) -> str | None:
    same = same_quality(evidence)
    if same is None:
        return None
    if same >= PRESENT:
        return phrase("words", "same", question.language)
    return phrase("words", "better" if better_if_different(evidence) >= PRESENT else "worse", question.language)


def _headline(question: Question, evidence: Evidence) -> str:
    present = [item for item in evidence.findings if is_present(item, question)]
    if not present:
        return _praise(question) or _none_of(question)
    if question.shape == "which" and asks_for_the_opposite(question) and len(question.claim.mentions) > 1:
        return _weakest_named(question, evidence)
    if question.shape == "which":
        return kind_name(present[0], question)
    named = (
        say("named", question.language, severity=phrase("severities", item.finding.severity, question.language),
            kind=kind_name(item, question))
        for item in present[:3]
    )  # fmt: skip
    return phrase("words", "and_more", question.language).join(named)


def _weakest_named(question: Question, evidence: Evidence) -> str:
    """Of the distortions named, the one there is least of, in the question's own word."""
    named = lexicon().matches(question.text.lower(), "distortions")
    weakest = min(named, key=lambda match: strength_of(match.meaning, evidence) or 0.0)
    return question.text[weakest.start : weakest.end].lower()


def _praise(question: Question) -> str | None:
    """The "sharp" of "is it sharp or blurry?", in the question's own word."""
    if question.choices or not question.claim.mentions or len(question.categories) > 1:
        return None
    named = lexicon().matches(question.text.lower(), "distortions")
    praise = next((match for match in named if match.meaning.absent), None)
    return question.text[praise.start : praise.end].lower() if praise else None


def _none_of(question: Question) -> str:
    """That none of what was asked for is there; only a question about everything is told that nothing is."""
    if not question.categories:
        return phrase("words", "clean", question.language)
    names = [phrase("categories", category, question.language).lower() for category in question.categories]
    return say("none_of", question.language, categories=phrase("words", "or", question.language).join(names))


def is_present(item: PlacedFinding, question: Question) -> bool:
    """Whether a finding is there and asked for."""
    asked = not question.categories or item.finding.category in question.categories
    return asked and item.finding.probability >= PRESENT and item.finding.severity != "none"


def kind_name(item: PlacedFinding, question: Question) -> str:
    """The finer kind where it is known, else the category."""
    finding = item.finding
    if finding.kind:
        return phrase("kinds", finding.kind, question.language)
    return phrase("categories", finding.category, question.language).lower()
