"""The rule language, read by recursive descent.

    rule        = any_of
    any_of      = all_of { "or" all_of }
    all_of      = term { "and" term }
    term        = "not" term | [ object ":" ] ( "(" any_of ")" | comparison )
    comparison  = name operator value | adjective
    operator    = "<" | "<=" | ">" | ">=" | "==" | "=" | "!="
    value       = number [ "%" | "dB" | "px" ] | severity | level

A severity goes with a distortion and a level with a score; what is measured takes a number.
An object's name and a measurement's name may have several words; case, hyphens and underscores do not matter.
`5 %` is 0.05; dB and px are what is measured in anyway.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from agenticiqa.errors import RuleError
from agenticiqa.question.distortion_words import word_for
from agenticiqa.state import (
    DISTORTION_CATEGORIES,
    LEVEL_NAMES,
    LEVEL_SCORES,
    SEVERITIES,
    canonical_category,
    canonical_severity,
)

Operator = Literal["<", "<=", ">", ">=", "==", "!="]
OPERATORS: dict[str, Operator] = {"<": "<", "<=": "<=", ">": ">", ">=": ">=", "==": "==", "=": "==", "!=": "!="}

# An adjective alone is a comparison: what is less than moderately blurred is sharp.
ADJECTIVES: dict[str, tuple[str, Operator, str]] = {
    "sharp": ("blur", "<", "moderate"),
    "in focus": ("blur", "<", "moderate"),
    "blurred": ("blur", ">=", "moderate"),
    "blurry": ("blur", ">=", "moderate"),
    "noisy": ("noise", ">=", "moderate"),
    "found": ("found", "==", "1"),
    "missing": ("found", "==", "0"),
}
# What severities are compared with, and what levels are: the field of an assessment that each name stands for.
FLAWS = ("blur", "noise", "compression", "brightness", "contrast", "color", "sharpness")
SCORES = {"score": "score", "tool score": "tool_score", "model score": "model_score", "level": "score"}
LEVEL_VALUES = {str(name).casefold(): float(LEVEL_SCORES[letter]) for letter, name in LEVEL_NAMES.items()}

_TOKEN = re.compile(
    r"\s*(?:(?P<operator><=|>=|==|!=|<|>|=)"
    r"|(?P<number>[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:\s*%|\s*(?i:dB|px)\b)?)"
    r"|(?P<mark>[():])"
    r"|(?P<word>[^\W\d][\w.-]*))"
)
_JOINING = ("and", "or", "not")


@dataclass(frozen=True)
class Comparison:
    """One measurement held against a value; `place` is the object it is taken on, None for the whole image.

    `value` is a number, or the step of a severity word (0 for none to 4 for extreme) if `by_severity`.
    """

    place: str | None
    name: str
    operator: Operator
    value: float
    shown: str
    by_severity: bool = False

    def __str__(self) -> str:
        return f"{self.place}: {self.shown}" if self.place else self.shown


@dataclass(frozen=True)
class Negation:
    part: Rule


@dataclass(frozen=True)
class Joined:
    by: Literal["and", "or"]
    parts: tuple[Rule, ...]


Rule = Comparison | Negation | Joined


def parse_rule(text: str) -> Rule:
    """The rule a text spells; RuleError says what was expected and where."""
    return _Parser(text).rule()


def comparisons(rule: Rule) -> Iterator[Comparison]:
    """Every comparison of a rule, in the order they are written."""
    if isinstance(rule, Comparison):
        yield rule
    elif isinstance(rule, Negation):
        yield from comparisons(rule.part)
    else:
        for part in rule.parts:
            yield from comparisons(part)


def objects_of(rule: Rule) -> tuple[str, ...]:
    """The objects that have to be located before the rule can be judged, each once."""
    return tuple(dict.fromkeys(each.place for each in comparisons(rule) if each.place is not None))


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(self._split())
        self._at = 0

    def rule(self) -> Rule:
        if not self._tokens:
            raise self._wrong("a rule such as `score < 3.5`")
        rule = self._any_of(None)
        if self._at < len(self._tokens):
            raise self._wrong("`and`, `or` or the end")
        return rule

    def _split(self) -> Iterator[tuple[str, str]]:
        position, end = 0, len(self._text.rstrip())
        while position < end:
            match = _TOKEN.match(self._text, position)
            if match is None or match.lastgroup is None:
                raise RuleError(f"rule {self._text!r}: cannot read {self._text[position:].strip()!r}; {_EXAMPLES}")
            yield match.lastgroup, match.group(match.lastgroup)
            position = match.end()

    def _any_of(self, place: str | None) -> Rule:
        return self._joined("or", lambda: self._joined("and", lambda: self._term(place)))

    def _joined(self, by: Literal["and", "or"], read: Callable[[], Rule]) -> Rule:
        parts = [read()]
        while self._take_word(by):
            parts.append(read())
        return parts[0] if len(parts) == 1 else Joined(by, tuple(parts))

    def _term(self, place: str | None) -> Rule:
        if self._take_word("not"):
            return Negation(self._term(place))
        if self._peek() == ("mark", "("):
            return self._group(place)
        words = self._words()
        if self._peek() == ("mark", ":"):
            self._at += 1
            name = " ".join(words)
            return self._group(name) if self._peek() == ("mark", "(") else self._comparison(name, self._words())
        return self._comparison(place, words)

    def _group(self, place: str | None) -> Rule:
        self._at += 1
        inside = self._any_of(place)
        if self._peek() != ("mark", ")"):
            raise self._wrong("`)`")
        self._at += 1
        return inside

    def _words(self) -> list[str]:
        words: list[str] = []
        while self._peek()[0] == "word" and self._peek()[1].casefold() not in _JOINING:
            words.append(self._peek()[1])
            self._at += 1
        if not words:
            raise self._wrong("the name of a measurement or an object")
        return words

    def _comparison(self, place: str | None, words: list[str]) -> Comparison:
        name = " ".join(words)
        if self._peek()[0] != "operator":
            return self._adjective(place, name)
        operator = OPERATORS[self._peek()[1]]
        self._at += 1
        kind, written = self._peek()
        value, by_severity = self._value(kind, written)
        self._at += 1
        if kind == "word" and not (category_of(name) if by_severity else folded(name) in SCORES):
            raise RuleError(f"rule {self._text!r}: {written!r} cannot be compared with {name!r}; {_words_for(name)}")
        shown = f"{name} {operator} {SEVERITIES[int(value)] if by_severity else written}"
        return Comparison(place, folded(name), operator, value, shown, by_severity)

    def _value(self, kind: str, written: str) -> tuple[float, bool]:
        """The number, and whether it is the step of a severity word."""
        if kind == "number":
            return float(written.rstrip(" %dDbBpPxX")) / (100 if written.endswith("%") else 1), False
        severity = canonical_severity(written)
        if kind == "word" and severity in SEVERITIES:
            return float(SEVERITIES.index(severity)), True
        if kind == "word" and written.casefold() in LEVEL_VALUES:
            return LEVEL_VALUES[written.casefold()], False
        raise self._wrong(f"a number, a severity ({', '.join(SEVERITIES)}) or a level ({', '.join(LEVEL_VALUES)})")

    def _adjective(self, place: str | None, name: str) -> Comparison:
        if name.casefold() not in ADJECTIVES:
            raise self._wrong(f"a comparison after {name!r}, or one of: {', '.join(ADJECTIVES)}")
        measured, operator, written = ADJECTIVES[name.casefold()]
        value, by_severity = self._value("number" if written.isdigit() else "word", written)
        return Comparison(place, measured, operator, value, name, by_severity)

    def _peek(self) -> tuple[str, str]:
        return self._tokens[self._at] if self._at < len(self._tokens) else _END

    def _take_word(self, word: str) -> bool:
        taken = self._peek()[0] == "word" and self._peek()[1].casefold() == word
        self._at += taken
        return taken

    def _wrong(self, expected: str) -> RuleError:
        return RuleError(f"rule {self._text!r}: expected {expected}, found {self._peek()[1]!r}; {_EXAMPLES}")


_END = ("end", "the end")
_EXAMPLES = "examples: `score < 3.5`, `blur >= moderate`, `face: sharp`, `SSIM < 0.95`"


def _words_for(name: str) -> str:
    close = [] if category_of(name) else flaws_like(name)
    hint = f"did you mean {', '.join(close)}? " if close else ""
    return (
        f"{hint}severities ({', '.join(SEVERITIES)}) go with {', '.join(FLAWS)}; levels ({', '.join(LEVEL_VALUES)}) "
        f"with {', '.join(SCORES)}; all else takes a number"
    )


def flaws_like(name: str) -> list[str]:
    """The distortions a name may mean: the one it is a kind of (underexposure), else those spelled like it (blurr)."""
    kind = word_for(name)
    kinds = [flaw for flaw in FLAWS if kind and category_of(flaw) == kind.category]
    return kinds or difflib.get_close_matches(folded(name), FLAWS, 3)


def category_of(name: str) -> str | None:
    """The distortion category a rule's name stands for, or None if it names something else."""
    category = canonical_category(name)
    return str(category) if category in DISTORTION_CATEGORIES else None


def folded(name: str) -> str:
    """A name without its case, hyphens and underscores."""
    return re.sub(r"[\s_-]+", " ", name).strip().casefold()
