"""What a distortion is called, how strong it is said to be, what it looks like, and how its absence is told."""

from __future__ import annotations

from collections.abc import Sequence

from agenticiqa.state import SEVERITIES, DistortionCategory, Severity
from agenticiqa.values import CATEGORY_OF, MIDDLE_GREY, Attribute, Distortion, Language, Reading
from agenticiqa.wording.phrases import phrase, phrases_in, say

# From this JPEG quality on a file shows no trace of JPEG that could explain its compression.
NEARLY_LOSSLESS = 99
# Below this many grey levels a measured noise is none that a person sees.
VISIBLE_SIGMA = 3.0
# From here on a measurement speaks for the distortion it belongs to, and not for its absence.
_SPEAKS_FOR_IT = {"blur radius": 1.5, "noise sigma": 12.0, "blockiness": 2.0}
_READINGS_TOLD = 2


def named(found: Distortion, language: Language) -> str:
    """A distortion in a few words, and that it is not there where it is not: "severe motion blur"."""
    if not found.is_present:
        return absence(found.attribute, language)
    return _with_severity(found.severity, kind_name(found, language), found.attribute, language)


def strength_in_words(attribute: Attribute, severity: int, language: Language) -> str:
    """How much of what was asked for is there: "slight noise"."""
    return _with_severity(SEVERITIES[max(1, severity)], phrase("attributes", attribute, language), attribute, language)


def absence(attribute: Attribute, language: Language, excepted: Sequence[DistortionCategory] = ()) -> str:
    """That nothing of what was asked for is to be seen."""
    if excepted:
        names = (phrase("categories", name, language).lower() for name in excepted)
        return say("nothing_else", language, categories=", ".join(names))
    if attribute not in CATEGORY_OF:
        return phrase("words", "clean", language)
    return say("none_of", language, categories=phrase("attributes", attribute, language))


def kind_name(found: Distortion, language: Language) -> str:
    """The finer kind where it is known, else the category."""
    if language not in ("en", "zh"):
        return phrase("attributes", found.attribute, language)
    if found.colour:
        return phrase("casts", found.colour, language)
    if found.kind:
        return phrase("kinds", found.kind, language)
    return phrase("categories", found.category, language).lower()


def _with_severity(severity: Severity, name: str, attribute: Attribute, language: Language) -> str:
    """A flaw with its severity, the adjective inflected as the name wants it."""
    ending = phrase("endings", attribute, "de") if language == "de" else ""
    return say("named", language, severity=phrase("severities", severity, language) + ending, kind=name)


def described(found: Distortion, language: Language) -> str:
    """What a distortion looks like, with its measurements in human units and how sure it is."""
    readings = "".join(reading_in_words(reading, language) for reading in _telling(found)[:_READINGS_TOLD])
    if not found.is_present:
        return say("absent", language, readings=readings, sure=percent(1 - found.probability, language))
    what = phrase("kinds", found.kind, language) if found.kind else ""
    seen = (what + readings).lstrip(",， ")
    sentence = "present" if seen else "effect_only"
    sure = percent(found.probability, language)
    return capitalised(say(sentence, language, seen=seen, effect=_effect(found, language), sure=sure))


def not_found(name: str, language: Language, *, is_all: bool, seen: str = "") -> str:
    """That a thing the question names is not in the picture, what is, and what the rest is about where it is all."""
    missing = say("not_found" if is_all else "not_found_too", language, name=name)
    return missing + (say("found_instead", language, things=seen) if seen else "")


def advice(category: DistortionCategory, kind: str | None, language: Language) -> str:
    """What to do about a distortion, by its kind where that changes the advice."""
    return " ".join(phrases_in("advice", kind or "", language) or phrases_in("advice", category, language))


def reading_in_words(reading: Reading, language: Language) -> str:
    """A measurement as the next member of a list: ", blur radius 2.4 px"."""
    name, unit = phrase("readings", reading.name, language), phrase("units", reading.unit, language)
    gap = "" if unit in ("", "%") and language == "zh" else " " if unit else ""
    return f"{'，' if language == 'zh' else ', '}{name} {reading.value:.3g}{gap}{unit}"


def percent(share: float, language: Language) -> str:
    """A share in percent."""
    return f"{100 * share:.0f}%" if language == "zh" else f"{100 * share:.0f} %"


def capitalised(text: str) -> str:
    """The text with a capital first letter."""
    return text[:1].upper() + text[1:]


def _telling(found: Distortion) -> list[Reading]:
    """The readings that speak for the verdict, not against it.

    Of the two ends that may be clipped only the one that is; no blur radius for halos; no JPEG quality that explains
    nothing, and no noise that nobody sees where noise is found elsewhere.
    """
    values = {reading.name: reading.value for reading in found.readings}
    bright = values.get("mean brightness", 0.0) > MIDDLE_GREY
    shadows, highlights = (values.get(name, 0.0) for name in ("clipped shadows", "clipped highlights"))
    measured = (highlights, bright) > (shadows, not bright)
    too_bright = measured if found.direction is None else found.direction == "bright"
    untold = {"clipped shadows" if too_bright else "clipped highlights"}
    if found.category == "Sharpness":
        untold.add("blur radius")
    if not found.is_present:
        untold |= {name for name, limit in _SPEAKS_FOR_IT.items() if values.get(name, 0.0) >= limit}
    if values.get("JPEG quality", 0.0) >= NEARLY_LOSSLESS and found.is_present:
        untold.add("JPEG quality")
    if values.get("noise sigma", 0.0) < VISIBLE_SIGMA and found.is_present:
        untold.add("noise sigma")  # blotches and grain in the dark are not in the even parts it is measured at
    return [reading for reading in found.readings if reading.name not in untold]


def _effect(found: Distortion, language: Language) -> str:
    by_kind = phrase("effects", found.kind or "", language)
    untold = (found.kind or "").replace("_", " ")
    return phrase("effects", found.category, language) if by_kind == untold else by_kind
