"""Plain text to read from: signs made uniform, and the language a text is written in."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Literal

Language = Literal["en", "zh", "de", "es", "fr", "ja", "pt"]
_QUOTES = str.maketrans("‘’“”`", "''\"\"'")


def normalise(text: str) -> str:
    """The text with full-width signs, curly quotes and line ends made plain; letters keep their case."""
    plain = unicodedata.normalize("NFKC", text).translate(_QUOTES)
    return re.sub(r"[ \t\r\f\v]+", " ", plain).strip()


def language_of(text: str) -> Literal["en", "zh"]:
    """Chinese when there are more Chinese characters than Latin words, else English."""
    if re.search(r"[\u3040-\u30ff]", text):  # kana: the Chinese characters beside it are Japanese
        return "en"
    characters = len(re.findall(r"[\u4e00-\u9fff]", text))
    return "zh" if characters and characters >= len(re.findall(r"[A-Za-z]{2,}", text)) else "en"


def masked(text: str, spans: Iterable[tuple[int, int]], sign: str = " ") -> str:
    """The text with every letter inside the spans replaced by the sign."""
    letters = list(text)
    for start, end in spans:
        letters[start:end] = sign * (end - start)
    return "".join(letters)
