"""Facts of a picture and its file that a shop asks for: pixels, print sizes, format, colour space, depth."""

from __future__ import annotations

import io
from dataclasses import dataclass, replace

from PIL import ImageCms

from agenticiqa.images import LoadedImage
from agenticiqa.images.containers import inspect, sniff
from agenticiqa.images.decode import open_header
from agenticiqa.question.asked import Fact, Use
from agenticiqa.values import Language
from agenticiqa.wording import phrase, say
from agenticiqa.wording.findings import joined

TOO_FEW_PIXELS = 100
"""Pixels per inch below which a print shows its pixels at arm's length; 300 are usual, 150 pass."""
PRINT_DENSITIES = (300, 200, 150)
# The longer side of the smallest usual print, 10 × 15 cm, in inches: what is meant where no size is named.
SMALLEST_PRINT = 5.9
CM_PER_INCH = 2.54
# How far a file with this EXIF orientation asks to be turned clockwise; mirroring is not told.
_TURNED = {3: 180, 4: 180, 5: 90, 6: 90, 7: 270, 8: 270}
# Formats whose header is not read without decoding the picture.
_OPENED_AT_A_COST = ("AVIF", "HEIC")
_BITS = {"1": 1, "I;16": 16, "I;16B": 16, "I;16L": 16, "I": 32, "F": 32}


@dataclass(frozen=True)
class FileFacts:
    """What the file of a picture says of it; None where there is no file or it does not say."""

    size: tuple[int, int]
    transparent: bool
    turned: int = 0
    format: str | None = None
    colour_space: str | None = None
    bits: int | None = None
    per_inch: float | None = None
    bytes: int | None = None


def facts_of(image: LoadedImage) -> FileFacts:
    """The facts of an image, from the header of its file where it has one."""
    known = FileFacts(image.size, image.transparent, _TURNED.get(image.orientation, 0))
    kind = sniff(image.original) if image.original else None
    if image.original is None or kind is None:
        return known
    known = replace(known, format=kind, bytes=len(image.original))
    if kind in _OPENED_AT_A_COST:
        return known
    container = inspect(kind, image.original)
    with open_header(kind, container.data) as header:
        profile, density = header.info.get("icc_profile"), header.info.get("dpi")
        return replace(
            known,
            colour_space=_profile_name(profile) if profile else "",
            bits=16 if container.sixteen_bit else _BITS.get(header.mode, 8),
            per_inch=float(max(density)) if density and max(density) > 1 else None,
        )


def fact_in_words(fact: Fact, facts: FileFacts, use: Use | None, language: Language) -> str | None:
    """A fact in words; None where the file does not say it."""
    match fact:
        case "size":
            return say("pixels", language, width=facts.size[0], height=facts.size[1])
        case "print":
            densities = (use.per_inch,) if use and use.per_inch else PRINT_DENSITIES
            return joined((_largest(facts.size, density, language) for density in densities), language)
        case "dpi":
            density = max(facts.size) / use.inches if use and use.inches else facts.per_inch
            return None if density is None else say("per_inch", language, density=round(density))
        case "colour_space":
            return phrase("words", "no_profile", language) if facts.colour_space == "" else facts.colour_space
        case "bit_depth":
            return None if facts.bits is None else say("bits", language, bits=facts.bits)
        case "rotation":
            turned = say("rotated", language, degrees=facts.turned) if facts.turned else None
            return turned or phrase("words", "upright", language)
        case "alpha":
            return phrase("words", "transparent" if facts.transparent else "opaque", language)
        case "format":
            return facts.format
        case "file_size":
            if facts.bytes is None:
                return None
            return f"{facts.bytes / 1e6:.1f} MB" if facts.bytes >= 1e6 else f"{facts.bytes / 1e3:.0f} kB"
        case _:
            return None


def print_in_words(use: Use, size: tuple[int, int], language: Language) -> tuple[str, bool]:
    """The pixels of a print in words, and whether there are enough of them."""
    density, wanted = max(size) / (use.inches or SMALLEST_PRINT), use.per_inch or TOO_FEW_PIXELS
    if use.inches is None:
        return _largest(size, use.per_inch or PRINT_DENSITIES[-1], language), density >= wanted
    width, height = size
    return say("density", language, width=width, height=height, density=round(density)), density >= wanted


def _largest(size: tuple[int, int], density: float, language: Language) -> str:
    """The largest print with so many pixels per inch."""
    width, height = (f"{side / density * CM_PER_INCH:.1f}" for side in size)
    return say("print_at", language, width=width, height=height, density=f"{density:g}")


def _profile_name(profile: bytes) -> str | None:
    try:
        return ImageCms.getProfileDescription(ImageCms.ImageCmsProfile(io.BytesIO(profile))).strip() or None
    except (ImageCms.PyCMSError, OSError):
        return None
