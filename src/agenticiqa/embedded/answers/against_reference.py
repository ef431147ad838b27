"""How the test image stands beside its reference, overall or in one attribute."""

from __future__ import annotations

from typing import Literal

from agenticiqa.embedded.answers.amounts import PRESENT, amount_of, step
from agenticiqa.embedded.answers.evidence import Evidence
from agenticiqa.question.meaning import CATEGORY_OF, Attribute, Question

Relation = Literal["better", "worse", "same"]
# Below this score against the reference a viewer sees the difference; the width is that of the step.
SEEN_DIFFERENCE, STEP = 4.6, 0.12
# A test image is rarely better than its reference; the no-reference model has to see a clear advantage.
CLEAR_ADVANTAGE, ADVANTAGE_STEP = 0.2, 0.15
BETTER_THAN_REFERENCE = 0.02
# How much more of a distortion, from 0 to 4, the reference must show by itself for the pair to be read the other way.
CLEAR_LEAD = 0.75


def relation_of(attribute: Attribute, evidence: Evidence) -> Relation | None:
    """Whether the test image is better, worse or about the same as its reference; None when nothing tells."""
    relations: tuple[Relation, ...] = ("better", "worse", "same")
    likely = {each: likelihood_of(each, attribute, evidence) or 0.0 for each in relations}
    best: Relation = max(relations, key=lambda each: likely[each])
    return best if likely[best] else None


def likelihood_of(relation: Relation, attribute: Attribute, evidence: Evidence) -> float | None:
    """How likely the test image is better, worse or the same as its reference in the attribute, or as a whole."""
    if not evidence.has_reference:
        return None
    worse = _worse(attribute, evidence) if attribute in CATEGORY_OF else None
    if worse is not None:
        better = _better(attribute, evidence)
        return {"worse": worse * (1 - better), "better": better, "same": (1 - worse) * (1 - better)}[relation]
    same = same_quality(evidence)
    if same is None:
        return None
    better = (1 - same) * better_if_different(evidence)
    return {"same": same, "better": better, "worse": 1 - same - better}[relation]


def yes_likelihood(question: Question, evidence: Evidence) -> float | None:
    """How likely "yes" is to a yes/no question that compares the test image with its reference."""
    if question.compares in ("same", "different"):
        same = same_quality(evidence)
        return same if same is None or question.compares == "same" else 1 - same
    is_worse = (question.yes_means == "flaw") != (question.subject == "reference")
    return likelihood_of("worse" if is_worse else "better", question.attribute, evidence)


def same_quality(evidence: Evidence) -> float | None:
    """How likely a viewer sees no difference to the reference."""
    return None if evidence.judgement is None else step(evidence.judgement.score, SEEN_DIFFERENCE, STEP)


def better_if_different(evidence: Evidence) -> float:
    """How likely the test image is the better one, given that the two differ."""
    if evidence.advantage is None:
        return BETTER_THAN_REFERENCE
    return max(BETTER_THAN_REFERENCE, step(evidence.advantage, CLEAR_ADVANTAGE, ADVANTAGE_STEP))


def _worse(attribute: Attribute, evidence: Evidence) -> float | None:
    amount = amount_of(attribute, evidence)
    if amount is None:
        return None
    return amount.probability if amount.is_present else min(amount.probability, PRESENT - 0.01)


def _better(attribute: Attribute, evidence: Evidence) -> float:
    lead = evidence.leads.get(CATEGORY_OF[attribute], 0.0)
    return 1 - BETTER_THAN_REFERENCE if lead <= -CLEAR_LEAD else BETTER_THAN_REFERENCE
