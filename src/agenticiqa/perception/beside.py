"""How two distortions, or one attribute in two places, stand beside each other in one image."""

from __future__ import annotations

from dataclasses import dataclass

from agenticiqa.perception.comparing import step
from agenticiqa.perception.evidence import Evidence
from agenticiqa.perception.eyes import Look, Reading
from agenticiqa.perception.language import Question
from agenticiqa.perception.lexicon import Mention
from agenticiqa.perception.placing import MEASURED_BY, amount_of
from agenticiqa.perception.versus import Versus

# Two amounts on the scale from 0 to 1 that lie closer than this are about equal; the width is that of the step.
EQUAL, WIDTH = 0.06, 0.02
# Nouns measured rather than graded: more of it is neither better nor worse.
_ATTRIBUTES = {
    "Brightness change": ("mean brightness", 255.0),
    "Contrast": ("contrast", 100.0),
    "Color distortions": ("saturation", 100.0),
}
_LOW_KINDS = ("darken", "contrast_down", "saturation_down")


@dataclass(frozen=True)
class Pair:
    """The two amounts compared, from 0 to 1, of whatever the question asks for more of."""

    first: float
    second: float

    @property
    def is_tie(self) -> bool:
        """Whether the two are about equal."""
        return abs(self.first - self.second) < EQUAL


def beside(question: Question, evidence: Evidence) -> float | None:
    """How likely the first has more (or less, where that is asked) than the second; None if one was not found."""
    pair = pair_of(question, evidence)
    if pair is None or question.versus is None:
        return None
    lead = pair.second - pair.first if _wants_less(question, question.versus) else pair.first - pair.second
    likely = step(lead, -EQUAL if question.versus.at_least else EQUAL, WIDTH)
    return 1 - likely if question.claim.negated != question.versus.falls_short else likely


def pair_of(question: Question, evidence: Evidence) -> Pair | None:
    """The two amounts; None where one of the places was not found or nothing was looked for."""
    versus = question.versus
    if versus and versus.distortions:
        first, second = (strength_of(mention, evidence) for mention in versus.distortions)
    elif versus and versus.places and not evidence.unlocated:
        looks = [evidence.places.get(name) for name in versus.places]
        first, second = (None if look is None else _attribute(question, look) for look in looks)
    else:
        return None
    return None if first is None or second is None else Pair(first, second)


def reading_of(question: Question, look: Look) -> Reading | None:
    """The measurement that the comparison of two places rests on, if the question names something measured."""
    mention = _compared(question)
    if mention is None:
        return Reading("quality", round(look.quality.score, 1), "of 5")
    name = _ATTRIBUTES.get(mention.category, MEASURED_BY.get(mention.category, ("", 1.0)))[0]
    return look.reading(mention.category, name)


def strength_of(mention: Mention, evidence: Evidence) -> float | None:
    """How strong a distortion is, from 0 to 1; sharpness also suffers from blur."""
    categories = ["Sharpness", "Blurs"] if mention == Mention("Sharpness", neutral=True) else [mention.category]
    found = [item.finding.weight / 4 for item in map(evidence.strongest, ([name] for name in categories)) if item]
    if not found:
        return None
    return 1 - max(found) if mention.absent else max(found)


def _wants_less(question: Question, versus: Versus) -> bool:
    """Whether the first is said to have less; a lower quality is less of it, a better one more."""
    claim = question.claim
    if versus.places and claim.relation and (claim.neutral or not claim.mentions):
        return claim.relation == "worse"
    if versus.places and claim.level and not claim.mentions:  # "左边比右边差"
        return (claim.level in ("D", "E")) != versus.falls_short
    return versus.less


def _attribute(question: Question, look: Look) -> float | None:
    mention = _compared(question)
    if mention is None:
        return (look.quality.score - 1) / 4
    name, whole = _ATTRIBUTES.get(mention.category, ("", 1.0))
    reading = look.reading(mention.category, name)
    if reading is not None and mention.kind not in ("color_cast", "chromatic_aberration", "color_quantisation"):
        share = min(1.0, reading.value / whole)
        return 1 - share if mention.kind in _LOW_KINDS else share
    amount = amount_of(mention.category, look)
    if amount is None:
        return None
    # "Better sharpness" and "sharper" ask for less of the damage.
    return 1 - amount if mention.absent or question.claim.neutral else amount


def _compared(question: Question) -> Mention | None:
    """The attribute compared; the sharpness of a place is its lack of blur."""
    mention = next(iter(question.claim.mentions), None)
    return Mention("Blurs") if mention and mention.category == "Sharpness" and question.claim.neutral else mention
