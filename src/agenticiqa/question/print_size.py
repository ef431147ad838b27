"""The print a question names: its paper, its width, or what pictures are printed in."""

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


def print_inches(text: str) -> float | None:
    """The longer side, in inches, of the print that a text names; None where it names none.

    >>> print_inches("Can I print this on A3?")
    16.5
    >>> print_inches("Good enough for a magazine?")
    2.2
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
    return max(sides) if sides and max(sides) > 0 else None
