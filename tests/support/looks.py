"""Hand-made looks and the eyes that give them back: what the embedded backend sees is passed in openly."""

from __future__ import annotations

from collections.abc import Mapping

from agenticiqa.embedded.findings import Look
from agenticiqa.embedded.regions.places import place_called
from agenticiqa.images import LoadedImage
from agenticiqa.state import DISTORTION_CATEGORIES, LEVEL_LETTERS, LEVEL_SCORES, Region, Severity
from agenticiqa.values import Distortion, Judgement, Reading


def judged(score: float, **more: object) -> Judgement:
    """A judgement whose expected level is this score, shared between the two nearest levels."""
    upper = next(letter for letter in reversed(LEVEL_LETTERS) if LEVEL_SCORES[letter] >= score)
    share = LEVEL_SCORES[upper] - score
    levels = dict.fromkeys(LEVEL_LETTERS, 0.0)
    levels[upper] = 1 - share
    if share:
        levels[LEVEL_LETTERS[LEVEL_LETTERS.index(upper) + 1]] = share
    return Judgement(levels, **more)  # type: ignore[arg-type]


def seen(
    score: float = 4.5, against_reference: float | None = None, **found: tuple[float, Severity, str | None] | Distortion
) -> Look:
    """A look with these findings by category (underscores for spaces); every other category is absent."""
    by_category = {name.replace("_", " "): value for name, value in found.items()}
    findings = []
    for category in DISTORTION_CATEGORIES:
        value = by_category.get(category, (0.04, "none", None))
        findings.append(
            value if isinstance(value, Distortion) else Distortion.called(category, value[1], value[0], value[2])
        )
    if against_reference is not None:
        return Look(judged(against_reference, source="AIQA_FR"), tuple(findings))
    return Look(judged(score, interval=(max(1.0, score - 0.5), min(5.0, score + 0.5))), tuple(findings))


MOTION_BLUR = Distortion.called("Blurs", "severe", 0.93, "motion_blur", readings=(Reading("blur length", 9.2, "px"),))
NOISE = Distortion.called(
    "Noise", "moderate", 0.88, "white_noise", readings=(Reading("noise sigma", 14.0, "grey levels"),)
)
BLURRED = seen(2.1, Blurs=MOTION_BLUR)
NOISY = seen(2.9, Noise=NOISE)
CLEAN = seen(4.7)


class FixedEyes:
    """Perception that see the same in every image, and other things in the places that are listed."""

    def __init__(self, look: Look, places: Mapping[str, Look] | None = None) -> None:
        self._look = look
        self._places = dict(places or {})

    def look(self, image: LoadedImage, reference: LoadedImage | None = None, region: Region | None = None) -> Look:
        """The look of the region, else of the whole image."""
        if region is None:
            return self._look
        return list(self._places.values())[region.left]

    def locate(self, image: LoadedImage, name: str) -> Region | None:
        """A box whose left side is the number of the place; None for places that are not listed."""
        if (place := place_called(name)) not in self._places:
            return None
        number = list(self._places).index(place)
        return Region(left=number, top=0, right=number + 1, bottom=image.height)
