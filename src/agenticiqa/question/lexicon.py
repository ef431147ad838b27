"""The words of image quality in English and Chinese, from `lexicon.yaml`, and the names of tools, found in text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from importlib import resources
from typing import Any, cast

import yaml

from agenticiqa.question.late_pattern import LatePattern
from agenticiqa.state import DistortionCategory, LevelLetter, Severity

_REFUSED = LatePattern(r"(?:not|n't|never|without|不要?|别)\s*(?:use|using|使用|用)?\s*(?:the\s+)?$", re.IGNORECASE)
_LIKE_A_TOOL = LatePattern(r"[A-Z][A-Za-z0-9]*(?:[-_][A-Za-z0-9]+)*[A-Z0-9][A-Za-z0-9]*")
_SUFFIXED = LatePattern(r"_(?:FR|NR)$")


@dataclass(frozen=True)
class Mention:
    """A distortion named in a text; `absent` when the word claims it is not there ("sharp")."""

    category: DistortionCategory
    kind: str | None = None
    absent: bool = False
    neutral: bool = False
    """Set for nouns like "contrast" that are neither praise nor blame; claims resolve it."""


@dataclass(frozen=True)
class Match:
    """Where a term of some group was found, and what it stands for."""

    group: str
    meaning: Any
    start: int
    end: int

    @property
    def span(self) -> tuple[int, int]:
        """Where it begins and ends."""
        return self.start, self.end


class Terms:
    """Words that mean one thing, in both languages."""

    def __init__(self, en: list[str] | None = None, zh: list[str] | None = None) -> None:
        self._english = en or ["(?!)"]
        # In an alternation the first fit wins: the longest word has to come first.
        self._chinese = sorted(zh or [], key=len, reverse=True)

    # Compiled when first needed: no question needs all groups, and all of them take a quarter of a second.
    @cached_property
    def _in_english(self) -> re.Pattern[str]:
        return re.compile(f"(?<![a-z0-9_])(?:{'|'.join(self._english)})(?![a-z0-9_])", re.ASCII)

    @cached_property
    def _in_chinese(self) -> re.Pattern[str]:
        return re.compile("|".join(self._chinese) or "(?!)")

    @cached_property
    def _is_all_chinese(self) -> bool:
        """Whether no Chinese term has a Latin letter or a sign of a pattern, so that none is in a text of ASCII."""
        return not any(letter.isascii() for term in self._chinese for letter in term)

    def _patterns(self, text: str) -> tuple[re.Pattern[str], ...]:
        if self._is_all_chinese and text.isascii():
            return (self._in_english,)
        return self._in_english, self._in_chinese

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Start and end of every place the words are found in normalised text."""
        return [match.span() for pattern in self._patterns(text) for match in pattern.finditer(text) if match.group()]

    def found_in(self, text: str) -> bool:
        """Whether any of the words is in the text."""
        return bool(self.spans(text))

    def is_whole(self, text: str) -> bool:
        """Whether one of the words, with nothing but punctuation around it, is the text."""
        bare = text.strip(" .,;:!?。，；：！？、\"'()")
        return any(pattern.fullmatch(bare) for pattern in self._patterns(bare))


@dataclass(frozen=True)
class Lexicon:
    """All groups of terms; each maps a meaning to its words."""

    distortions: dict[Mention, Terms]
    severities: dict[Severity, Terms]
    levels: dict[LevelLetter, Terms]
    answers: dict[str, Terms]
    relations: dict[str, Terms]
    sides: dict[str, Terms]
    places: dict[str, Terms]
    amounts: dict[str, Terms]
    option_severities: dict[Severity, Terms]
    option_levels: dict[LevelLetter, Terms]
    option_answers: dict[str, Terms]
    option_amounts: dict[str, Terms]
    single: dict[str, Terms] = field(repr=False)
    tools: tuple[str, ...]
    tools_that_are_words: frozenset[str]
    tool_requests: re.Pattern[str]
    not_tools: frozenset[str]
    not_objects: frozenset[str]

    def __getitem__(self, group: str) -> Terms:
        return self.single[group]

    def matches(self, text: str, *groups: str) -> list[Match]:
        """Matches of these groups in order of appearance; of overlapping ones only the longest is kept."""
        found = [
            Match(group, meaning, start, end)
            for group in groups
            for meaning, terms in self._group(group).items()
            for start, end in terms.spans(text)
        ]
        # On equal length the group named first wins.
        found.sort(key=lambda match: (match.start - match.end, groups.index(match.group), match.start))
        kept: list[Match] = []
        taken = bytearray(len(text))
        for match in found:
            if not any(taken[match.start : match.end]):
                kept.append(match)
                taken[match.start : match.end] = b"\1" * (match.end - match.start)
        return sorted(kept, key=lambda match: match.start)

    def _group(self, name: str) -> dict[Any, Terms]:
        return {name: self.single[name]} if name in self.single else cast("dict[Any, Terms]", getattr(self, name))


@lru_cache(maxsize=1)
def lexicon() -> Lexicon:
    """The shipped lexicon."""
    text = resources.files("agenticiqa.question").joinpath("lexicon.yaml").read_text(encoding="utf-8")
    data = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    single = (
        "any_distortion", "nothing", "both", "equal", "objects", "image_words", "quality_words", "negations",
        "reference_wish", "reference_refused", "least", "approval", "option_nothing",
    )  # fmt: skip
    requests = data["tool_requests"]
    return Lexicon(
        distortions=_distortions(data["distortions"]),
        single={name: _terms(data[name]) for name in single},
        tools=tuple(data["tools"]),
        tools_that_are_words=frozenset(data["tools_that_are_words"]),
        tool_requests=re.compile(f"(?:{requests['en']}|{requests['zh']})$", re.IGNORECASE),
        not_tools=frozenset(data["not_tools"]),
        not_objects=frozenset(data["not_objects"]),
        **{
            group: {meaning: _terms(row) for meaning, row in data[group].items()}
            for group in (
                "severities",
                "levels",
                "answers",
                "relations",
                "sides",
                "places",
                "amounts",
                "option_severities",
                "option_levels",
                "option_answers",
                "option_amounts",
            )
        },
    )


def _terms(row: dict[str, Any]) -> Terms:
    return Terms(row.get("en"), row.get("zh"))


def _distortions(rows: list[dict[str, Any]]) -> dict[Mention, Terms]:
    return {
        Mention(row["category"], row.get("kind"), row.get("absent", False), row.get("neutral", False)): _terms(row)
        for row in rows
    }


def named_tool(text: str, available: Iterable[str] = ()) -> str | None:
    """The tool named in the question, in the spelling of the available ones; unknown names come back as written."""
    words = lexicon()
    names = list(dict.fromkeys([*available, *words.tools]))
    letters = _letters(text)
    for name in sorted(names, key=len, reverse=True):
        # A pattern takes a millisecond to compile, and hardly any question names a tool.
        if _letters(name) not in letters:
            continue
        for match in _spellings(name).finditer(text):
            if _is_meant(name, match, text, words):
                return name
    return _shortened(text, names, words) or _unknown(text, words)


def _is_meant(name: str, match: re.Match[str], text: str, words: Lexicon) -> bool:
    before = text[: match.start()]
    if _REFUSED.search(before):
        return False
    if _is_a_distortion(name, words):
        return match.group() == name or "_" in match.group()
    if name not in words.tools_that_are_words:
        return True
    return match.group() == name or bool(words.tool_requests.search(before))


def _is_a_distortion(name: str, words: Lexicon) -> bool:
    """Whether the name is also what people call a distortion: "how is the contrast?" asks for no tool CONTRAST."""
    return bool(words.matches(name.lower().replace("_", " "), "distortions"))


def _letters(text: str) -> str:
    """The text without what may stand between the letters of a name, in one case."""
    return re.sub(r"[-_ ]", "", text).casefold()


def _spellings(name: str) -> re.Pattern[str]:
    """The name with hyphens, underscores or a space where people put them: "MS-SSIM", "Q-Align", "topiq fr"."""
    letters = [re.escape(letter) for letter in re.sub(r"[_-]", "", name)]
    gaps = [i for i, letter in enumerate(re.sub(r"-", "_", name)) if letter == "_"]
    spaced = {position - shift for shift, position in enumerate(gaps)}
    pattern = "".join(("[-_ ]?" if i in spaced else "[-_]?" if i else "") + letter for i, letter in enumerate(letters))
    return re.compile(f"(?<![A-Za-z0-9_-]){pattern}(?![A-Za-z0-9])(?![-_][A-Za-z0-9])", re.IGNORECASE)


def _shortened(text: str, names: list[str], words: Lexicon) -> str | None:
    """ "TOPIQ" for TOPIQ_FR: the first of the two that the list has."""
    for name in names:
        short = _SUFFIXED.sub("", name)
        if short != name and short != "AIQA" and _letters(short) in _letters(text):
            for match in _spellings(short).finditer(text):
                if _is_meant(short, match, text, words):
                    return name
    return None


def _unknown(text: str, words: Lexicon) -> str | None:
    for match in _LIKE_A_TOOL.finditer(text):
        before = text[: match.start()]
        if words.tool_requests.search(before) and not _REFUSED.search(before) and match.group() not in words.not_tools:
            return match.group()
    return None
