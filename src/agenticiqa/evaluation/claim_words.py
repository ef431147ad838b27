"""The words with which explanations claim something of a picture, in English and Chinese, found in text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from importlib import resources
from typing import Any, cast

import yaml

from agenticiqa.state import DistortionCategory, LevelLetter, Severity


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
class ClaimWords:
    """All groups of terms; each maps a meaning to its words."""

    distortions: dict[Mention, Terms]
    severities: dict[Severity, Terms]
    levels: dict[LevelLetter, Terms]
    places: dict[str, Terms]
    single: dict[str, Terms] = field(repr=False)

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
def claim_words() -> ClaimWords:
    """The shipped words."""
    text = resources.files("agenticiqa.evaluation").joinpath("claim_words.yaml").read_text(encoding="utf-8")
    data = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    single = ("any_distortion", "nothing", "negations", "approval")
    return ClaimWords(
        distortions=_distortions(data["distortions"]),
        severities={meaning: _terms(row) for meaning, row in data["severities"].items()},
        levels={meaning: _terms(row) for meaning, row in data["levels"].items()},
        places={meaning: _terms(row) for meaning, row in data["places"].items()},
        single={name: _terms(data[name]) for name in single},
    )


def _terms(row: dict[str, Any]) -> Terms:
    return Terms(row.get("en"), row.get("zh"))


def _distortions(rows: list[dict[str, Any]]) -> dict[Mention, Terms]:
    return {
        Mention(row["category"], row.get("kind"), row.get("absent", False), row.get("neutral", False)): _terms(row)
        for row in rows
    }


def masked(text: str, spans: Iterable[tuple[int, int]], sign: str = " ") -> str:
    """The text with every letter inside the spans replaced by the sign."""
    letters = list(text)
    for start, end in spans:
        letters[start:end] = sign * (end - start)
    return "".join(letters)
