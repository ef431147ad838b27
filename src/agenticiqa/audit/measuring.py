"""What the audit measures of one picture: a few milliseconds of plain arithmetic, and features for near duplicates.

A picture that cannot be opened is a finding, not a failure: its measurements say what is wrong.
"""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from agenticiqa.audit.sources import Opener
from agenticiqa.batch import Assess, Sample
from agenticiqa.errors import ImageError
from agenticiqa.images import LoadedImage, load_image
from agenticiqa.tools.metrics.blur import edge_features, expand
from agenticiqa.tools.metrics.fitted import load_parameters
from agenticiqa.tools.metrics.noise import noise_sigma
from agenticiqa.tools.metrics.planes import rounded_luma

Pixels = npt.NDArray[np.uint8]

VERSION = 1
"""Raised when a measurement changes its meaning, so that old ones are made again."""
# The size people look at: softness that disappears at it is none. A quarter of a million pixels is 584 × 438.
LOOKED_AT = 256_000
# For what needs no detail: histograms, hashes, casts.
SMALL = 128
FEATURE_SIDE = 160
# Blur beyond this radius at the size looked at, noise beyond this sigma: worth the models' opinion.
SUSPICIOUS_BLUR, SUSPICIOUS_NOISE = 1.0, 7.0


@dataclass(frozen=True)
class AuditWith:
    """Prepares the measuring of a source's pictures; can be sent to another process."""

    opener: Opener
    quick: bool = False
    confirm: bool = True

    def __call__(self) -> Assess:
        """The way with a sample."""
        # One picture per process at a time: threads inside would only wait for each other.
        cv2.setNumThreads(1)
        return self.measure

    def measure(self, sample: Sample) -> Mapping[str, Any]:
        """The measurements of a sample as JSON values."""
        try:
            image = load_image(self.opener.open(sample))
        except ImageError as error:
            return {"corrupt": str(error), "kind": type(error).__name__, "error": None}
        return {**measure_picture(image, self.quick, self.confirm), "error": None}


def measure_picture(image: LoadedImage, quick: bool = False, confirm: bool = True) -> dict[str, Any]:
    """Everything the issues are found with; `quick` leaves noise, features and the models' opinion out."""
    pixels = image.pixels
    looked_at = _shrunk(pixels, math.sqrt(LOOKED_AT / (image.width * image.height)))
    small = cv2.resize(looked_at, (SMALL, SMALL), interpolation=cv2.INTER_AREA)
    found: dict[str, Any] = {
        "width": image.width,
        "height": image.height,
        "bytes": len(image.original) if image.original is not None else None,
        "pixels": hashlib.blake2b(np.ascontiguousarray(pixels).data, digest_size=16).hexdigest(),
        "hash": f"{perceptual_hash(small):016x}",
        "thumbnail": _packed(cv2.resize(small, (8, 8), interpolation=cv2.INTER_AREA)),
        "blur_radius": _blur(looked_at),
        "grey": _is_grey(small),
        "band": grey_band(pixels),
        **_exposure(looked_at),
        **_colour(small),
    }
    if quick:
        return found
    found["noise"] = _noise(pixels)
    found["features"] = _features(looked_at)
    return {**found, **_opinion(image, found)} if confirm else found


def perceptual_hash(pixels: Pixels) -> int:
    """64 bits that small changes of a picture leave alone: signs of its lowest cosines about their median."""
    grey = cv2.resize(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY), (32, 32), interpolation=cv2.INTER_AREA)
    low = cv2.dct(grey.astype(np.float32))[:8, :8].reshape(-1)
    bits = low > np.median(low[1:])
    return int.from_bytes(np.packbits(bits).tobytes(), "big")


def grey_band(pixels: Pixels) -> float:
    """The share of rows at the bottom that are one flat middle grey: what decoders put where a file ended early."""
    rows = pixels.reshape(pixels.shape[0], -1)
    last = rows[-1]
    if not (np.all(np.abs(last.astype(np.int16) - 128) <= 1)):
        return 0.0
    flat = (rows[::-1].max(axis=1) <= 129) & (rows[::-1].min(axis=1) >= 127)
    whole = bool(flat.all())
    return 0.0 if whole else float(np.argmin(flat)) / len(flat)


def _shrunk(pixels: Pixels, factor: float) -> Pixels:
    if factor >= 1:
        return pixels
    size = max(1, round(pixels.shape[1] * factor)), max(1, round(pixels.shape[0] * factor))
    return np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA), np.uint8)


def _blur(looked_at: Pixels) -> float | None:
    """Radius of the blur of the edges at the size looked at; None without edges, where nothing can be known.

    Measured at half that size and doubled, where a moderate blur is still seen and a quarter of the time is needed.
    """
    half = _shrunk(looked_at, 0.5)
    if min(half.shape[:2]) < 24:
        half = looked_at
    if min(half.shape[:2]) < 24:
        return None
    features = edge_features(rounded_luma(half))
    if features is None:
        return None
    fitted = load_parameters("blur_radius")
    softness = math.exp(min(3.0, float(expand(features, fitted["mean"], fitted["scale"]) @ fitted["weights"])))
    scale = float(looked_at.shape[0] / half.shape[0])
    return round(scale * math.sqrt(max(0.0, softness**2 - 0.25)), 3)


def _exposure(pixels: Pixels) -> dict[str, float]:
    grey = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)
    shares = np.bincount(grey.reshape(-1), minlength=256) / grey.size
    below = np.cumsum(shares)
    levels = np.arange(256) / 255
    mean = float(np.sum(shares * levels))
    present = shares[shares > 0]
    return {
        "brightness_p5": float(np.searchsorted(below, 0.05)) / 255,
        "brightness_p99": float(np.searchsorted(below, 0.99)) / 255,
        "mean": round(mean, 4),
        "clipped": round(float(shares[250:].sum()), 4),
        "contrast": round(math.sqrt(float(np.sum(shares * (levels - mean) ** 2))), 4),
        "entropy": round(float(-np.sum(present * np.log2(present))), 4),
        "detail": round(float(np.mean(cv2.Canny(cv2.resize(grey, (256, 256)), 40, 100) > 0)), 4),
    }


def _colour(small: Pixels) -> dict[str, float]:
    """Chroma of the most neutral quarter of the picture: a cast tints even what should be grey."""
    lab = cv2.cvtColor(small.astype(np.float32) / np.float32(255), cv2.COLOR_RGB2Lab).reshape(-1, 3)
    lit = lab[(lab[:, 0] > 15) & (lab[:, 0] < 97)]
    if len(lit) < 100:
        return {"cast": 0.0}
    chroma = np.hypot(lit[:, 1], lit[:, 2])
    neutral = lit[chroma <= np.percentile(chroma, 25)]
    return {"cast": round(float(np.hypot(neutral[:, 1].mean(), neutral[:, 2].mean())), 2)}


def _is_grey(small: Pixels) -> bool:
    return int(np.ptp(small.astype(np.int16), axis=2).max()) <= 2


def _noise(pixels: Pixels) -> float | None:
    """Noise sigma of a middle part; at native size, where it has not been averaged away."""
    height, width = pixels.shape[:2]
    side = min(height, width, 256)
    if side < 16:
        return None
    top, left = (height - side) // 2, (width - side) // 2
    return round(noise_sigma(np.ascontiguousarray(pixels[top : top + side, left : left + side])), 3)


def _features(looked_at: Pixels) -> str:
    """The trunk's pooled features of a small square, as bytes."""
    from agenticiqa.embedded.trunk import load_backbone

    square = cv2.resize(looked_at, (FEATURE_SIDE, FEATURE_SIDE), interpolation=cv2.INTER_AREA)
    pooled = load_backbone().run(np.asarray(square, np.uint8))[1]
    level = np.sign(pooled) * np.sqrt(np.abs(pooled))
    return _packed(np.clip(np.rint(level / (np.abs(level).max() or 1.0) * 127), -127, 127).astype(np.int8))


def _opinion(image: LoadedImage, found: Mapping[str, Any]) -> dict[str, Any]:
    """What the distortion model says of a picture whose measurements give cause; it sees what arithmetic does not."""
    blurred = (found["blur_radius"] or 0.0) >= SUSPICIOUS_BLUR
    if not blurred and (found["noise"] or 0.0) < SUSPICIOUS_NOISE:
        return {}
    from agenticiqa.embedded.distortions.detector import find_distortions
    from agenticiqa.embedded.trunk import load_backbone

    findings = find_distortions(image.pixels, load_backbone().features(image.pixels))
    return {"opinion": {each.category: round(each.probability * each.position, 3) for each in findings}}


def _packed(values: npt.NDArray[Any]) -> str:
    return base64.b85encode(np.ascontiguousarray(values).tobytes()).decode()
