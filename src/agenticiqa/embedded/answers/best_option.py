"""The option the evidence fits best."""

from __future__ import annotations

import math
from collections.abc import Mapping

from agenticiqa.embedded.answers.amounts import (
    Amount,
    Relation,
    amount_of,
    cast_of,
    is_called,
    is_too_much,
    relations,
)
from agenticiqa.embedded.answers.evidence import OTHER_KIND, Evidence, kind_factor
from agenticiqa.embedded.answers.places import share_in
from agenticiqa.limits import PRESENT
from agenticiqa.question.asked import Choose, Flaw, OptionMeaning
from agenticiqa.state import DistortionCategory
from agenticiqa.values import CATEGORY_OF, Attribute

# Two options closer than this are not told apart by the evidence.
TIE = 1e-6
# A flaw that is not there fits less than this: by half of a probability below one half.
UNSEEN = 0.25
# A flaw of a kind that another option names, offered without its kind.
UNNAMED_KIND = 0.6
# An option that fits less well than this does not fit: of two flaws that are both absent neither is chosen.
_FITS_AT_ALL = 0.05
# Whoever offers several flaws and no way to deny them knows that one is there: the likeliest is told even if it is
# hardly seen, where it is so many times as likely as the next.
_HARDLY_SEEN, _CLEARLY_LIKELIEST = 0.01, 2.0
# The kinds that "low" and "high" of a noun stand for; "medium" means that it is not off at all.
_DIRECTIONS: dict[DistortionCategory, dict[str, str]] = {
    "Contrast": {"high": "contrast_up", "low": "contrast_down"},
    "Brightness change": {"high": "brighten", "low": "darken"},
    "Color distortions": {"high": "saturation_up", "low": "saturation_down"},
}


def best_option(question: Choose, evidence: Evidence) -> tuple[str, float] | str:
    """The label of the option that fits best with its share of the belief, or the reason why there is none."""
    fits = {label: fit_of(option, question, evidence) for label, option in question.options.items()}
    known = {label: fit for label, fit in fits.items() if fit is not None}
    if not known:
        asks_truth = question.polarity is None and any(each.truth is not None for each in question.options.values())
        return "unclear_polarity" if asks_truth else "no_match"
    ranked = sorted(known, key=lambda label: -known[label])
    best = ranked[0]
    if len(ranked) > 1 and known[best] - known[ranked[1]] < TIE:
        # Half-way between two grades the better one counts, as in rounding.
        grades = [(_grade_offered(question.options[label]), label) for label in ranked[:2]]
        if any(grade is None for grade, _ in grades):
            return "tie"
        best = max(grades, key=lambda each: each[0] or 0.0)[1]
    if known[best] < _FITS_AT_ALL and not _is_hinted_at(question, known):
        return "no_match"
    if _are_two_unseen(question, known[best]):
        return "tie"
    # A lone understood option wins only on its own merit, never because the others were not understood.
    if len(known) < len(fits) and known[best] < PRESENT:
        return "no_match"
    total = sum(known.values())
    return best, known[best] / total if total else 0.0


def _are_two_unseen(question: Choose, fit: float) -> bool:
    """Whether "too dark or too bright?" is asked of a picture that is neither."""
    options = question.options.values()
    return not question.reply.choices and len(options) == 2 and all(o.says == "flaw" for o in options) and fit < UNSEEN


def _grade_offered(option: OptionMeaning) -> float | None:
    """The grade an option offers, more is better; None where it offers none."""
    return -option.severity if option.severity is not None and option.level is None else option.level


def _is_hinted_at(question: Choose, fits: Mapping[str, float]) -> bool:
    """Whether one of several flaws offered, none of which is seen, is clearly the likeliest."""
    offered = [option.attribute for option in question.options.values() if option.says == "flaw"]
    if not len(set(offered)) == len(question.options) == len(fits) >= 3:
        return False
    second, best = sorted(fits.values())[-2:]
    return best >= max(_HARDLY_SEEN, _CLEARLY_LIKELIEST * second)


def fit_of(option: OptionMeaning, question: Choose, evidence: Evidence) -> float | None:
    """How well an option fits the evidence; only comparable among the options of one question."""
    fit = _fit(option, question, evidence)
    return 1 - fit if fit is not None and question.absent and not option.nothing else fit


def _fit(option: OptionMeaning, question: Choose, evidence: Evidence) -> float | None:
    if option.truth is not None:
        return _truth(option, question, evidence)
    relation = _relation_meant(option, question)
    if relation and evidence.has_reference:
        return relations(question.topic.flaw, evidence).get(relation)
    if option.place is not None and option.place in evidence.places:
        return share_in(evidence.places[option.place], question)
    return _claimed(option, question, evidence)


def _claimed(option: OptionMeaning, question: Choose, evidence: Evidence) -> float | None:
    """How well what an option says of flaws or of quality fits: several claims at once, one claim, or a grade."""
    claims = _claims(option, question)
    if claims is not None:
        return _together(claims, question, evidence)
    return (_claim if option.attribute in CATEGORY_OF else _grade)(option, question, evidence)


def _relation_meant(option: OptionMeaning, question: Choose) -> Relation | None:
    """What an option says of the test image beside its reference, by itself or by naming the one that is asked for."""
    if option.side is None:
        return option.relation
    return "worse" if (question.polarity == "flaw") == (option.side == "test") else "better"


def _claims(option: OptionMeaning, question: Choose) -> dict[Attribute, bool] | None:
    """The flaws that an option claims (True) or denies, where it does so of several or speaks for a picture without."""
    options = question.options.values()
    offered = ((each.attribute, each.says != "fine") for each in options)
    named = {attribute: is_flaw for attribute, is_flaw in offered if attribute and attribute in CATEGORY_OF}
    if option.all_of_them:
        return named
    if option.nothing and not _grades_one_flaw(question):
        return {attribute: not is_flaw for attribute, is_flaw in named.items()}
    if option.attributes:
        return {attribute: says == "flaw" for attribute, says in option.attributes}
    some_joined = any(each.attributes or each.all_of_them for each in options)
    if option.attribute in CATEGORY_OF and (some_joined or option.says == "fine"):
        return {option.attribute: option.says == "flaw"}
    return None


def _truth(option: OptionMeaning, question: Choose, evidence: Evidence) -> float | None:
    too_much = is_too_much(question.topic.flaw, question.allowed, evidence)
    if too_much is None or question.polarity is None:
        return None
    yes = too_much if question.polarity == "flaw" else 1 - too_much
    likely = yes if option.truth else 1 - yes
    # "Yes, slightly" and "yes, severely", "no, too dark" and "no, too bright" differ in what follows.
    if option.attribute in CATEGORY_OF:
        return likely * (_claimed(option, question, evidence) or 0.0)
    if option.severity is not None and (amount := amount_of(Flaw(question.topic.flaw.attribute), evidence)):
        return likely * _closeness(amount, option.severity)
    return likely


def _claim(option: OptionMeaning, question: Choose, evidence: Evidence) -> float | None:
    assert option.attribute is not None
    amount = amount_of(Flaw(option.attribute, option.kind), evidence)
    if amount is None:
        return None
    if _is_graded(option.attribute, question):
        return _closeness(amount, _claimed_strength(option))
    if not amount.is_present:
        return 0.5 * amount.probability
    if option.kind is None and _names_kinds(option.attribute, question):
        return UNNAMED_KIND * amount.probability
    if option.tints and (item := cast_of(evidence)):
        return amount.probability * (1.0 if is_called(item, option.tints) else OTHER_KIND)
    # Of two flaws equally likely to be there, the stronger one is the better answer.
    return amount.probability * (0.75 + 0.0625 * amount.strength)


def _names_kinds(attribute: Attribute, question: Choose) -> bool:
    """Whether another option names the flaw's kind, so that the plain flaw is the poorer answer where that kind is."""
    return any(each.attribute == attribute and each.kind for each in question.options.values())


def _claimed_strength(option: OptionMeaning) -> float:
    """How strong a flaw is by the option's words: none at level 5, and 2.5 where they do not say."""
    if option.severity is None and option.level is not None:
        return 0.95 * (5 - option.level)
    return 2.5 if option.severity is None else option.severity


def _is_graded(attribute: Attribute, question: Choose) -> bool:
    """Whether several options claim different strengths of the same flaw."""
    claimed = [option for option in question.options.values() if option.attribute == attribute]
    strengths = {_claimed_strength(option) for option in claimed if option.says == "flaw"}
    return len(strengths) > 1


def _grades_one_flaw(question: Choose) -> bool:
    """Whether "none" is a strength of the flaw asked about, not the absence of all flaws."""
    asked = question.topic.flaw.attribute
    return asked in CATEGORY_OF and not any(
        option.attribute in CATEGORY_OF and option.attribute != asked for option in question.options.values()
    )


def _grade(option: OptionMeaning, question: Choose, evidence: Evidence) -> float | None:
    """ "Good", "slight", "too low": of what the question asks about."""
    attribute, category = question.topic.flaw.attribute, question.topic.flaw.category
    if option.amount and category in _DIRECTIONS:
        kind, item = _DIRECTIONS[category].get(option.amount), evidence.strongest([category])
        if item is None or kind is None:
            return None if item is None else 1 - item.probability
        return item.probability * kind_factor(kind, item.kind)
    amount = amount_of(Flaw(attribute), evidence)
    if amount is None:
        return None
    is_flaw = attribute in CATEGORY_OF and question.polarity != "fine"
    if option.amount and attribute in CATEGORY_OF and not is_flaw:
        stressed = option.severity is not None and option.severity >= 3
        return _closeness(amount, {"low": 3.0, "medium": 1.5, "high": 0.0 if stressed else 0.5}[option.amount])
    if option.severity is not None and (is_flaw or option.level is None):
        return _closeness(amount, option.severity)
    if option.level is not None:
        if attribute not in CATEGORY_OF and evidence.judgement is not None:
            return math.exp(-0.5 * (evidence.judgement.score - option.level) ** 2)
        return _closeness(amount, max(0.0, 0.95 * (5 - option.level)))
    return _closeness(amount, {"low": 0.5, "medium": 1.5, "high": 3.0}[option.amount]) if option.amount else None


def _closeness(amount: Amount, strength: float) -> float:
    shown = amount.strength if amount.is_present else 0.0
    return math.exp(-((shown - strength) ** 2))


def _together(claims: Mapping[Attribute, bool], question: Choose, evidence: Evidence) -> float | None:
    """How likely all claims of an option hold at once, and no flaw that only other options claim."""
    others = {each.attribute for each in question.options.values() if each.says == "flaw" and each.attribute}
    wanted = {**dict.fromkeys(others & CATEGORY_OF.keys(), False), **claims}
    if not wanted:
        return min((1 - item.probability for item in evidence.findings), default=None)
    amounts = [(amount_of(Flaw(attribute), evidence), is_flaw) for attribute, is_flaw in wanted.items()]
    if any(amount is None for amount, _ in amounts):
        return None
    return math.prod(a.probability if is_flaw else 1 - a.probability for a, is_flaw in amounts if a)
