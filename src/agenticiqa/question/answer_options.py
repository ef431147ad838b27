"""What the options of a question say, each by itself and in the light of what is asked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib import resources
from typing import Literal, cast

import yaml

from agenticiqa.question.composition import composed_polarity
from agenticiqa.question.directions import tints_alone
from agenticiqa.question.late_pattern import LatePattern
from agenticiqa.question.lexicon import Mention, lexicon
from agenticiqa.question.meaning import CATEGORY_OF, Attribute, Meant, OptionMeaning
from agenticiqa.question.reader import Reading, read
from agenticiqa.question.text import Language, normalise
from agenticiqa.state import LEVEL_SCORES, SEVERITIES, DistortionCategory

_LIGHT: tuple[Attribute, ...] = ("dark", "bright", "exposure")
_DENIED = LatePattern(
    r"[- ]free\b|anything but|far from|alles andere als"
    r"|\b(?:kein\w*|nicht|ohne|sin|sans|sem|pas|aucune?)\b|ない|なし|ません",
    re.IGNORECASE,
)
# An option read by the network counts when attribute and polarity are at least this likely.
SURE = 0.7
_JOINED = LatePattern(
    r"\s*(?:,|;|\band\b|(?<!anything )\bbut\b|\bwith\b|\bund\b|\by\b|\bet\b|\be\b|&|\+"
    r"|但是?|而且|且|又|和|でも|が、)\s*"
)
_ATTRIBUTE_OF: dict[DistortionCategory, Attribute] = {
    "Blurs": "blur", "Noise": "noise", "Compression": "compression", "Brightness change": "exposure",
    "Contrast": "contrast", "Color distortions": "colour", "Sharpness": "oversharp",
}  # fmt: skip
_BARE_NAMES: dict[str, Attribute] = {
    "colour": "colour", "color": "colour", "colours": "colour", "colors": "colour", "white balance": "colour",
    "exposure": "exposure", "brightness": "exposure", "light": "exposure", "lighting": "exposure",
    "contrast": "contrast", "focus": "blur", "sharpness": "blur", "detail": "blur", "compression": "compression",
    "颜色": "colour", "色彩": "colour", "曝光": "exposure", "亮度": "exposure", "对比度": "contrast", "对焦": "blur",
}  # fmt: skip
_BY_KIND: dict[str, Attribute] = {"darken": "dark", "brighten": "bright"}


def read_options(choices: Mapping[str, str], asked: Attribute, language: Language) -> dict[str, OptionMeaning]:
    """The meaning of every option by its label; `asked` is what the question is about."""
    read_all = {label: read_option(text, asked, language) for label, text in choices.items()}
    if sum(meaning.truth is not None for meaning in read_all.values()) == 1:
        # "Underexposed, overexposed or correct": a lone "correct" is praise, not a yes.
        read_all = {label: read_option(text, asked, language, truths=False) for label, text in choices.items()}
    if any(meaning.says == "flaw" and meaning.attribute for meaning in read_all.values()):
        return {label: _as_one_of_flaws(choices[label], meaning) for label, meaning in read_all.items()}
    return read_all


def _as_one_of_flaws(text: str, meaning: OptionMeaning) -> OptionMeaning:
    """Among flaws the bare name of something stands for what may be wrong with it: "blur, noise or colour?"."""
    attribute = _BARE_NAMES.get(text.lower().strip(" .,;?!").removeprefix("the "))
    return OptionMeaning(attribute=attribute, says="flaw") if attribute and meaning == OptionMeaning() else meaning


def read_option(
    text: str, asked: Attribute = "overall", language: Language = "en", *, truths: bool = True
) -> OptionMeaning:
    """What an option says; grades ("good", "slight", "low") are of what the question asks about."""
    plain = normalise(text).lower().strip(" .。,;!?\"'")
    words = lexicon()
    truth, rest = _truth(plain) if truths else (None, plain)
    if any(words[group].is_whole(part) for group in ("nothing", "option_nothing") for part in (rest, plain)):
        return OptionMeaning(nothing=True, severity=0.0, truth=truth)
    if words["both"].is_whole(plain):
        return OptionMeaning(all_of_them=True)
    if truth is not None and not rest:
        return OptionMeaning(truth=truth)
    if re.fullmatch(r"[1-5](?:\.\d)?", rest):
        return OptionMeaning(level=float(rest), truth=truth)
    if asked == "colour" and (tints := tints_alone(rest)):
        return OptionMeaning(attribute="colour", says="flaw", kind="color_cast", truth=truth, tints=tints)
    claims = _claims(rest, asked, language)
    severity, level, amount = _severity(rest), _level(rest), _amount(rest)
    attribute, says = claims[0] if claims else (None, None)
    if attribute is not None and (severity == 0.0 or (says == "flaw" and (level or 0) >= LEVEL_SCORES["B"])):
        says = "fine"  # "no noise at all", "good JPEG quality"
    elif says == "fine" and level is not None and level <= LEVEL_SCORES["D"]:
        says = "flaw"  # "poor sharpness"
    if attribute is None and severity is None and level is None and amount is None:
        attribute, says, level = _in_view_of(rest, asked, language)
    return OptionMeaning(
        attribute=attribute,
        says=says,
        kind=_kind(rest) if says == "flaw" else None,
        severity=severity,
        level=level,
        amount=amount,
        truth=truth,
        place=_place(rest),
        relation=_relation(rest),
        side=_side(rest),
        attributes=tuple(claims) if len(claims) > 1 else (),
    )


def _in_view_of(text: str, asked: Attribute, language: Language) -> tuple[Attribute | None, Meant | None, float | None]:
    """What an option that names nothing says of what is asked: "fine", "不明显", "a disaster"."""
    composed = composed_polarity(text, language) or (-1.0 if lexicon()["negations"].found_in(text) else 0.0)
    if not composed:
        return None, None, None
    if asked in CATEGORY_OF:
        return asked, "flaw" if composed > 0 else "fine", None
    return None, None, LEVEL_SCORES["D" if composed > 0 else "B"]


def _truth(text: str) -> tuple[bool | None, str]:
    """Whether the option is, or starts as, a yes or a no, and what follows it."""
    answers = {answer: (lexicon().answers[answer], lexicon().option_answers[answer]) for answer in ("yes", "no")}
    head, rest = ([*re.split(r"\s*[,;:.—–]\s*|\s-\s", text, maxsplit=1), ""])[:2]
    for answer in ("yes", "no"):
        if any(terms.is_whole(text) for terms in answers[answer]):
            return answer == "yes", ""
        if rest and any(terms.is_whole(head) for terms in answers[answer]):
            return answer == "yes", rest
    return None, text


def _claims(text: str, asked: Attribute, language: Language) -> list[tuple[Attribute, Meant]]:
    """The attributes an option makes claims about, read part by part."""
    parts = [part for part in _JOINED.split(text) if part.strip()] or [text]
    if {each[0][0] for each in _named(text, language)} >= {"dark", "bright"}:
        return [("exposure", "flaw")]
    found = list(dict.fromkeys(claim for part in parts if (claim := _claim(part, asked, language))))
    if len({attribute for attribute, _ in found}) > 1:
        return found
    whole = _claim(text, asked, language)
    return [whole] if whole else found


def _claim(text: str, asked: Attribute, language: Language) -> tuple[Attribute, Meant] | None:
    """The attribute of the longest known word, one of what is asked first, and whether it is claimed or denied."""
    kin = _LIGHT if asked in _LIGHT else (asked,)
    found = max(_named(text, language), key=lambda match: (match[0][0] in kin, match[2] - match[1]), default=None)
    if found is None:
        return _read_claim(read(text))
    (attribute, says), start, end = found
    rest = text[:start] + " " + text[end:]
    negated = len(lexicon()["negations"].spans(rest)) % 2 == 1 or bool(_DENIED.search(rest))
    return attribute, ("fine" if says == "flaw" else "flaw") if negated else says


def _named(text: str, language: Language) -> Iterator[tuple[tuple[Attribute, Meant], int, int]]:
    for tongue in dict.fromkeys((language, "en")):
        for meaning, pattern in _attribute_words(tongue).items():
            yield from ((meaning, *match.span()) for match in pattern.finditer(text))
    for match in lexicon().matches(text, "distortions"):
        mention = match.meaning
        if not mention.neutral:
            yield (attribute_of(mention), "fine" if mention.absent else "flaw"), match.start, match.end


def attribute_of(mention: Mention) -> Attribute:
    """The attribute a distortion named in a text belongs to."""
    return _BY_KIND.get(mention.kind or "", _ATTRIBUTE_OF[mention.category])


@lru_cache(maxsize=8)
def _attribute_words(language: Language) -> dict[tuple[Attribute, Meant], re.Pattern[str]]:
    file = resources.files("agenticiqa.question").joinpath("attributes.yaml")
    data = yaml.load(file.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    whole = "(?:{})" if language in ("zh", "ja") else r"(?<!\w)(?:{})(?!\w)"
    return {
        (attribute, says): re.compile(whole.format("|".join(sorted(map(re.escape, words), key=len, reverse=True))))
        for attribute, by_claim in data[language].items()
        for says, words in by_claim.items()
    }


def _read_claim(reading: Reading) -> tuple[Attribute, Meant] | None:
    attribute, says = reading.best("attribute"), reading.best("yes_means")
    if attribute not in CATEGORY_OF or min(reading.sure("attribute"), reading.sure("yes_means")) < SURE:
        return None
    return attribute, cast(Meant, says)


def _severity(text: str) -> float | None:
    found = [match.meaning for match in lexicon().matches(text, "severities", "option_severities")]
    return float(SEVERITIES.index(found[0])) if found else None


def _level(text: str) -> float | None:
    named = [LEVEL_SCORES[match.meaning] for match in lexicon().matches(text, "levels", "option_levels")]
    return sum(named) / len(named) if named else None


def _amount(text: str) -> Literal["low", "medium", "high"] | None:
    found = [match.meaning for match in lexicon().matches(text, "amounts", "option_amounts")]
    return cast('Literal["low", "medium", "high"] | None', found[0] if found else None)


def _kind(text: str) -> str | None:
    return next((match.meaning.kind for match in lexicon().matches(text, "distortions") if match.meaning.kind), None)


def _place(text: str) -> str | None:
    return next((match.meaning for match in lexicon().matches(text, "places")), None)


def _relation(text: str) -> Literal["better", "worse", "same"] | None:
    if lexicon()["equal"].found_in(text):
        return "same"
    return next((match.meaning for match in lexicon().matches(text, "relations")), None)


def _side(text: str) -> Literal["test", "reference"] | None:
    found = [match.meaning for match in lexicon().matches(text, "sides")]
    return cast('Literal["test", "reference"] | None', found[0] if found else None)
