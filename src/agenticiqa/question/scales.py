"""The scale a rating is wanted on: its ends, and how a number on it is written."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from agenticiqa.question.exact_words import normalise
from agenticiqa.question.late_pattern import LatePattern

_NUMBERS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "twenty": 20, "hundred": 100, "a hundred": 100, "one hundred": 100, "null": 0, "eins": 1, "fünf": 5,
    "zehn": 10, "zwanzig": 20, "hundert": 100, "cero": 0, "uno": 1, "cinco": 5, "diez": 10, "veinte": 20, "cien": 100,
    "zéro": 0, "un": 1, "cinq": 5, "dix": 10, "vingt": 20, "cent": 100, "um": 1, "dez": 10, "vinte": 20, "cem": 100,
    "零": 0, "一": 1, "五": 5, "十": 10, "百": 100, "一百": 100,
}  # fmt: skip
_N = r"(?:-?\d+(?:[.,]\d+)?|" + "|".join(sorted((re.escape(word) for word in _NUMBERS), key=len, reverse=True)) + r")"
_FROM_TO = LatePattern(
    rf"(?<![A-Za-z0-9.])(?P<low>{_N})\s*(?:\([^)]*\)|[^\W\d]{{1,6}}|\"?,[^,\d]*\"?|=?\s*[^\W\d]*)?\s*"
    rf"(?:-|–|—|~|〜|\.\.+|to|and|bis|und|al?|y|à|et|e|至|到|から)\s*(?:\")?(?P<high>\+?{_N})(?![A-Za-z0-9/])",
    re.IGNORECASE,
)
_OUT_OF = LatePattern(
    rf"(?:out of|outta|of|/|sur|sobre|von|de|em|满分是?|總分|总分|滿分)\s*"
    rf"(?P<whole>{_N})(?![A-Za-z0-9])(?!\s*(?:pictures|images|photos))"
    rf"|(?P<full>{_N})\s*(?:分(?:满分|滿分|制)|点満点|点中|段階"
    rf"|puntos|pontos|points?\b|punkte|point scale|[- ]point|级|級|分)",
    re.IGNORECASE,
)
_CENTRED = LatePattern(r"(?<![\w.])-\s?(?P<half>\d{1,3})(?![\w.])(?=.*(?<![\w.])\+?\s?(?P=half)(?![\w.]))", re.DOTALL)
_ANY_NUMBER = LatePattern(rf"(?<![A-Za-z0-9.])(?:{_N})(?![A-Za-z0-9])", re.IGNORECASE)
_PERCENT = LatePattern(
    r"percent|per cent|prozent|por ?ciento|por ?cento|pour ?cent|百分(?!制)|パーセント|%", re.IGNORECASE
)
_STARS = LatePattern(r"\bstars?\b|sterne?\b|estrellas?|étoiles?|estrelas?|星", re.IGNORECASE)
_GERMAN_GRADE = LatePattern(r"schulnote|german (?:school )?grade", re.IGNORECASE)
_LETTER_GRADE = LatePattern(
    r"letter grade|us grade|report[- ]card letter|s/a/b|a, b, c|grade \(?a[- –]|a to f|a bis f"
    r"|a-[ef]\b|a to e|等级\(?[a-e]-",
    re.IGNORECASE,
)


ScaleEnd = Literal[
    "dark", "bright", "contrast_down", "contrast_up", "saturation_down", "saturation_up", "cold", "warm", "blue",
    "yellow", "green", "magenta", "blur", "oversharp",
]  # fmt: skip


@dataclass(frozen=True)
class Scale:
    """The ends of a scale, what its marks are called, and whether its low end is the good one.

    `ends` are the two flaws of a scale whose middle is right: too dark at the low end, too bright at the high one.
    """

    low: float
    high: float
    marks: Literal["number", "stars", "percent", "letter"] = "number"
    best_is_low: bool = False
    ends: tuple[ScaleEnd, ScaleEnd] | None = None

    def __post_init__(self) -> None:
        if isinstance(self.ends, list):  # a scale that was kept and taken up again
            object.__setattr__(self, "ends", tuple(self.ends))

    def at(self, share: float) -> float:
        """The number at a share of the way from the low to the high end, as fine as such scales are read."""
        span = self.high - self.low
        digits = 2 if span <= 1.5 else 1 if span <= 20 else 0
        return round(self.low + min(1.0, max(0.0, share)) * span, digits)

    def written(self, share: float) -> str:
        """The number with its scale: "7.5 / 10", "62 %", "4 / 5 stars"."""
        if self.marks == "letter":
            return "ABCDEF"[min(5, int((1 - min(1.0, max(0.0, share))) * 6))]
        number = f"{self.at(share):g}"
        match self.marks:
            case "percent":
                return f"{number} %"
            case "stars":
                return f"{number} / {self.high:g} ★"
            case _:
                return f"{number} / {self.high:g}"


OWN_SCALE = Scale(1.0, 5.0)


def scale_in(text: str) -> Scale | None:
    """The scale a question names; None when it names none."""
    plain = normalise(text).lower()
    if _LETTER_GRADE.search(plain):
        return Scale(0.0, 1.0, "letter")
    marks: Literal["number", "stars"] = "stars" if _STARS.search(plain) else "number"
    german = bool(_GERMAN_GRADE.search(plain))
    if centred := _CENTRED.search(plain):
        return Scale(-float(centred["half"]), float(centred["half"]), marks)
    for match in _FROM_TO.finditer(plain):
        low, high = _number(match["low"]), _number(match["high"])
        if low < high <= 1000:
            return Scale(low, high, marks, german)
        if high < low <= 1000 and "=" not in match.group():
            return Scale(high, low, marks, german)
    for match in _OUT_OF.finditer(plain):
        whole = _number(match["whole"] or match["full"])
        if whole >= 3:
            begins_at_one = 1.0 in _named(plain) or (whole == 5 and (marks == "stars" or "段階" in match.group()))
            return Scale(1.0 if begins_at_one else 0.0, whole, marks)
    if _PERCENT.search(plain):
        return Scale(0.0, 100.0, "percent")
    if german:
        return Scale(1.0, 6.0, best_is_low=True)
    # "0 none, 3 heavy", "ten is top": the numbers named are the ends.
    named = _named(plain)
    if len(named) >= 2 and named[0] <= 1 < named[-1] <= 1000:
        return Scale(named[0], named[-1], marks, german)
    if named and 3 <= named[-1] <= 100:
        return Scale(0.0, named[-1], marks)
    return Scale(1.0, 5.0, "stars") if marks == "stars" else None


def _named(plain: str) -> list[float]:
    """The numbers a text names, the least first."""
    return sorted({_number(match.group()) for match in _ANY_NUMBER.finditer(plain)})


# What is said of one number of a scale: "10 = spotless", "1 being the worst", "5最严重", "(0) gar nicht".
_SAID = LatePattern(
    rf"(?<![A-Za-z0-9.])(?<!\d,)(?P<number>{_N})\s*(?:stars?|points?|分|级|級|%)?\s*"
    rf"(?:=|:|\(|,?\s*(?:is|are|being|means?|meaning|stands? for|ist|bedeutet|siendo|es|étant|est|sendo|é)\b"
    rf"|为|是|が|代表)?\s*"
    rf"(?P<said>[^,;.。、()\d\n?]{{2,40}}?)(?=[,;.。、()\n?\d]|\band\b|\bto\b|\bbis\b|\bà\b|\bal?\b|から|到|$)",
    re.IGNORECASE,
)


def ends_said(text: str, scale: Scale) -> tuple[str | None, str | None]:
    """What a question calls the low and the high end of its scale: "1 = awful, 10 = flawless"."""
    said = {
        _number(match["number"]): match["said"].strip(" -–\"'")
        for match in _SAID.finditer(normalise(text).lower())
        if not _LINK.fullmatch(match["said"].strip())
    }
    return said.get(scale.low) or None, said.get(scale.high) or None


# What joins two numbers says nothing of either.
_LINK = LatePattern(
    r"\W*(?:to|and|or|out of|bis|und|von|a|al|y|de|sur|sobre|à|et|em|e|ou|o|stars?|points?|分|到|至|から|まで|点)?\W*",
    re.IGNORECASE,
)


def _number(word: str) -> float:
    word = word.lstrip("+")
    return float(_NUMBERS[word]) if word in _NUMBERS else float(word.replace(",", "."))
