"""The learned reader: a text to the probabilities of every part of its meaning.

A small transformer over word pieces, fitted in `training/reader`. The same network reads questions and options; its
file holds the names of its heads and the word pieces it knows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from agenticiqa.question.exact_words import simplified
from agenticiqa.question.word_pieces import Piece, pieces_of
from agenticiqa.weights import open_session

NETWORK = "reader.onnx"
LONGEST = 96
"""How many word pieces are read; the middle of a longer text is left out."""


@dataclass(frozen=True)
class Reading:
    """How likely every value of every head is, the words that name a thing or a part, and the options offered."""

    probabilities: Mapping[str, Mapping[str, float]]
    named: tuple[str, ...] = ()
    offered: tuple[str, ...] = ()

    def best(self, head: str) -> str:
        """The likeliest value of a head."""
        values = self.probabilities[head]
        return max(values, key=values.__getitem__)

    def sure(self, head: str) -> float:
        """How likely the likeliest value is."""
        return max(self.probabilities[head].values())

    def several(self, head: str) -> tuple[str, ...]:
        """The values of a head that are likelier than not, the likeliest first."""
        likely = {value: p for value, p in self.probabilities[head].items() if p > 0.5}
        return tuple(sorted(likely, key=likely.__getitem__, reverse=True))


@lru_cache(maxsize=2048)
def read(text: str, *, option: bool = False) -> Reading:
    """What a question, or one option of a question, means; the same text is read once."""
    session, heads, vocabulary = _shipped()
    plain = simplified(text)
    pieces = pieces_of(plain, vocabulary, LONGEST, option=option)
    *found, inside, offered = session.run(
        None, {"pieces": np.array([[piece.number for piece in pieces]], dtype=np.int64)}
    )
    told = {
        head: dict(zip(values, map(float, likely[0]), strict=True))
        for (head, values), likely in zip(heads.items(), found, strict=True)
    }
    named = _spans(text, pieces, [_GOES_ON if likely > 0.5 else 0 for likely in inside[0]])
    named = tuple(name for name in named if not re.search(re.escape(name) + _GOES_ON_IN_KANA, text))
    return Reading(told, named, _spans(text, pieces, offered[0].argmax(-1)))


# A Chinese sign at the end of a name that katakana go on from is no thing: the hand of 手ブレ is shake.
_GOES_ON_IN_KANA = r"(?<=[\u4e00-\u9fff])[\u30a1-\u30fa]"


# What is said of a piece: that a span of words begins with it, that it is inside one, or neither (0).
_BEGINS, _GOES_ON = 1, 2


def _spans(text: str, pieces: Sequence[Piece], said: Sequence[int]) -> tuple[str, ...]:
    """The different spans of whole words; one goes on only where no other words stand between its pieces."""
    spans: list[list[int]] = []
    for piece, each in zip(pieces, said, strict=True):
        if not each or piece.end == 0:
            continue
        if spans and each == _GOES_ON and not text[spans[-1][1] : piece.start].strip():
            spans[-1][1] = piece.end
        else:
            spans.append([piece.start, piece.end])
    return tuple(dict.fromkeys(_whole_words(text, start, end) for start, end in spans))


def _whole_words(text: str, start: int, end: int) -> str:
    """A span up to the ends of the words it cuts; Chinese and Japanese have none."""
    while start and text[start - 1].isalnum() and text[start - 1] < "\u3040":
        start -= 1
    while end < len(text) and text[end].isalnum() and text[end] < "\u3040":
        end += 1
    return text[start:end].strip()


@lru_cache(maxsize=1)
def _shipped() -> tuple[Any, dict[str, list[str]], dict[str, int]]:
    """The network, its heads with their values, and its word pieces with their numbers."""
    session = open_session(NETWORK)
    told = session.get_modelmeta().custom_metadata_map
    return session, json.loads(told["heads"]), {piece: place for place, piece in enumerate(told["pieces"].split("\n"))}
