"""What a distortion is called, how strong it is said to be, what it looks like, and how its absence is told.

Besides, how sentences are put together in a language.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agenticiqa.limits import IN_FOCUS
from agenticiqa.state import SEVERITIES, UNABLE, DistortionCategory, Severity
from agenticiqa.values import CATEGORY_OF, MIDDLE_GREY, Attribute, Distortion, Language, Reading
from agenticiqa.wording.phrases import known, phrase, say

# From this JPEG quality on a file shows no trace of JPEG that could explain its compression.
NEARLY_LOSSLESS = 99
# Below this many grey levels a measured noise is none that a person sees.
VISIBLE_SIGMA = 3.0
# From here on a measurement speaks for the distortion it belongs to, and not for its absence.
_SPEAKS_FOR_IT = {"blur radius": 1.5, "noise sigma": 12.0, "blockiness": 2.0}
MOST_READINGS = 2


def named(found: Distortion, language: Language) -> str:
    """A distortion in a few words, and that it is not there where it is not: "severe motion blur"."""
    if not found.is_present:
        return absence(found.attribute, language)
    return _with_severity(found.severity, kind_name(found, language), found.kind or "", found.attribute, language)


def strength_in_words(attribute: Attribute, severity: int, language: Language) -> str:
    """How much of what was asked for is there: "slight noise"."""
    name = phrase("attributes", attribute, language)
    return _with_severity(SEVERITIES[max(1, severity)], name, "", attribute, language)


def absence(attribute: Attribute, language: Language, excepted: Sequence[DistortionCategory] = ()) -> str:
    """That nothing of what was asked for is to be seen."""
    if excepted:
        names = listed((category_name(name, language) for name in excepted), language)
        return say("nothing_else", language, categories=names)
    if attribute not in CATEGORY_OF:
        return phrase("words", "clean", language)
    return say("none_of", language, categories=phrase("attributes", attribute, language))


def kind_name(found: Distortion, language: Language) -> str:
    """The colour of a cast or the finer kind where it is known, else the category."""
    if found.colour:
        return phrase("casts", found.colour, language)
    return phrase("kinds", found.kind, language) if found.kind else category_name(found.category, language)


def category_name(category: DistortionCategory, language: Language) -> str:
    """A category inside a sentence: German nouns keep their capital."""
    name = phrase("categories", category, language)
    return name if language == "de" else name.lower()


def _with_severity(severity: Severity, name: str, kind: str, attribute: Attribute, language: Language) -> str:
    """A flaw with its severity, the adjective inflected as the name wants it."""
    ending = known("endings", kind, language) or known("endings", attribute, language) or ""
    return say("named", language, severity=phrase("severities", severity, language) + ending, kind=name)


def described(found: Distortion, language: Language) -> str:
    """What a distortion looks like, with its measurements in human units and how sure it is."""
    readings = [reading_in_words(reading, language) for reading in _telling(found)[:MOST_READINGS]]
    if not found.is_present:
        told = listed([say("no_sign", language), *readings], language)
        return say("sure", language, told=told, sure=percent(1 - found.probability, language))
    seen = listed([*([phrase("kinds", found.kind, language)] if found.kind else []), *readings], language)
    effect = known("effects", found.kind or "", language) or phrase("effects", found.category, language)
    told = capitalised(labelled(seen, effect, language) if seen else effect)
    return say("sure", language, told=told, sure=percent(found.probability, language))


def finding_in_words(found: Distortion, place: str | None, language: Language) -> str:
    """A finding with its severity, its place where it has one, and what it looks like."""
    what = phrase("categories", found.category, language)
    if place is not None:
        what = say("in_place", language, what=what, place=place_name(place, language))
    severity = phrase("severities", found.severity, language)
    told = found.words or described(found, language)
    return labelled(say("with_remark", language, word=what, remark=severity), told, language)


def place_name(name: str, language: Language) -> str:
    """A place or a thing as the question calls it, or by its name where it is one of ours."""
    told = phrase("places", name, language)
    return capitalised(told) if language == "de" and told == name else told


def unlocated(name: str, seen: str, language: Language) -> str:
    """That a named thing could not be located, what is seen instead, and that the whole image is described."""
    instead = say("seen_instead", language, things=seen) if seen else ""
    return say("unlocated", language, name=place_name(name, language), seen=instead)


def not_found(name: str, language: Language, *, is_all: bool, seen: str = "") -> str:
    """That a thing the question names is not in the picture, what is, and what the rest is about where it is all."""
    parts = [say("not_found", language, name=place_name(name, language))]
    parts += [say("of_whole", language)] if is_all else []
    parts += [say("seen_there", language, things=seen)] if seen else []
    return sentences(parts, language)


def advice(category: DistortionCategory, kind: str | None, language: Language) -> str:
    """What to do about a distortion, by its kind where that changes the advice."""
    return known("advice", kind or "", language) or phrase("advice", category, language)


def reading_in_words(reading: Reading, language: Language) -> str:
    """A measurement with its unit: "blur radius 2.4 px"."""
    return f"{phrase('readings', reading.name, language)} {amount_in_words(reading, language)}"


def amount_in_words(reading: Reading, language: Language) -> str:
    """A measured number with its unit: "2.4 px"."""
    unit = phrase("units", reading.unit, language) if reading.unit else ""
    close = unit == "%" and not phrase("marks", "gap", language)
    return f"{reading.value:.3g}{'' if close or unit.startswith('（') else ' '}{unit}".rstrip()


def sentence(text: str, language: Language) -> str:
    """The text as a sentence."""
    return capitalised(text) + phrase("marks", "stop", language)


def sentences(parts: Iterable[str], language: Language) -> str:
    """Sentences one after the other."""
    return phrase("marks", "gap", language).join(parts)


def labelled(label: str, text: str, language: Language) -> str:
    """The text after a label: "Dog: blur radius 2 px"."""
    return f"{label}{phrase('marks', 'colon', language)}{text}"


def chosen_in_words(names: Sequence[str]) -> str:
    """The image that was asked for, that several are level, or that none could be told."""
    if not names:
        return f"{UNABLE}: no image has a score"
    return names[0] if len(names) == 1 else f"no clear difference between {', '.join(names)}"


def listed(parts: Iterable[str], language: Language) -> str:
    """Members of a list in one sentence."""
    return phrase("marks", "comma", language).join(parts)


def joined(parts: Iterable[str], language: Language) -> str:
    """Statements one after the other."""
    return phrase("marks", "joined", language).join(parts)


def percent(share: float, language: Language) -> str:
    """A share in percent."""
    return f"{100 * share:.0f}{phrase('marks', 'percent', language)}"


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
    # Halos have no blur radius, nor has motion along edges that stay sharp.
    if found.category == "Sharpness" or (found.is_present and values.get("blur radius", IN_FOCUS) < IN_FOCUS):
        untold.add("blur radius")
    if not found.is_present:
        untold |= {name for name, limit in _SPEAKS_FOR_IT.items() if values.get(name, 0.0) >= limit}
    if values.get("JPEG quality", 0.0) >= NEARLY_LOSSLESS and found.is_present:
        untold.add("JPEG quality")
    if values.get("noise sigma", 0.0) < VISIBLE_SIGMA and found.is_present:
        untold.add("noise sigma")  # blotches and grain in the dark are not in the even parts it is measured at
    return [reading for reading in found.readings if reading.name not in untold]
