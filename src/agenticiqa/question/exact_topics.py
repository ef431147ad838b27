"""Questions that words alone decide: facts of the picture, what to do with it, and what is not measured at all."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from importlib import resources
from typing import Any, cast

import yaml

from agenticiqa.question.answer_options import attribute_of
from agenticiqa.question.late_pattern import LatePattern
from agenticiqa.question.lexicon import Mention, lexicon
from agenticiqa.question.meaning import Attribute, Degree, Draft, Meant
from agenticiqa.question.reader import read
from agenticiqa.question.text import plain_text, written_language

_THING = r"(?:the|my|his|her|our) \w+(?: on the (?:left|right))?"
# Words that look like a word for quality and are none, and what the sentence says without them.
_OTHER_SENSES = (
    (LatePattern(r"^((?:please |can you |could you )?)highlight (?=the |what |any|all |every|its )", re.I), r"\1name "),
    (LatePattern(r" (?:in|with|using) (?:adobe )?(?:lightroom|photoshop|gimp|darktable|capture one)\b", re.I), ""),
    (LatePattern(r"\bfine(?:-grained)? grain\b", re.I), "grain"),
    (LatePattern(r"\bcomplexions?\b", re.I), "skin tone"),
    # A choice between two things, which a yes or a no would not answer.
    (LatePattern(rf"^(?:is|are) it ({_THING}) or ({_THING}) (?:that|which|who) (?:is|are|looks?) ([^,?]+)\?*$", re.I),
     r"Which is \3, \1 or \2?"),
    (LatePattern(rf"^(?:is|are) ({_THING}) or ({_THING}) (?:the )?((?:more|less) [\w ]+|\w+er)\?*$", re.I),
     r"Which is \3, \1 or \2?"),
)  # fmt: skip
_IT = r"(?:it|this|that|these|them|(?:the|this|that|my|our) (?:\w+ )?\w+)"
# What it is to be used for; more than that is no part of the question.
_FOR = r" (?:as|for|on|in|at|from) (?:(?:an? |the |my |our )?(?:[\w-]+ ){0,6}[\w-]+)"
_PICTURE = r"(?:image|picture|photo\w*|pic|shot|file|frame|one|sample|scan)s?"
_THE_PICTURE = rf"(?:it|this|that|them|these|(?:the|this|that|my|our) {_PICTURE})"
_USED = r"(?:published|printed|used|kept|posted|shared|submitted|uploaded|sold|included)"
_DROPPED = r"(?:dropped|removed|deleted|excluded|rejected|discarded|filtered out|retaken|reshot)"
# What somebody wants to do, and what has to be wrong (or right) for a yes.
_DEEDS: tuple[tuple[str, Attribute, Meant, Degree], ...] = (
    (rf"(?:should|must) (?:i|we) brighten {_IT}|does {_IT} need brightening", "dark", "flaw", "visible"),
    (rf"(?:should|must) (?:i|we) darken {_IT}|does {_IT} need darkening", "bright", "flaw", "visible"),
    (rf"(?:should|must) (?:i|we) (?:sharpen|refocus) {_IT}|does {_IT} need sharpening", "blur", "flaw", "visible"),
    (rf"(?:should|must) (?:i|we) de-?noise {_IT}|does {_IT} need de-?noising", "noise", "flaw", "visible"),
    (rf"(?:can|could|may) (?:i|we) (?:publish|print|use|keep|post|share|submit|upload|sell) {_IT}"
     rf"|can {_IT} be (?:published|printed|used|kept|posted|shared|submitted|uploaded|sold)",
     "overall", "fine", "acceptable"),
    (rf"(?:can|could|may|should|shall) (?:i|we) "
     rf"(?:publish|print|use|keep|post|share|submit|upload|sell) {_THE_PICTURE}{_FOR}"
     rf"|(?:can|could|should|may) {_THE_PICTURE} be {_USED}(?:{_FOR})?"
     rf"|is {_THE_PICTURE} (?:worth (?:keeping|publishing|printing|using)|usable)(?:{_FOR})?",
     "overall", "fine", "acceptable"),
    (rf"(?:should|must) (?:i|we) (?:drop|remove|delete|exclude|reject|discard|filter out) {_THE_PICTURE}(?:{_FOR})?"
     rf"|(?:should|must) {_THE_PICTURE} be {_DROPPED}(?:{_FOR})?|is {_THE_PICTURE} (?:unusable|a reject)(?:{_FOR})?",
     "overall", "flaw", "acceptable"),
)  # fmt: skip
_MEND = LatePattern(
    rf"(?:can|could) {_IT} be (?:fixed|repaired|rescued|saved|salvaged|mended|restored|improved)"
    rf"|(?:can|could) (?:i|we|you) (?:fix|repair|rescue|save|salvage|mend|restore) {_IT}"
    rf"|is {_IT} (?:still )?(?:salvageable|fixable|repairable|recoverable|worth saving|beyond (?:repair|saving|hope))"
)
# Whoever would sharpen asks about blur, not about halos.
_BY_SHARPENING = LatePattern(
    r" (?:by|with|through|using) (?:some |a bit of |more )?(?:sharpening|deblurring|refocusing)$"
)
_WITHOUT_SPACES = LatePattern(r"[\u3040-\u30ff\u3400-\u9fff]")


def in_its_usual_sense(text: str) -> str:
    """The text without words that only look like words for quality: "Highlight the flaw", "in Lightroom"."""
    for pattern, instead in _OTHER_SENSES:
        text = pattern.sub(instead, text)
    return text


def exact_question(text: str) -> Draft | None:
    """The question, where its words leave nothing to guess; None for every other one."""
    plain = plain_text(text)
    return _of_fact(text, plain) or _of_the_unmeasured(text, plain) or _of_deed(text, plain)


def with_named_kind(question: Draft) -> Draft:
    """A question that names one kind of damage is about the category of that kind, whatever it was taken for."""
    if question.intent not in ("yesno", "degree") or question.kind is None:
        return question
    named = {cast(Mention, found.meaning) for found in lexicon().matches(question.stem.lower(), "distortions")}
    if len(named) != 1 or (mention := named.pop()).neutral or mention.absent:
        return question
    return replace(question, attribute=attribute_of(mention))


def _of_fact(text: str, plain: str) -> Draft | None:
    grey, colour = (_found(group, plain) for group in ("grey", "in_colour"))
    if (grey or colour) and not _names_a_distortion(plain, "grey", "in_colour"):
        meant: Meant | None = None if grey and colour else "flaw" if grey else "fine"
        return replace(_plainly(text, "measure"), fact="grey", yes_means=meant, form="yesno" if meant else "word")
    if _found("tint", plain):
        return replace(_plainly(text, "measure"), fact="tint", attribute="colour")
    is_value = _found("size_is_a_value", plain) or len(plain.split()) < 3
    if _found("size", plain) and is_value and not _found("size_is_a_flaw", plain):
        return None if _names_a_distortion(plain, "size") else replace(_plainly(text, "measure"), fact="size")
    return None


def _of_the_unmeasured(text: str, plain: str) -> Draft | None:
    for name in _unmeasured():
        if _found(name, plain) and not _names_a_distortion(plain, name):
            return replace(_plainly(text, "decline"), attribute="none", unmeasured=name)
    return None


def _of_deed(text: str, plain: str) -> Draft | None:
    asked = re.sub(r"^(?:so|and|well|ok|please|hey),? |[\s?.!]+$", "", plain)
    for pattern, attribute, yes_means, degree in _DEEDS:
        if re.fullmatch(pattern, asked):
            question = _plainly(text, "yesno")
            return replace(question, attribute=attribute, yes_means=yes_means, degree=degree, form="yesno")
    without = _BY_SHARPENING.sub("", asked)
    if without != asked and _MEND.fullmatch(without):
        return replace(_plainly(text, "advice"), attribute="blur")
    return _plainly(text, "advice") if _MEND.fullmatch(asked) else None


def _plainly(text: str, intent: str) -> Draft:
    language = written_language(text, read(text).language)
    return Draft(text=text, stem=text, language=language, intent=intent)  # type: ignore[arg-type]


def _names_a_distortion(plain: str, *topics: str) -> bool:
    """Whether something beside these topics is asked that is measured: "Is the watermark blurry?"."""
    taken = [match.span() for topic in topics for match in _pattern(topic).finditer(plain)]
    found = lexicon().matches(plain, "distortions")
    return any(not any(start <= each.start and each.end <= end for start, end in taken) for each in found)


def _found(topic: str, plain: str) -> bool:
    return bool(_pattern(topic).search(plain))


@lru_cache(maxsize=64)
def _pattern(topic: str) -> re.Pattern[str]:
    """The words of a topic: whole ones, but anywhere in a language that has no spaces."""
    words = _topics()[topic].strip()
    return re.compile(rf"(?<![^\W\d_])(?:{words})(?![^\W\d_])|{_spaceless(words)}", re.IGNORECASE)


def _spaceless(words: str) -> str:
    return "|".join(word for word in words.split("|") if _WITHOUT_SPACES.search(word)) or "(?!)"


@lru_cache(maxsize=1)
def _topics() -> dict[str, str]:
    """The words of every topic, measured or not."""
    loaded = dict(_loaded())
    return {**loaded.pop("not_measured"), **loaded}


def _unmeasured() -> tuple[str, ...]:
    return tuple(_loaded()["not_measured"])


@lru_cache(maxsize=1)
def _loaded() -> dict[str, Any]:
    text = (resources.files("agenticiqa.question") / "exact_topics.yaml").read_text(encoding="utf-8")
    loaded: dict[str, Any] = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return loaded
