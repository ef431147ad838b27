"""Text to word pieces: lower case without accents, Chinese and Japanese by character, longest known piece first."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

PAD, UNKNOWN, QUESTION, OPTION, END = "[PAD]", "[UNK]", "[CLS]", "[unused1]", "[SEP]"
# No piece of the published vocabulary is longer; a word of a thousand letters takes no longer for it.
_LONGEST_PIECE = 24
_CHARACTERS = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_CHARACTERS}]|[^\W{_CHARACTERS}]+|[^\w\s]")


@dataclass(frozen=True)
class Piece:
    """A piece's number in the vocabulary and where its letters stand in the text."""

    number: int
    start: int
    end: int


def pieces_of(text: str, vocabulary: Mapping[str, int], longest: int, *, option: bool = False) -> list[Piece]:
    """The pieces of a question or, marked as such, of an option; of a text too long the middle is left out."""
    plain, origin = _plain(text)
    found = [piece for word in _WORD.finditer(plain) for piece in _pieces(word, vocabulary, origin)]
    room = longest - 2
    if len(found) > room:
        found = [*found[: room // 3], *found[len(found) - (room - room // 3) :]]
    first = vocabulary[OPTION if option else QUESTION]
    return [Piece(first, 0, 0), *found, Piece(vocabulary[END], 0, 0)]


def _plain(text: str) -> tuple[str, Sequence[int]]:
    """The text in lower case without accents, and for each of its letters the place in the text as it was."""
    letters, origin = [], []
    for place, letter in enumerate(text):
        for part in unicodedata.normalize("NFKD", letter.lower()):
            # Voicing marks of kana are combining characters too, but they change the letter.
            if unicodedata.category(part) != "Mn" or "\u3040" <= letter <= "\u30ff":
                letters.append(part)
                origin.append(place)
    return "".join(letters), origin


def _pieces(word: re.Match[str], vocabulary: Mapping[str, int], origin: Sequence[int]) -> list[Piece]:
    text, start, found = word.group(), 0, []
    while start < len(text):
        end = min(len(text), start + _LONGEST_PIECE)
        while end > start and ("##" if start else "") + text[start:end] not in vocabulary:
            end -= 1
        if end == start:
            return [Piece(vocabulary[UNKNOWN], origin[word.start()], origin[word.end() - 1] + 1)]
        number = vocabulary[("##" if start else "") + text[start:end]]
        found.append(Piece(number, origin[word.start() + start], origin[word.start() + end - 1] + 1))
        start = end
    return found
