"""Multiple-choice questions about pictures whose damage is known, balanced and with their options shuffled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from agenticiqa.state import DISTORTION_CATEGORIES, DistortionCategory
from benchmarks.known_damage import VISIBLE_LEVELS, Picture, Pixels

Random = np.random.Generator
NAMES: dict[DistortionCategory, str] = {
    "Blurs": "Blur", "Color distortions": "Color distortion", "Compression": "Compression artifacts", "Noise": "Noise",
    "Brightness change": "Too dark or too bright", "Sharpness": "Oversharpening or pixelation",
    "Contrast": "Wrong contrast",
}  # fmt: skip
WHETHER: dict[DistortionCategory, tuple[str, ...]] = {
    "Blurs": ("Is the image blurry?", "Is this picture sharp?"),
    "Color distortions": ("Are the colors distorted?", "Do the colors look natural?"),
    "Compression": ("Are there compression artifacts?", "Is the image free of compression artifacts?"),
    "Noise": ("Is the image noisy?", "Is the image free of noise?"),
    "Brightness change": ("Has the brightness been changed?", "Is the photo well exposed?"),
    "Sharpness": ("Is the image oversharpened or pixelated?",),
    "Contrast": ("Has the contrast been changed?",),
}
DENYING = ("sharp?", "natural?", "free of", "well exposed")
# Neighbouring severities blur into one another for people too, so the options lie two steps apart.
SCALES = (("none", "moderate", "extreme"), ("slight", "severe"))
SEVERITY_OF: dict[DistortionCategory, str] = {
    "Blurs": "the blur", "Color distortions": "the color distortion", "Compression": "the compression artifacts",
    "Noise": "the noise", "Brightness change": "the brightness change", "Sharpness": "the sharpness distortion",
    "Contrast": "the contrast change",
}  # fmt: skip


@dataclass(frozen=True)
class AskedPicture:
    """A question with its options in the order asked and the text of the right one."""

    kind: str
    source: str
    query: str
    options: tuple[str, ...]
    right: str
    pixels: Pixels
    reference: Pixels | None = None

    def choices(self, order: Sequence[int]) -> dict[str, str]:
        """The options lettered in this order."""
        return dict(zip("ABCDEFG", (self.options[index] for index in order), strict=False))


def make_questions(pictures: Sequence[Picture], per_kind: int, seed: int) -> list[AskedPicture]:
    """`per_kind` questions of each of the four kinds about these pictures."""
    random = np.random.default_rng(seed)
    makers: dict[str, Callable[[Sequence[Picture], int, Random], AskedPicture]] = {
        "which": _which, "whether": _whether, "severity": _severity, "against reference": _against_reference,
    }  # fmt: skip
    return [make(pictures, number, random) for make in makers.values() for number in range(per_kind)]


def _which(pictures: Sequence[Picture], number: int, random: Random) -> AskedPicture:
    picture = _with_category(pictures, number, random)
    others = [category for category in DISTORTION_CATEGORIES if category != picture.category]
    offered = [*random.choice(np.array(others), 3, replace=False), picture.category]
    options = tuple(NAMES[category] for category in random.permutation(offered))
    query = "Which distortion is the most obvious in this image?"
    return AskedPicture("which", picture.source, query, options, _name(picture), picture.pixels)


def _whether(pictures: Sequence[Picture], number: int, random: Random) -> AskedPicture:
    picture = _with_category(pictures, number // 2, random)
    is_there = number % 2 == 0
    others = [category for category in DISTORTION_CATEGORIES if category != picture.category]
    asked = picture.category if is_there and picture.category else others[int(random.integers(len(others)))]
    query = WHETHER[asked][int(random.integers(len(WHETHER[asked])))]
    denies = any(words in query for words in DENYING)
    right = "Yes" if is_there != denies else "No"
    return AskedPicture("whether", picture.source, query, ("Yes", "No"), right, picture.pixels)


def _severity(pictures: Sequence[Picture], number: int, random: Random) -> AskedPicture:
    severity = ("none", "slight", "moderate", "severe", "extreme")[number % 5]
    fitting = [picture for picture in pictures if picture.severity == severity]
    fitting = fitting or [picture for picture in pictures if picture.category]
    picture = fitting[int(random.integers(len(fitting)))]
    category = picture.category or DISTORTION_CATEGORIES[int(random.integers(len(DISTORTION_CATEGORIES)))]
    scale = next(scale for scale in SCALES if picture.severity in scale)
    query = f"How severe is {SEVERITY_OF[category]} in this image?"
    options = tuple(str(option).capitalize() for option in random.permutation(scale))
    return AskedPicture("severity", picture.source, query, options, picture.severity.capitalize(), picture.pixels)


def _against_reference(pictures: Sequence[Picture], number: int, random: Random) -> AskedPicture:
    picture = _with_category(pictures, number, random)
    test, reference, right = (
        (picture.pixels, picture.original, "Worse"),
        (picture.original, picture.original, "About the same"),
        (picture.original, picture.pixels, "Better"),
    )[number % 3]
    query = "Compared with the reference image, how good is the quality of this image?"
    options = tuple(str(option) for option in random.permutation(["Worse", "About the same", "Better"]))
    return AskedPicture("against reference", picture.source, query, options, right, test, reference)


def _with_category(pictures: Sequence[Picture], number: int, random: Random) -> Picture:
    """A visibly damaged picture; the categories take turns, so that each is asked about equally often."""
    there = [category for category in DISTORTION_CATEGORIES if any(p.category == category for p in pictures)]
    category = there[number % len(there)]
    fitting = [p for p in pictures if p.category == category and p.level in VISIBLE_LEVELS]
    return fitting[int(random.integers(len(fitting)))]


def _name(picture: Picture) -> str:
    assert picture.category is not None
    return NAMES[picture.category]
