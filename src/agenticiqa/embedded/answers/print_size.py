"""Whether a picture has pixels enough for the paper or the width that a question names."""

from __future__ import annotations

import re

from agenticiqa.question.late_pattern import LatePattern

# The longer side of DIN papers in inches.
_PAPERS = {"a0": 46.8, "a1": 33.1, "a2": 23.4, "a3": 16.5, "a4": 11.7, "a5": 8.3, "a6": 5.8}
# What is printed at no less than so many inches: the narrowest column of a magazine, the smallest poster.
_SMALLEST = {
    r"magazines?|zeitschrift\w*|revistas?|杂志|雑誌": 2.2, r"(?:book|magazine) covers?": 7.0,
    r"postcards?|postkarte\w*": 5.8, r"posters?|plakat\w*|海报|ポスター": 16.5, r"canvas|leinwand": 11.7,
}  # fmt: skip
_PRINTED = LatePattern(
    r"\b(?:print\w*|posters?|magazines?|covers?|postcards?|postkarte\w*|plakat\w*|leinwand|zeitschrift\w*|revistas?|paper|hang|wall|canvas|druck\w*|ausdruck\w*|imprim\w*|impress\w*)\b|打印|印刷|冲印|杂志|海报|雑誌|ポスター",
    re.IGNORECASE,
)
_PAPER = LatePattern(r"(?<![a-z0-9])a[0-6](?![a-z0-9])", re.IGNORECASE)
_LENGTHS = LatePattern(
    r"(\d+(?:[.,]\d+)?)(?: ?[x×*by]+ ?(\d+(?:[.,]\d+)?))? ?(cm|mm|inch(?:es)?|in\b|\")", re.IGNORECASE
)
_INCHES = {"cm": 1 / 2.54, "mm": 1 / 25.4}
TOO_FEW = 100
"""Pixels per inch below which a print shows its pixels at arm's length; 300 are usual, 150 pass."""


def pixels_per_inch(text: str, size: tuple[int, int]) -> float | None:
    """How dense the picture's pixels lie on the print that the text names; None where it names none.

    >>> round(pixels_per_inch("Can I print this on A3?", (481, 321)))
    29
    >>> round(pixels_per_inch("Good enough for a magazine?", (32, 32)))
    15
    """
    if not _PRINTED.search(text):
        return None
    sides = [_PAPERS[paper.lower()] for paper in _PAPER.findall(text)]
    for first, second, unit in _LENGTHS.findall(text):
        inches = _INCHES.get(unit.lower(), 1.0)
        sides += [float(length.replace(",", ".")) * inches for length in (first, second) if length]
    if not sides:
        sides = [
            inches for words, inches in _SMALLEST.items() if re.search(rf"(?<![a-z])(?:{words})(?![a-z])", text, re.I)
        ]
    return max(size) / max(sides) if sides and max(sides) > 0 else None
