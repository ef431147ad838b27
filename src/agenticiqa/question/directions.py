"""Which way and which kind of flaw a question names: too blue, too contrasty, faded, shaken.

What was found the other way is then no yes: of an orange cast "Is it too blue?" is a no.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from importlib import resources
from typing import Any, cast

import yaml

from agenticiqa.question.late_pattern import LatePattern
from agenticiqa.question.meaning import Attribute, Draft, Tint

_TOO = (
    r"(?:too|overly|a bit|a little|slightly|kinda|kind of|sort of|somewhat|rather|zu|demasiado|muy|algo|trop|un peu"
    r"|muito)"
)
_CAST = r"(?:(?:colou?r )?(?:cast|tint|tinge|tone|hue|shift|bias|lean)s?|(?:farb)?stich|dominante|tinte|teinte|matiz)"
_TOWARDS = (
    r"(?:(?:to|towards?|into|on) (?:the )?|(?:lean|skew|tilt|go|drift|shift|pull|turn)(?:s|ed|ing)? (?:a bit |too )?"
    r"|tira (?:a|al|hacia el) |tire (?:vers|sur) le |(?:puxad\w+|puxa|tende) (?:para|pro) o |richtung |ins )"
)
_PICTURE = r"(?:image|picture|photo|shot|white balance|whites|colou?rs?|skin)"
# Words that may turn a question; with one of them it is not taken for certain what a yes means.
_TURNING = LatePattern(
    r"\b(?:not?|never|without|free|isn't|aren't|doesn't|don't|hardly|nothing|kein\w*|nicht|ohne|sin|no|sans|pas|sem|não)\b"
    r"|n't|[没无無]|不(?!是)|ない"
)
_SHORT = 6


def with_direction(question: Draft) -> Draft:
    """The question with the kind of flaw, or the colors of a cast, that it names; as it is where it names none."""
    if question.choices or question.intent not in ("yesno", "degree", "unclear", "decline", "score"):
        return question
    text = question.stem.lower()
    if tints := _tints(text):
        named: tuple[str, Attribute] | None = ("color_cast", "colour")
    else:
        named = _kind(text)
    if named is None:
        return question
    kind, attribute = named
    if question.attribute == attribute and not question.is_declined:
        return replace(question, kind=kind, tints=tints)
    return _certainly(replace(question, attribute=attribute, kind=kind, tints=tints), question)


def _certainly(named: Draft, read: Draft) -> Draft:
    """The question as one for the flaw it names, where the reader was in doubt and no word turns it."""
    is_short = len(read.stem.split()) <= _SHORT and read.unmeasured is None
    in_doubt = read.intent == "unclear" or (read.intent == "decline" and is_short) or read.intent == "yesno"
    # What is denied inside the words for the kind ("not focused") turns nothing.
    rest = read.stem.lower() if named.tints else _kind_pattern(named.kind or "").sub(" ", read.stem.lower())
    if not in_doubt or _TURNING.search(rest):
        return read
    return replace(named, intent="yesno", yes_means="flaw", form="yesno", degree="visible", doubts=())


def _kind(text: str) -> tuple[str, Attribute] | None:
    """The one kind a text names, with its attribute; None where it names none, or two."""
    named = [kind for kind in _words()["kinds"] if _kind_pattern(kind).search(text)]
    return (named[0], cast(Attribute, _words()["kinds"][named[0]]["attribute"])) if len(named) == 1 else None


def tints_alone(text: str) -> tuple[Tint, ...]:
    """The color that lower-case text is, with nothing but a word for a cast beside it: "bluish", "a green tint"."""
    return tuple(tint for tint in _words()["tints"] if _alone_pattern(tint).fullmatch(text))


def _tints(text: str) -> tuple[Tint, ...]:
    return tuple(tint for tint in _words()["tints"] if _tint_pattern(tint).search(text))


@lru_cache(maxsize=16)
def _kind_pattern(kind: str) -> re.Pattern[str]:
    return re.compile(_words()["kinds"][kind]["words"])


@lru_cache(maxsize=16)
def _tint_pattern(tint: str) -> re.Pattern[str]:
    words = _words()["tints"][tint]
    names, touch, signs = (words[group] for group in ("names", "touch", "signs"))
    other = r"(?:\w+ (?:or|and|oder|o|ou|y|et) (?:the )?)?"
    return re.compile(
        rf"\b{_TOO} (?:\w+ )?(?:{names})\b|\b(?:{names})[ -](?:or \w+[ -])?(?:{_CAST}|side)|\b(?:{names}){_CAST}"
        rf"|\b{_CAST}\b(?: \w+){{0,2}} (?:{names})\b|\b(?:{touch})\b|\bhow (?:{names}) (?:is|are|does|do)\b"
        rf"|{_TOWARDS}{other}(?:{names})\b"
        rf"|\b(?:is|looks?|are) (?:it|everything|(?:the|this|that|my) {_PICTURE}) (?:{names})\b"
        rf"|(?:偏|发|泛|太|带)(?:有点|点)?(?:{signs})|(?:{signs})色?(?:调|偏|っぽ|み|かぶり|すぎ)"
    )


@lru_cache(maxsize=16)
def _alone_pattern(tint: str) -> re.Pattern[str]:
    words = _words()["tints"][tint]
    return re.compile(
        rf"(?:an? |the |too |{_TOO} )*(?:{words['names']}|{words['touch']})(?:[ -]{_CAST}|er)?"
        rf"|(?:偏|发|泛|太|有点)*(?:{words['signs']})(?:色|色调|色偏|っぽい|かぶり)?"
    )


@lru_cache(maxsize=1)
def _words() -> dict[str, Any]:
    text = resources.files("agenticiqa.question").joinpath("directions.yaml").read_text(encoding="utf-8")
    words: dict[str, Any] = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return words
