"""Of two models each as far as a picture belongs to its world: photographs from a camera, or damage made by code.

The model of made damage hardly ever cries wolf on photographs, except for compression, which it sees in any file; the
model of photographs does on made damage. The gate says which world a picture is of: about -1 for a photograph, 1 for a
clean picture damaged by code. A photograph of a source nobody trained on lies between.
"""

from __future__ import annotations

from dataclasses import replace

from agenticiqa.embedded.distortions.flaw_categories import ByFlaw, Estimate, at_strength

# Pairs are where something begins and where it is complete. Chosen on made pictures left out of the fit, on content
# folds of the labelled photographs, and on photographs of a source left out of the fit altogether.
# The gate from which the model of photographs is not heard, and from which the other is heard at all.
MADE_WORLD, NOT_A_KNOWN_PHOTOGRAPH = (-0.3, 0.0), (-0.7, -0.4)
# The gate from which any file shows coding as made damage does.
MADE_FILE = (-0.3, 0.0)
# The certainty of the model of made damage from which it is believed alone, in worlds that are in doubt.
SURE_OF_DAMAGE, DOUBTFUL_WORLD = (0.2, 0.6), (-0.6, -0.4)
# Of looks it does not know the model of photographs is just sure enough to be heard, and of what is less than slight it
# is not sure at all: the other model may see a trace of it.
KNOWN_LOOK, LEAST_SURE, SLIGHT = (0.8, 1.1), 0.505, 0.5
# From here on a look is familiar enough to believe that what it did not find is not there.
FAMILIAR = 0.4
# How much faster than its strength the probability of its findings falls with the share of the picture in its world.
DOUBT = 3
# What is not heard still ranks pictures below slight, by this share of its strength.
UNHEARD, BELOW_SLIGHT = 0.45, 0.49


def join_worlds(photographed: ByFlaw, made: ByFlaw, gate: float) -> ByFlaw:
    """Of each flaw the stronger finding, each as far as the picture belongs to that world."""
    seen_by_code = max(finding.probability for flaw, finding in made.items() if flaw != "compression")
    # Of a picture like the photographs it knows, the model of photographs is believed whatever the other sees.
    believed = ramp(seen_by_code, *SURE_OF_DAMAGE) * ramp(gate, *DOUBTFUL_WORLD)
    share = 1 - max(ramp(gate, *MADE_WORLD), believed)
    return {
        flaw: _stronger(flaw, _heard(finding, share, gate), _scaled(made[flaw], _share_of_made(flaw, gate)))
        for flaw, finding in photographed.items()
    }


def knows_look(gate: float) -> bool:
    """Whether the picture is like photographs the model of photographs knows."""
    return -gate >= FAMILIAR


def _heard(finding: Estimate, share: float, gate: float) -> Estimate:
    """What the model of photographs found, as far as the picture is one it knows."""
    known = ramp(-gate, *KNOWN_LOOK)
    strength = max(share * finding.strength, min(BELOW_SLIGHT, UNHEARD * finding.strength))
    if strength < SLIGHT:
        return replace(at_strength(finding, strength), probability=share**DOUBT * known * finding.probability)
    sureness = LEAST_SURE + (1 - LEAST_SURE) * known
    probability = max(LEAST_SURE, share**DOUBT * sureness * finding.probability)
    return replace(at_strength(finding, strength), probability=probability)


def _share_of_made(flaw: str, gate: float) -> float:
    return ramp(gate, *(MADE_FILE if flaw == "compression" else NOT_A_KNOWN_PHOTOGRAPH))


def _scaled(finding: Estimate, share: float) -> Estimate:
    return replace(at_strength(finding, share * finding.strength), probability=share * finding.probability)


def _stronger(flaw: str, photographed: Estimate, made: Estimate) -> Estimate:
    probability = max(made.probability, photographed.probability)
    if flaw == "oversharp" or made.strength >= photographed.strength:
        colour = photographed.colour if made.kind == photographed.kind else None
        return replace(made, probability=probability, colour=colour)
    return replace(photographed, probability=probability)


def ramp(value: float, start: float, end: float) -> float:
    """0 up to the start, 1 from the end on."""
    return min(1.0, max(0.0, (value - start) / (end - start)))
