"""What a flaw is called, how strong it is said to be, and how its absence is told: never beside a finding of it."""

from __future__ import annotations

from agenticiqa.embedded.answers.amounts import Amount
from agenticiqa.embedded.answers.evidence import Evidence, kind_by_direction
from agenticiqa.question.meaning import CATEGORY_OF, DIRECTION_OF, Attribute, Question
from agenticiqa.state import SEVERITIES, Severity
from agenticiqa.values import Distortion
from agenticiqa.wording import phrase, say


def is_asked_and_there(item: Distortion, question: Question) -> bool:
    """Whether a finding is there and asked for."""
    asked = not question.categories or item.category in question.categories
    return asked and item.is_present


def none_of(question: Question, evidence: Evidence) -> str:
    """That none of what was asked for is there; only a question about everything is told that nothing is.

    What was found of the category asked about is named instead: no answer denies the evidence it stands beside.
    """
    asked = [CATEGORY_OF[question.attribute]] if question.attribute in CATEGORY_OF else []
    found = next((item for item in evidence.findings if item.category in asked and item.is_present), None)
    if found is not None:
        return named_flaw(found, question)
    return no_flaw(question)


def no_flaw(question: Question) -> str:
    """That nothing of what was asked for is to be seen."""
    if question.excepted:
        names = (phrase("categories", name, question.language).lower() for name in question.excepted)
        return say("nothing_else", question.language, categories=", ".join(names))
    if question.attribute not in CATEGORY_OF:
        return phrase("words", "clean", question.language)
    return say("none_of", question.language, categories=phrase("attributes", question.attribute, question.language))


def named_flaw(item: Distortion, question: Question) -> str:
    """A finding in two words: "severe motion blur"."""
    return _named(item.severity, kind_name(item, question), _attribute_of(item), question)


def strength_in_words(attribute: Attribute, amount: Amount, question: Question) -> str:
    """How much of what was asked for is there: "slight noise"."""
    name = phrase("attributes", attribute, question.language)
    return _named(SEVERITIES[max(1, amount.severity)], name, attribute, question)


def _named(severity: Severity, name: str, attribute: Attribute, question: Question) -> str:
    """A flaw with its severity, the adjective inflected as the name wants it."""
    ending = phrase("endings", attribute, "de") if question.language == "de" else ""
    word = phrase("severities", severity, question.language) + ending
    return say("named", question.language, severity=word, kind=name)


def kind_name(item: Distortion, question: Question) -> str:
    """The finer kind where it is known, else the category."""
    if question.language not in ("en", "zh"):
        return phrase("attributes", _attribute_of(item), question.language)
    if item.colour:
        return phrase("casts", item.colour, question.language)
    if item.kind:
        return phrase("kinds", item.kind, question.language)
    return phrase("categories", item.category, question.language).lower()


def _attribute_of(finding: Distortion) -> Attribute:
    by_direction = {direction: attribute for attribute, direction in DIRECTION_OF.items()}
    by_category = {category: attribute for attribute, category in reversed(CATEGORY_OF.items())}
    return by_direction.get(kind_by_direction(finding) or "", by_category[finding.category])
