"""How much of a flaw the evidence shows, for every attribute a question may name, alone and beside the reference."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

from agenticiqa.embedded.answers.evidence import Evidence, kind_factor
from agenticiqa.limits import MODERATE, PRESENT, SEVERE, SLIGHT
from agenticiqa.question.asked import Allowed, Compare, Flaw, Tint
from agenticiqa.question.scales import ScaleEnd
from agenticiqa.values import DIRECTION_OF, Distortion, Reading

_OPPOSITE, _ABSENT = 0.02, 0.49
# From which severity on, 0 none to 4 extreme, a flaw is more than the question allows.
_LIMIT: dict[Allowed, float] = {"any": SLIGHT, "visible": SLIGHT, "acceptable": MODERATE, "severe": SEVERE}
# The same for the overall quality: the strongest finding, or a score below this one.
_OVERALL_LIMIT: dict[Allowed, float] = {**_LIMIT, "visible": MODERATE}
_OVERALL_SCORE: dict[Allowed, float] = {"any": 3.5, "visible": 3.0, "acceptable": 2.75, "severe": 2.0}
# Where nothing was found, only a score that reads Poor says that something must be wrong.
_WITHOUT_FINDING: dict[Allowed, float] = {**_OVERALL_SCORE, "any": 2.5, "visible": 2.5}
# From this share of pixels on false contours, in percent, a picture is banded: photographs stay below 0.05, the same
# with 16 grey levels left lie between 0.5 and 2.5.
BANDED = 0.25
Relation = Literal["better", "worse", "same"]
# Below this score against the reference a viewer sees the difference; the width is that of the step.
SEEN_DIFFERENCE, STEP = 4.6, 0.12
# A test image is rarely better than its reference; the no-reference model has to see a clear advantage.
CLEAR_ADVANTAGE, ADVANTAGE_STEP = 0.2, 0.15
BETTER_THAN_REFERENCE = 0.02
# How much more of a distortion, from 0 to 4, the reference must show by itself for the pair to be read the other way.
CLEAR_LEAD = 0.75


@dataclass(frozen=True)
class Amount:
    """How likely a flaw is there, how strong it is from 0 (none) to 4 (extreme), and the finding that says so."""

    probability: float
    strength: float
    item: Distortion | None = None

    @property
    def is_present(self) -> bool:
        """Whether the flaw is taken to be there."""
        return self.probability >= PRESENT and self.strength >= SLIGHT

    @property
    def severity(self) -> int:
        """The severity in whole steps, 0 none to 4 extreme."""
        return min(4, math.floor(self.strength + 0.5)) if self.is_present else 0


def amount_of(flaw: Flaw, evidence: Evidence) -> Amount | None:
    """How much of a flaw is there; None when it was not looked for."""
    if flaw.category is None:
        return _overall(evidence)
    attribute, item = flaw.attribute, evidence.strongest([flaw.category])
    if item is None:
        return None
    if attribute in DIRECTION_OF and item.directions:
        return _in_direction(item, list(DIRECTION_OF).index(attribute))
    fit = kind_factor(DIRECTION_OF.get(attribute) or flaw.kind, item.kind)
    strength = 0.0 if not item.is_present or fit < PRESENT else item.strength
    # What is too bright is not too dark as well.
    is_opposite = attribute in DIRECTION_OF and fit < PRESENT
    return Amount(min(item.probability, _OPPOSITE) if is_opposite else item.probability * fit, strength, item)


def _in_direction(item: Distortion, number: int) -> Amount:
    """How much of one of a finding's two directions is there; the one that is not found is as good as denied."""
    finding = item.directions[number]
    if not finding.is_present:
        return Amount(min(finding.probability, _ABSENT), 0.0, item)
    same = finding.kind is None or finding.kind == item.kind
    return Amount(finding.probability, finding.strength, item if same else replace(finding, place=item.place))


def is_too_much(flaw: Flaw, allowed: Allowed, evidence: Evidence) -> float | None:
    """How likely there is more of a flaw than the question allows; None when the evidence cannot tell."""
    amount = amount_of(flaw, evidence)
    if amount is None:
        return None
    if flaw.category is None:
        return _overall_too_much(allowed, evidence, amount)
    if not amount.is_present:
        return min(amount.probability, 0.49)
    if allowed in ("any", "visible"):
        return amount.probability
    return min(amount.probability, step(amount.strength, _LIMIT[allowed], 0.25))


def strength_of_end(end: ScaleEnd, evidence: Evidence) -> float | None:
    """How strong the flaw at one end of a scale is, 0 to 4; None when it was not looked for."""
    cast = cast_of(evidence)
    match end:
        case "dark" | "bright" | "blur" | "oversharp":
            amount = amount_of(Flaw(end), evidence)
        case "contrast_down" | "contrast_up":
            amount = amount_of(Flaw("contrast", end), evidence)
        case "saturation_down" | "saturation_up":
            amount = amount_of(Flaw("colour", end), evidence)
        case _:
            return cast.strength if cast and is_called(cast, (end,)) else 0.0
    return None if amount is None else amount.strength if amount.is_present else 0.0


def measured_banding(flaw: Flaw, evidence: Evidence) -> Reading | None:
    """The banding that was measured, where it was asked for and no compression that was found explains it."""
    item = evidence.strongest(["Compression"]) if flaw.kind == "banding" else None
    if item is None or item.is_present:
        return None
    found = item.reading("banding")
    return found if found is not None and found.value >= BANDED else None


def step(value: float, threshold: float, width: float) -> float:
    """A smooth step from 0 to 1 at the threshold."""
    return 1 / (1 + math.exp(-(value - threshold) / width))


def _overall(evidence: Evidence) -> Amount | None:
    """The loss of quality: by its score, and at least as much as the strongest finding says."""
    top = evidence.strongest()
    found = top if top is not None and top.is_present else None
    strength = found.strength if found is not None else 0.0
    if evidence.judgement is None:
        return None if top is None else Amount(top.probability, strength, top)
    lost = max(0.0, 5 - evidence.judgement.score - 0.75)
    return Amount(max(strength and found.probability if found else 0.0, step(lost, 1.0, 0.4)), max(strength, lost), top)


def _overall_too_much(allowed: Allowed, evidence: Evidence, amount: Amount) -> float:
    top = amount.item
    by_finding = 0.0
    if top is not None and top.is_present:
        by_finding = min(top.probability, step(top.strength, _OVERALL_LIMIT[allowed], 0.25))
    if evidence.judgement is None:
        return by_finding
    limit = _OVERALL_SCORE[allowed] if by_finding >= PRESENT or not evidence.findings else _WITHOUT_FINDING[allowed]
    return max(by_finding, step(-evidence.judgement.score, -limit, 0.25))


def relations(flaw: Flaw, evidence: Evidence) -> dict[Relation, float]:
    """How likely the test image is better, worse or the same as its reference; empty when nothing tells."""
    if not evidence.has_reference:
        return {}
    amount = amount_of(Flaw(flaw.attribute), evidence) if flaw.category else None
    if amount is not None:
        worse = amount.probability if amount.is_present else min(amount.probability, PRESENT - 0.01)
        leads = evidence.leads.get(flaw.category or "", 0.0) <= -CLEAR_LEAD
        better = 1 - BETTER_THAN_REFERENCE if leads else BETTER_THAN_REFERENCE
        return {"better": better, "worse": worse * (1 - better), "same": (1 - worse) * (1 - better)}
    if evidence.judgement is None:
        return {}
    same, better = step(evidence.judgement.score, SEEN_DIFFERENCE, STEP), BETTER_THAN_REFERENCE
    if evidence.advantage is not None:
        better = max(better, step(evidence.advantage, CLEAR_ADVANTAGE, ADVANTAGE_STEP))
    better *= 1 - same
    return {"better": better, "worse": 1 - same - better, "same": same}


def claimed_by(question: Compare) -> tuple[Relation, ...]:
    """The relations that a yes to the question claims."""
    if question.by in ("same", "different"):
        return ("same",) if question.by == "same" else ("better", "worse")
    return ("worse",) if (question.polarity == "flaw") != (question.between == "reference") else ("better",)


# What a person may call a cast that is measured as the color in front: names meet where one color becomes the next.
_ALSO_CALLED: dict[str, tuple[Tint, ...]] = {
    "red": ("orange", "magenta", "warm"), "orange": ("red", "yellow", "warm"), "yellow": ("orange", "warm"),
    "green": ("cyan",), "cyan": ("green", "blue", "cold"), "blue": ("cyan", "violet", "cold"),
    "violet": ("blue", "magenta"), "magenta": ("violet", "red"),
}  # fmt: skip


def cast_of(evidence: Evidence) -> Distortion | None:
    """The cast that was found; None where the colors are not found to be tinted."""
    item = evidence.strongest(["Color distortions"])
    return item if item is not None and item.kind == "color_cast" else None


def is_called(item: Distortion, tints: tuple[Tint, ...]) -> bool | None:
    """Whether a cast may be called by one of these colors; None where its color was not measured."""
    color = item.colour
    return None if color is None else any(tint == color or tint in _ALSO_CALLED[color] for tint in tints)
