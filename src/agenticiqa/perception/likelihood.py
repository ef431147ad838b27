"""How likely a claim is, given the evidence; None when the evidence cannot tell."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from agenticiqa.perception.beside import beside
from agenticiqa.perception.claims import DIRECTIONS, Claim
from agenticiqa.perception.comparing import comparison, same_quality, step
from agenticiqa.perception.evidence import Evidence, PlacedFinding, kind_factor
from agenticiqa.perception.language import Question
from agenticiqa.perception.lexicon import Mention
from agenticiqa.perception.placing import asks_for_the_opposite, share_in
from agenticiqa.state import LEVEL_SCORES, SEVERITIES, DistortionCategory

# Where grades of one attribute ("good sharpness", "medium clarity") lie on the severity scale from 0 to 4.
GRADES = {"A": 0.0, "B": 0.5, "C": 1.5, "D": 2.7, "E": 3.7, "high": 0.0, "medium": 1.5, "low": 2.7}

OptionRule = Callable[[Claim, Question, Evidence], float | None]


def of_question(question: Question, evidence: Evidence) -> float | None:
    """How likely "yes" is the answer to a yes/no question."""
    claim = question.claim
    if question.versus:
        return beside(question, evidence)
    if question.shape == "compare":
        likely = comparison(claim, evidence)
    elif claim.mentions:
        likely = _mentions(claim, evidence)
    elif claim.any_distortion or claim.nothing:
        likely = _any_distortion(claim, evidence)
    elif claim.score and claim.bound:
        likely = _beyond(claim, evidence)
    else:
        likely = _level_at_least(claim, evidence)
    return None if likely is None else (1 - likely if claim.negated else likely)


def of_option(option: Claim, question: Question, evidence: Evidence) -> float | None:
    """How well an option fits the evidence; only comparable among the options of one question."""
    likely = next((fit for rule in _RULES if (fit := rule(option, question, evidence)) is not None), None)
    return 1 - likely if likely is not None and asks_for_the_opposite(question) else likely


def _truth(option: Claim, question: Question, evidence: Evidence) -> float | None:
    if option.truth is None:
        return None
    yes = of_question(question, evidence)
    if yes is None:
        return None
    # "No, too dark" and "no, too bright", "yes, slightly" and "yes, severely" differ in what follows the yes or no.
    detail = None if question.shape == "compare" else _detail(option, question, evidence)
    return (yes if option.truth else 1 - yes) * (1.0 if detail is None else detail)


def _detail(option: Claim, question: Question, evidence: Evidence) -> float | None:
    fits = (rule(option, question, evidence) for rule in (_severity_when_level_is_meant, _distortion))
    return next((fit for fit in fits if fit is not None), None)


def _relation(option: Claim, question: Question, evidence: Evidence) -> float | None:
    if question.shape != "compare" or not evidence.has_reference:
        return None
    asked = question.claim
    if option.sides:
        # "Which image is sharper? A. the reference": the option's image is put in the place of the test image.
        return comparison(replace(asked, subject=option.subject, relation=asked.relation or "better"), evidence)
    if option.equal:
        return same_quality(evidence)
    if option.relation or option.mentions:
        return comparison(replace(option, subject=asked.subject), evidence)
    return None


def _attribute(option: Claim, question: Question, evidence: Evidence) -> float | None:
    """ "How is the contrast? A. High B. Low C. Good": options that grade the noun of the question."""
    if not question.claim.neutral or option.mentions or option.truth is not None:
        return None
    category = question.claim.mentions[0].category
    item = evidence.strongest(question.categories)
    if item is None:
        return None
    if category in DIRECTIONS and option.amount is not None:
        kind = DIRECTIONS[category].get(option.amount)
        return evidence.probability(Mention(category, kind, absent=kind is None))
    target = GRADES.get(option.amount or "", None if option.level is None else GRADES[option.level])
    return None if target is None else math.exp(-((item.finding.position - target) ** 2))


def _severity(option: Claim, question: Question, evidence: Evidence) -> float | None:
    if option.nothing and question.shape != "severity":  # "None" among distortions is no severity
        return None
    if option.severity is None and not (question.shape == "severity" and option.mentions):
        return None
    mentions = option.mentions or question.claim.mentions
    item = evidence.strongest([mention.category for mention in mentions])
    if item is None:
        return None
    kind = next((mention.kind for mention in option.mentions), None)
    return math.exp(-((item.finding.position - _target(option)) ** 2)) * kind_factor(kind, item.finding.kind)


def _target(option: Claim) -> float:
    """Where on the scale from 0 to 4 an option like "slightly blurry" or "sharp" lies."""
    says_absent = any(mention.absent for mention in option.mentions) != option.negated
    if option.severity is None or says_absent:
        return 0.0 if says_absent else 2.0
    return float(SEVERITIES.index(option.severity))


def _distortion(option: Claim, question: Question, evidence: Evidence) -> float | None:
    categories = {mention.category for claim in question.options.values() for mention in claim.mentions}
    if option.nothing or (option.negated and option.any_distortion):
        present = evidence.any_distortion
        return None if present is None else 1 - present
    if option.both:
        return _joint(dict.fromkeys(categories), categories, evidence)
    if not option.mentions:
        return None
    if len({mention.category for mention in option.mentions}) > 1 or _some_joined(question):
        # "Sharp and clean" and "neither blurry nor noisy" name two distortions and claim neither.
        claimed = {mention.category: mention.kind for mention in option.mentions if mention.absent == option.negated}
        return _joint(claimed, categories, evidence)
    return _named(option, evidence)


def _named(option: Claim, evidence: Evidence) -> float | None:
    mention = option.mentions[0]
    likely = evidence.probability(mention)
    if likely is None:
        return None
    if option.negated or mention.absent:
        return 1 - likely if option.negated else likely
    item = evidence.strongest([mention.category])
    # Of two distortions equally likely to be there, the stronger one is the better answer.
    return likely * (0.75 + 0.0625 * item.finding.position) if item else None


def _some_joined(question: Question) -> bool:
    return any(
        claim.both or len({mention.category for mention in claim.mentions}) > 1 for claim in question.options.values()
    )


def _joint(
    claimed: Mapping[DistortionCategory, str | None], categories: Collection[DistortionCategory], evidence: Evidence
) -> float | None:
    """How likely exactly the claimed ones of the categories in question are there, of these kinds."""
    each = [
        evidence.probability(Mention(category, claimed.get(category), absent=category not in claimed))
        for category in sorted(categories)
    ]
    known = [likely for likely in each if likely is not None]
    return math.prod(known) if len(known) == len(each) else None


def _place(option: Claim, question: Question, evidence: Evidence) -> float | None:
    look = evidence.places.get(option.place or "")
    return None if look is None else share_in(look, question)


def _level(option: Claim, question: Question, evidence: Evidence) -> float | None:
    if option.level is None or evidence.judgement is None:
        return None
    return math.exp(-2 * (evidence.judgement.score - LEVEL_SCORES[option.level]) ** 2)


def _score(option: Claim, question: Question, evidence: Evidence) -> float | None:
    if option.score is None or evidence.judgement is None:
        return None
    low, high = option.score
    score = evidence.judgement.score
    return math.exp(-2 * max(low - score, score - high, 0.0) ** 2)


def _severity_when_level_is_meant(option: Claim, question: Question, evidence: Evidence) -> float | None:
    """ "Good" and "high" answer a question about quality, "slight" and "very" one about a distortion."""
    about_distortion = question.claim.mentions or question.claim.any_distortion or option.mentions
    return _severity(option, question, evidence) if about_distortion else None


_RULES: tuple[OptionRule, ...] = (
    _truth, _relation, _attribute, _severity_when_level_is_meant, _distortion, _place, _level, _score, _severity,
)  # fmt: skip


def _mentions(claim: Claim, evidence: Evidence) -> float | None:
    each = [_mention(mention, claim, evidence) for mention in claim.mentions]
    known = [likely for likely in each if likely is not None]
    if not known:
        return None
    if claim.any_distortion and claim.main:  # "Is noise the main problem?"
        top = evidence.strongest()
        is_top = top is not None and top.finding.category == claim.mentions[0].category
        return known[0] if is_top else min(known[0], 0.2)
    return min(known) if claim.joined else max(known)


def _mention(mention: Mention, claim: Claim, evidence: Evidence) -> float | None:
    likely = evidence.probability(mention)
    item = evidence.strongest([mention.category])
    if likely is None or item is None or mention.absent or claim.severity in (None, "none"):
        return likely
    if claim.merely_visible and claim.severity == "moderate":
        return likely
    return min(likely, _severity_fits(claim, item))


def _severity_fits(claim: Claim, item: PlacedFinding) -> float:
    """ "Severely blurred" holds from severe on; "slightly blurred" only around slight."""
    wanted = SEVERITIES.index(claim.severity or "none")
    position = item.finding.position
    if claim.severity_range:
        return _within(position, claim.severity_range)
    if wanted >= 3:
        return step(position, wanted - 0.5, 0.4)
    return math.exp(-((position - wanted) ** 2))


def _within(place: float, limits: tuple[float, float]) -> float:
    """How surely a place of a scale lies within the limits, one of which is open."""
    low, high = limits
    return step(place, low, 0.2) if math.isinf(high) else step(-place, -high, 0.2)


def _any_distortion(claim: Claim, evidence: Evidence) -> float | None:
    # The second likeliest where several are asked for.
    each = sorted((item.finding.probability for item in evidence.findings), reverse=True)[int(claim.several) :]
    if not each:
        return None
    return 1 - each[0] if claim.nothing else each[0]


def _beyond(claim: Claim, evidence: Evidence) -> float | None:
    """ "Is the quality above 3?" """
    if claim.score is None or evidence.judgement is None:
        return None
    low, high = claim.score
    score = evidence.judgement.score
    return step(score, low, 0.25) if claim.bound == "above" else step(-score, -high, 0.25)


def _level_at_least(claim: Claim, evidence: Evidence) -> float | None:
    """ "Is it good?" holds from good upwards, "is it poor?" and "is it bad?" from poor downwards."""
    if claim.level is None or evidence.judgement is None:
        return None
    level, score = LEVEL_SCORES[claim.level], evidence.judgement.score
    if claim.level_range and not claim.relation:
        return _within(score, claim.level_range)
    if claim.relation and claim.than:  # "Is it worse than average?"
        return step(score, level + 0.5, 0.25) if claim.relation == "better" else step(-score, 0.5 - level, 0.25)
    if claim.very_good:
        level = LEVEL_SCORES["B"]
    return step(score, level - 0.5, 0.25) if level >= 3 else step(-score, -(LEVEL_SCORES["D"] + 0.5), 0.25)
