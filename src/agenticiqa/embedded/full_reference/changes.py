"""What a kind of damage counts as, and softness that was measured set against what was recognised."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from agenticiqa.embedded.full_reference.consensus import follows_reference
from agenticiqa.state import DistortionCategory
from agenticiqa.tools.synthetic.kinds import KINDS

# Kinds of the field that no ladder has.
FIELD_CATEGORIES: dict[str, DistortionCategory | None] = {"avif": "Compression", "heic": "Compression", "overlay": None}
SOFT = ("upscale", "pixelate", "gaussian_blur", "defocus_blur", "motion_blur", "denoise")
# The share of frequencies left above which a loss is not named, and below which it always is.
UNNAMED, NAMED = 0.8, 0.65
# How steeply the frequencies of an enlarged picture end at least; those of a Gaussian blur stay below.
STEEP = 0.5


def category_of(kind: str) -> DistortionCategory | None:
    """The category of a kind; None for an overlay, which is no flaw of the picture."""
    return FIELD_CATEGORIES[kind] if kind in FIELD_CATEGORIES else KINDS[kind].category


def with_measured_softness(kinds: Mapping[str, float], features: Mapping[str, float]) -> dict[str, float]:
    """The kind probabilities, kinds of softness with at least the share that was measured, the most probable first."""
    share = measured_softness(features)
    soft = {kind: kinds[kind] for kind in kinds if kind in SOFT}
    known, others = sum(soft.values()), 1 - sum(soft.values())
    if known >= share:
        return dict(kinds)
    kind = "upscale" if features["transfer.steepness"] >= STEEP else "gaussian_blur"
    # Kinds of softness keep their proportions; what is missing to the measured share goes to the measured kind.
    found = {name: value if name in soft else value * (1 - share) / others for name, value in kinds.items()}
    found[kind] = found.get(kind, 0.0) + share - known
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def measured_softness(features: Mapping[str, float]) -> float:
    """From 0 to 1, whether the pair differs by a loss of fine detail and nothing else."""
    lost = min(1.0, max(0.0, (UNNAMED - features["transfer.cutoff"]) / (UNNAMED - NAMED)))
    return lost * float(follows_reference(np.array([features["transfer.passband"]]))[0])
