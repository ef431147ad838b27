"""Words people and models use for distortions, each with its category, its kind and its direction.

>>> word_for("Motion blur")
DistortionWord(category='Blurs', kind='motion blur', direction='')
>>> word_for("over-exposed")
DistortionWord(category='Brightness change', kind='overexposure', direction='brighter')
>>> word_for("a lovely sunset") is None
True
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from agenticiqa.question.late_pattern import LatePattern
from agenticiqa.state import DISTORTION_CATEGORIES, DistortionCategory, canonical_category

Direction = Literal["", "brighter", "darker", "higher", "lower"]


@dataclass(frozen=True)
class DistortionWord:
    """What a word stands for; `direction` where the category has two: brighter or darker, higher or lower."""

    category: DistortionCategory
    kind: str
    direction: Direction = ""


# category, direction, kind: other words for it. Words are compared without case, hyphens, plural and filler words.
_ROWS: tuple[tuple[DistortionCategory, Direction, str, str], ...] = (
    ("Blurs", "", "motion blur", "motion blurring, camera shake, shake, shaky, ghosting from motion, smear, smearing"),
    ("Blurs", "", "defocus", "out of focus, defocus blur, focus blur, missed focus, misfocus, unfocused, front focus"),
    ("Blurs", "", "gaussian blur", "softness, soft, soft focus, haziness of detail, fuzzy, fuzziness, unsharp"),
    ("Blurs", "", "loss of detail", "lack of detail, loss of sharpness, low sharpness, lack of sharpness, not sharp"),
    ("Blurs", "", "upscaling blur", "low resolution, upscaling, upscaled, interpolation blur, zoom blur, lens blur"),
    ("Blurs", "", "denoising", "watercolor effect, watercolour effect, over smoothing, oversmoothed, plastic skin"),
    ("Compression", "", "jpeg", "jpeg artifact, jpeg artefact, jpeg compression, jpeg blocking, mosquito noise"),
    ("Compression", "", "blocking", "blockiness, blocking artifact, blocking artefact, macroblocking, block artifact"),
    ("Compression", "", "pixelation", "pixelated, pixellation, pixelization, mosaic, visible pixel"),
    ("Compression", "", "banding", "color banding, colour banding, posterization, posterisation, contouring"),
    ("Compression", "", "ringing", "ringing artifact, ringing artefact, jpeg2000, webp artifact, video compression"),
    ("Compression", "", "aliasing", "jaggies, jagged edge, stair stepping, staircase, moire, moire pattern"),
    ("Compression", "", "transmission error", "glitch, packet loss, data loss, bit error"),
    ("Noise", "", "grain", "grainy, graininess, film grain, high iso noise, iso noise, sensor noise, luminance noise"),
    ("Noise", "", "color noise", "colour noise, chroma noise, chromatic noise, color speckle"),
    ("Noise", "", "impulse noise", "salt and pepper noise, salt pepper noise, hot pixel, dead pixel, speckle"),
    ("Noise", "", "gaussian noise", "white noise, additive noise, random noise, shot noise, poisson noise"),
    ("Noise", "", "pattern noise", "fixed pattern noise, stripe, striping, scan line, dust, scratch"),
    ("Brightness change", "brighter", "overexposure",
     "overexposed, over exposure, over exposed, too bright, blown out highlight, blown highlight, "
     "washed out highlight, clipped highlight, glare, flare, lens flare, bloom, bright, brightening"),
    ("Brightness change", "darker", "underexposure",
     "underexposed, under exposure, under exposed, too dark, low light, dark, darkness, crushed shadow, crushed black, "
     "dim, dimness, backlit, backlight, vignetting, vignette, darkening"),
    ("Brightness change", "", "uneven lighting", "exposure, lighting, poor lighting, illumination"),
    ("Contrast", "lower", "low contrast", "lack of contrast, reduced contrast, flat, flatness, faded, washed out"),
    ("Contrast", "lower", "haze", "hazy, fog, foggy, mist, misty, smog"),
    ("Contrast", "higher", "high contrast", "harsh contrast, excessive contrast, too much contrast, hdr effect"),
    ("Color distortions", "lower", "desaturation", "desaturated, undersaturation, undersaturated, dull color"),
    ("Color distortions", "higher", "oversaturation", "oversaturated, over saturation, over saturated, garish color"),
    ("Color distortions", "", "color cast",
     "colour cast, color shift, colour shift, white balance, wrong white balance, tint, yellow tint, green tint, "
     "blue tint, hue shift, unnatural color, discoloration"),
    ("Color distortions", "", "chromatic aberration", "color fringing, colour fringing, purple fringing, fringing"),
    ("Color distortions", "", "color quantisation", "color quantization, reduced palette, dithering"),
    ("Sharpness", "higher", "oversharpening", "over sharpening, oversharpened, over sharpened, halo, edge halo"),
    ("Sharpness", "higher", "excessive sharpness", "sharpening artifact, sharpening artefact, overprocessing"),
)  # fmt: skip
_FILLERS = LatePattern(
    r"\b(?:slight|mild|moderate|severe|strong|heavy|visible|some|a|an|the|of|in|artifacts?|artefacts?|effects?)\b"
)


def word_for(said: str) -> DistortionWord | None:
    """What a word for a distortion stands for; None when it is none that is known."""
    category = canonical_category(said)
    if category in DISTORTION_CATEGORIES:
        known: DistortionCategory = category
        return DistortionWord(known, known.lower())
    for form in (_plain(said), _plain(_FILLERS.sub(" ", said.casefold()))):
        if form in _words():
            return _words()[form]
    return None


def all_words() -> dict[str, DistortionWord]:
    """Every word that is mapped, beside the seven categories."""
    return dict(_words())


@lru_cache(maxsize=1)
def _words() -> dict[str, DistortionWord]:
    found: dict[str, DistortionWord] = {}
    for category, direction, kind, others in _ROWS:
        for word in (kind, *others.split(",")):
            found.setdefault(_plain(word), DistortionWord(category, kind, direction))
    return found


def _plain(text: str) -> str:
    words = re.sub(r"[\s_/-]+", " ", text.casefold()).strip(" .,;:!\"'").split()
    return " ".join(word.removesuffix("s") if len(word) > 4 and not word.endswith("ss") else word for word in words)
