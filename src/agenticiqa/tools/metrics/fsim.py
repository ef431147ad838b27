"""FSIM with colour (FSIMc): phase congruency, gradients and chroma; higher is better, 1 is identical."""

from __future__ import annotations

import numpy as np

from agenticiqa.tools.metrics.phase_congruency import phase_congruency
from agenticiqa.tools.metrics.planes import (
    SCHARR,
    YIQ,
    Image,
    change_colours,
    energy_similarity,
    gradient_energy,
    pool,
    require_pair,
    similarity,
    to_float,
    total,
    viewing_factor,
)

SMALLEST_SIDE = 16
CHROMA_POWER = np.float32(0.03)


def fsim(test: Image, reference: Image) -> float:
    """The feature similarity weighted by the stronger phase congruency, at viewing size."""
    require_pair(test, reference, SMALLEST_SIDE)
    factor = viewing_factor(test)
    first, second = (change_colours(pool(to_float(image), factor), YIQ) for image in (test, reference))
    congruency = phase_congruency(first[0]), phase_congruency(second[0])
    weight = np.maximum(*congruency)
    likeness = similarity(*congruency, 0.85)
    likeness *= energy_similarity(gradient_energy(first[0], SCHARR), gradient_energy(second[0], SCHARR), 160)
    chroma = similarity(first[1], second[1], 200) * similarity(first[2], second[2], 200)
    likeness *= np.abs(chroma) ** CHROMA_POWER
    return total(likeness * weight) / total(weight)
