"""How the test image stands beside its reference; None without one."""

from __future__ import annotations

import math
from dataclasses import replace

from agenticiqa.perception.claims import Claim
from agenticiqa.perception.evidence import Evidence
from agenticiqa.perception.lexicon import Mention

# Below this score against the reference a viewer sees the difference; the width is that of the step.
SEEN_DIFFERENCE, STEP = 4.6, 0.12
# A test image is rarely better than its reference; the no-reference model has to see a clear advantage.
CLEAR_ADVANTAGE, ADVANTAGE_STEP = 0.2, 0.15
BETTER_THAN_REFERENCE = 0.02
# How much more of a distortion, from 0 to 4, the reference must show by itself for the pair to be read the other way.
CLEAR_LEAD = 0.75
# The same change seen from the reference's side.
INVERSE = {
    Mention("Blurs"): Mention("Sharpness", "over_sharpen"),
    Mention("Blurs", absent=True): Mention("Blurs"),
    Mention("Noise", absent=True): Mention("Noise"),
    Mention("Brightness change", "darken"): Mention("Brightness change", "brighten"),
    Mention("Brightness change", "brighten"): Mention("Brightness change", "darken"),
    Mention("Contrast", "contrast_down"): Mention("Contrast", "contrast_up"),
    Mention("Contrast", "contrast_up"): Mention("Contrast", "contrast_down"),
    Mention("Color distortions", "saturation_down"): Mention("Color distortions", "saturation_up"),
    Mention("Color distortions", "saturation_up"): Mention("Color distortions", "saturation_down"),
}
# "Sharper than the reference" needs sharpening, not just the lack of blur.
MORE_OF = {Mention("Blurs", absent=True): Mention("Sharpness", "over_sharpen")}


def comparison(claim: Claim, evidence: Evidence) -> float | None:
    """How likely the first-named image (by default the test image) is what the claim says, beside the other."""
    if not evidence.has_reference:
        return None
    if claim.less and claim.mentions:  # "less noisy than" is what the other image is more of
        other = "test" if claim.subject == "reference" else "reference"
        return comparison(replace(claim, less=False, subject=other), evidence)
    of_reference = claim.subject == "reference"
    if claim.mentions:
        mention = claim.mentions[0]
        if of_reference:
            return evidence.probability(INVERSE[mention]) if mention in INVERSE else _less_of(mention, evidence)
        if mention.absent and claim.relation == "worse":  # "Has the clarity dropped?"
            mention = INVERSE.get(mention, replace(mention, absent=False))
        if _reference_leads(mention, evidence):
            return 1 - BETTER_THAN_REFERENCE if mention.absent else BETTER_THAN_REFERENCE
        more = MORE_OF.get(mention, mention)
        return BETTER_THAN_REFERENCE if more.absent else evidence.probability(more)
    same = same_quality(evidence)
    if same is None:
        return None
    if claim.equal:
        return same
    better = (1 - same) * better_if_different(evidence)
    if claim.relation is None and (claim.any_distortion or not claim.level):
        return 1 - same  # "Does it differ from the reference?"
    wants_better = (claim.relation or "better") == "better"
    return better if wants_better != of_reference else 1 - same - better


def better_if_different(evidence: Evidence) -> float:
    """How likely the test image is the better one, given that the two differ."""
    if evidence.advantage is None:
        return BETTER_THAN_REFERENCE
    return max(BETTER_THAN_REFERENCE, step(evidence.advantage, CLEAR_ADVANTAGE, ADVANTAGE_STEP))


def _less_of(mention: Mention, evidence: Evidence) -> float | None:
    """A reference has none of the test image's distortions, so it is "noisier" only if it shows so by itself."""
    if _reference_leads(mention, evidence):
        return BETTER_THAN_REFERENCE if mention.absent else 1 - BETTER_THAN_REFERENCE
    return BETTER_THAN_REFERENCE if evidence.probability(mention) is not None else None


def _reference_leads(mention: Mention, evidence: Evidence) -> bool:
    # Kinds that have an opposite ("darker", "brighter") are told apart by the pair itself.
    has_opposite = mention in INVERSE and not mention.absent
    return not has_opposite and evidence.leads.get(mention.category, 0.0) <= -CLEAR_LEAD


def same_quality(evidence: Evidence) -> float | None:
    """How likely a viewer sees no difference to the reference."""
    return None if evidence.judgement is None else step(evidence.judgement.score, SEEN_DIFFERENCE, STEP)


def step(value: float, threshold: float, width: float) -> float:
    """A smooth step from 0 to 1 at the threshold."""
    return 1 / (1 + math.exp(-(value - threshold) / width))
