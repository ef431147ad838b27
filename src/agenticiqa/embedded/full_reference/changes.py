"""What was done to a picture, by the names people use: enlarged, softened, sharpened, re-encoded, recoloured."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from agenticiqa.embedded.full_reference.consensus import follows_reference
from agenticiqa.state import DistortionCategory
from agenticiqa.tools.synthetic.kinds import KINDS

# Kinds of the field that no ladder has.
FIELD_CATEGORIES: dict[str, DistortionCategory | None] = {"avif": "Compression", "heic": "Compression", "overlay": None}
CODERS = {
    "jpeg": "JPEG",
    "noisy_jpeg": "JPEG",
    "jpeg2000": "JPEG 2000",
    "webp": "WebP",
    "avif": "AVIF",
    "heic": "HEIC",
}
NAMES = {
    "upscale": "enlarged",
    "pixelate": "enlarged",
    "gaussian_blur": "softened",
    "defocus_blur": "softened",
    "motion_blur": "softened",
    "denoise": "softened",
    "over_sharpen": "sharpened",
    "overlay": "watermark or overlay",
    "jpeg_transmission": "damaged in transmission",
    "jpeg2000_transmission": "damaged in transmission",
    "local_blocks": "parts replaced",
    "pattern_noise": "parts replaced",
    "sparse_sampling": "re-encoded",
}
# A coder is named only when its traces are clear: this share of what speaks for re-encoding.
CLEAR = 0.7
# What is enlarged is softer than the reference by at least this factor.
LEAST_FACTOR = 1.3
LEAST_SOFTNESS = 0.1
# The share of frequencies left above which a loss is not named, and below which it always is.
UNNAMED, NAMED = 0.8, 0.65
# How steeply the frequencies of an enlarged picture end at least; those of a Gaussian blur stay below both.
STEEP, RATHER_STEEP = 0.5, 0.45


def category_of(kind: str) -> DistortionCategory | None:
    """The category of a kind; None for an overlay, which is no flaw of the picture."""
    return FIELD_CATEGORIES[kind] if kind in FIELD_CATEGORIES else KINDS[kind].category


def with_measured_softness(kinds: Mapping[str, float], features: Mapping[str, float]) -> dict[str, float]:
    """The kind probabilities, kinds of softness with at least the share that was measured, the most probable first."""
    share = measured_softness(features)
    soft = {kind: kinds[kind] for kind in kinds if NAMES.get(kind) in ("enlarged", "softened")}
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


def change_name(kinds: Mapping[str, float], features: Mapping[str, float]) -> str:
    """The most probable change by name, with the factor of an enlargement and the coder where its traces are clear."""
    shares: dict[str, float] = {}
    for kind, share in kinds.items():
        name = _plain_name(kind)
        shares[name] = shares.get(name, 0.0) + share
    if measured_softness(features) < LEAST_SOFTNESS:
        # Coders soften too; what is soft beside other damage is named only when nothing else speaks.
        shares = {name: share for name, share in shares.items() if name not in ("enlarged", "softened")} or shares
    name = max(shares, key=lambda each: shares[each]) if shares else "changed"
    if name in ("enlarged", "softened"):
        return _enlarged_or_softened(name, features)
    if name != "re-encoded":
        return name
    coder, share = max(((kind, kinds.get(kind, 0.0)) for kind in CODERS), key=lambda item: item[1])
    return f"re-encoded ({CODERS[coder]})" if share >= CLEAR * shares[name] else name


def _enlarged_or_softened(name: str, features: Mapping[str, float]) -> str:
    factor = 1 / features["transfer.cutoff"]
    steep = features["transfer.steepness"]
    if factor >= LEAST_FACTOR and (steep >= STEEP or (name == "enlarged" and steep >= RATHER_STEEP)):
        return f"enlarged, about ×{factor:.2g}"
    return "softened"


def _plain_name(kind: str) -> str:
    if kind in NAMES:
        return NAMES[kind]
    if kind in CODERS:
        return "re-encoded"
    category = category_of(kind)
    return {"Noise": "noise added", "Compression": "re-encoded"}.get(str(category), "recoloured")
