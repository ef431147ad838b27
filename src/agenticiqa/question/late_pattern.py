"""Regular expressions of a module that are compiled when they are first used."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any


class LatePattern:
    """A regular expression that is compiled on its first use, with the methods of `re.Pattern`.

    Compiling all patterns of the rooms that read a question takes as long as answering a short one, and no question
    uses all of them.
    """

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self._pattern, self._flags = pattern, flags

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self._pattern, self._flags)

    def search(self, text: str) -> re.Match[str] | None:
        """The first place where it fits."""
        return self._compiled.search(text)

    def match(self, text: str) -> re.Match[str] | None:
        """Where it fits at the beginning."""
        return self._compiled.match(text)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """Where it fits the whole text."""
        return self._compiled.fullmatch(text)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """Every place where it fits."""
        return self._compiled.finditer(text)

    def findall(self, text: str) -> list[Any]:
        """The text, or the groups, of every place where it fits."""
        return self._compiled.findall(text)

    def sub(self, by: str | Callable[[re.Match[str]], str], text: str, count: int = 0) -> str:
        """The text with what fits replaced."""
        return self._compiled.sub(by, text, count)

    def split(self, text: str, maxsplit: int = 0) -> list[str | Any]:
        """The parts of the text between the places where it fits."""
        return self._compiled.split(text, maxsplit)
