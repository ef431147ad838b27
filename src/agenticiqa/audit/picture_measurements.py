"""What the audit knows of one picture: plain measurements, a thumbnail for near duplicates, and what the model sees.

A picture that cannot be opened is a finding, not a failure: its measurements say what is wrong.
"""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np
import numpy.typing as npt

from agenticiqa.audit.sources import Opener
from agenticiqa.batch import Assess, Sample
from agenticiqa.errors import ImageError
from agenticiqa.images import ImageStore, LoadedImage
from agenticiqa.images.containers import stored_quality
from agenticiqa.state import DistortionCategory
from agenticiqa.tools.metrics.blur_radius import edge_features, expand
from agenticiqa.tools.metrics.noise import noise_sigma
from agenticiqa.tools.metrics.planes import load_parameters, rounded_luma
from agenticiqa.weights import WeightSet

if TYPE_CHECKING:
    from agenticiqa.values import Distortion

Pixels = npt.NDArray[np.uint8]

VERSION = 5
"""Raised when a measurement changes its meaning, so that old ones are made again."""
# The size people look at: softness that disappears at it is none. A quarter of a million pixels is 591 × 443; pictures
# of 512 × 512, a usual size of data sets, are looked at as they are.
VIEWED_PIXELS = 512 * 512
# For what needs no detail: thumbnails, casts.
SMALL, THUMBNAIL = 128, 16
# Annihilates planes and slopes; divided by its norm so that white noise keeps its sigma.
SECOND_DIFFERENCES = np.array([[1, -2, 1], [-2, 4, -2], [1, -2, 1]], np.float32) / 6
GRAIN_SIDE, NOISE_SIDE = 320, 160
# A finding without a direction is one of light or of darkness by the mean brightness.
MIDDLE_GREY = 0.5
ISSUE_OF: dict[DistortionCategory, str] = {
    "Blurs": "blurry",
    "Noise": "noisy",
    "Contrast": "low_contrast",
    "Color distortions": "colour_cast",
    "Compression": "compressed",
}
# Kinds of a category that are another flaw than the issue it stands for.
OTHER_FLAWS = ("contrast_up", "saturation_up", "saturation_down")


@dataclass(frozen=True)
class AuditWith:
    """Prepares the measuring of a source's pictures; can be sent to another process."""

    opener: Opener
    store: ImageStore
    quick: bool = False
    weights: WeightSet = "research"

    def __call__(self) -> Assess:
        # One picture per process at a time: threads inside would only wait for each other.
        cv2.setNumThreads(1)
        return self.measure

    def measure(self, sample: Sample) -> Mapping[str, Any]:
        try:
            image = self.store.open(self.opener(sample))
        except ImageError as error:
            return {"corrupt": str(error), "kind": type(error).__name__, "error": None}
        return {**measure_picture(image, self.quick, self.weights), "error": None}


def measure_picture(image: LoadedImage, quick: bool = False, weights: WeightSet = "research") -> dict[str, Any]:
    """Everything the issues are found with; `quick` leaves noise and what the model sees out."""
    pixels = image.pixels
    looked_at = _shrunk(pixels, math.sqrt(VIEWED_PIXELS / (image.width * image.height)))
    small = cv2.resize(looked_at, (SMALL, SMALL), interpolation=cv2.INTER_AREA)
    thumbnail = cv2.resize(small, (THUMBNAIL, THUMBNAIL), interpolation=cv2.INTER_AREA)
    found: dict[str, Any] = {
        "width": image.width,
        "height": image.height,
        "bytes": len(image.original) if image.original is not None else None,
        "pixels": hashlib.sha256(np.ascontiguousarray(pixels).data).hexdigest()[:32],
        "thumbnail": base64.b85encode(thumbnail.tobytes()).decode(),
        "coarseness": _coarseness(image, looked_at),
        "blur_radius": _blur(looked_at),
        "grain": _grain(pixels),
        "grey": _is_grey(small),
        "band": grey_band(pixels),
        **_exposure(looked_at),
        **_colour(small),
    }
    if quick:
        return found
    found["noise"] = _noise(pixels)
    # The model's own working size: half of it took two thirds of the time and hid every second flaw.
    return {**found, **_model_sees(looked_at, found["mean"], weights)}


def seen_flaws(findings: Iterable[Distortion], mean: float) -> dict[str, float]:
    """How strong the distortion model sees the flaw of each issue, from 0 (none) to 4."""
    seen = dict.fromkeys(("dark", "light", *ISSUE_OF.values()), 0.0)
    for finding in findings:
        issue = ISSUE_OF.get(finding.category)
        if finding.directions:
            seen["dark"], seen["light"] = (round(float(each.strength), 2) for each in finding.directions)
            continue
        if finding.category == "Brightness change":
            darker = finding.kind == "darken" or (finding.kind is None and mean < MIDDLE_GREY)
            issue = "dark" if darker else "light"
        if issue and finding.kind not in OTHER_FLAWS:
            seen[issue] = round(float(finding.strength), 2)
    return seen


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


def _coarseness(image: LoadedImage, looked_at: Pixels) -> float:
    """How coarse the steps of a JPEG file are beside those of quality 50, at the size looked at; 0 of other files.

    Its errors are independent from block to block, so that shrinking by a half averages half of them away.
    """
    quality = stored_quality(image.original or b"")
    return 0.0 if quality is None else round(50 / quality * looked_at.shape[0] / image.height, 3)


def _exposure(pixels: Pixels) -> dict[str, float]:
    grey = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)
    shares = cv2.calcHist([grey], [0], None, [256], [0, 256]).reshape(-1).astype(np.float64) / grey.size
    below = np.cumsum(shares)
    levels = np.arange(256) / 255
    mean = float(np.sum(shares * levels))
    present = shares[shares > 0]
    return {
        **{f"brightness_p{part}": int(np.searchsorted(below, part / 100)) / 255 for part in (2, 5, 95, 98, 99)},
        "mean": round(mean, 4),
        "clipped": round(float(shares[250:].sum()), 4),
        "contrast": round(math.sqrt(float(np.sum(shares * (levels - mean) ** 2))), 4),
        "entropy": round(float(-np.sum(present * np.log2(present))), 4),
        "detail": round(float(np.mean(cv2.Canny(cv2.resize(grey, (256, 256)), 40, 100) > 0)), 4),
    }


def _colour(small: Pixels) -> dict[str, float]:
    """How far the mean colour lies from grey beyond how far colours lie apart: a cast draws all of them to one side."""
    lab = cv2.cvtColor(small.astype(np.float32) / np.float32(255), cv2.COLOR_RGB2Lab)
    lit = ((lab[..., 0] > 15) & (lab[..., 0] < 97)).view(np.uint8)
    if np.count_nonzero(lit) < 100:
        return {"cast": 0.0}
    shift, spread = (values[1:, 0] for values in cv2.meanStdDev(lab, mask=lit))
    return {"cast": round(max(0.0, float(np.hypot(*shift) - np.hypot(*spread))), 2)}


def _is_grey(small: Pixels) -> bool:
    red, green, blue = cv2.split(small)
    return int((cv2.max(cv2.max(red, green), blue) - cv2.min(cv2.min(red, green), blue)).max()) <= 2


def _grain(pixels: Pixels) -> float:
    """What the evenest tenth of a middle part varies by from pixel to pixel: noise is there too, texture is not."""
    part = _middle(pixels, GRAIN_SIDE)
    fine = np.abs(cv2.filter2D(cv2.cvtColor(part, cv2.COLOR_RGB2GRAY), cv2.CV_32F, SECOND_DIFFERENCES))
    cells = cv2.resize(fine, (max(1, part.shape[1] // 8), max(1, part.shape[0] // 8)), interpolation=cv2.INTER_AREA)
    return round(float(np.percentile(cells, 10)), 3)


def _noise(pixels: Pixels) -> float | None:
    """Noise sigma of a middle part; at native size, where it has not been averaged away."""
    side = min(*pixels.shape[:2], NOISE_SIDE)
    return None if side < 16 else round(noise_sigma(_middle(pixels, side)), 3)


def _middle(pixels: Pixels, side: int) -> Pixels:
    """The middle part with sides of so many pixels at most."""
    height, width = pixels.shape[:2]
    top, left = max(0, height - side) // 2, max(0, width - side) // 2
    return np.ascontiguousarray(pixels[top : top + side, left : left + side])


def _model_sees(looked_at: Pixels, mean: float, weights: WeightSet) -> dict[str, Any]:
    from agenticiqa.embedded.distortions.distortion_detector import find_distortions
    from agenticiqa.embedded.trunk import load_backbone

    features = load_backbone().features(looked_at)
    return {"seen": seen_flaws(find_distortions(looked_at, features, weights, brief=True), mean)}
