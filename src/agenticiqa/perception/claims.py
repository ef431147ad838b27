"""What an option or a yes/no question claims about the image."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agenticiqa.perception.lexicon import Lexicon, Match, Mention, lexicon, masked
from agenticiqa.state import LEVEL_SCORES, SEVERITIES, LevelLetter, Severity

_THINGS = ("nothing", "both", "equal", "distortions", "any_distortion", "sides", "places", "expecting_yes")
_NUMBERS = re.compile(
    r"(\d+(?:\.\d+)?)(?:\s*(?:-|–|~|to|至|到)\s*(\d+(?:\.\d+)?))?(?:\s*(?:/|out of|of|分之)\s*(\d+))?"
)
# "Above 3", "at least 70/100": a score is asked to lie on one side of a number.
_BOUND = re.compile(
    r"(?P<above>above|over|(?:higher|better|greater|more|stronger) than|at least|exceed(?:s|ing)?"
    r"|高于|超过|大于|不低于)\s*"
    r"|(?P<below>below|under|(?:lower|worse|less|milder|weaker) than|at most|低于|小于|不到|不超过)\s*"
)
_INCLUSIVE = ("at least", "at most", "不低于", "不超过")
_VISIBLE = re.compile(r"\b(?<!barely )(?<!just )(?:visibl[ey]|noticeabl[ey]|perceptibl[ey]|some)\b|可见|可察觉")
_SCALE = re.compile(
    r"(?<![\d.])(?P<low>[01])\s*(?:-|–|~|to|and|至|到)\s*(?P<high>\d{1,3})(?!\d)"
    r"|\b(?:out of|of|满分)\s*(?P<whole>5|10|20|100)(?!\d)|(?P<zh>[十百])分制"
)
_VERY_GOOD = re.compile(r"\bvery (?:good|high|pleasing|nice)|[很非]常?好|很高")
_SEVERITY_PLACES = {severity: float(place) for place, severity in enumerate(SEVERITIES)}
_COMPARED_WITH = re.compile(r"(?:than|to|with|against|from|of|as|vs\.?|versus|与|和|比|同|跟|于|如|对)\s*(?:its\s)?$")

# What "high" and "low" mean for nouns that can be off in two directions; "medium" means not off at all.
DIRECTIONS: dict[str, dict[str, str]] = {
    "Contrast": {"high": "contrast_up", "low": "contrast_down"},
    "Brightness change": {"high": "brighten", "low": "darken"},
    "Color distortions": {"high": "saturation_up", "low": "saturation_down"},
}


@dataclass(frozen=True)
class Claim:
    """The meaning of a short text, as far as the lexicon reaches."""

    mentions: tuple[Mention, ...] = ()
    neutral: bool = False
    """Whether the first distortion is named by a noun like "contrast", which can be high or low, good or bad."""
    any_distortion: bool = False
    nothing: bool = False
    both: bool = False
    equal: bool = False
    severity: Severity | None = None
    level: LevelLetter | None = None
    very_good: bool = False
    """Whether the level is praise short of our best one's name: "very good" holds for a good image too."""
    place: str | None = None
    relation: str | None = None
    than: bool = False
    """Whether something stands beside it: "worse than average", and not just "inferior"."""
    sides: tuple[str, ...] = ()
    subject: str = "test"
    truth: bool | None = None
    negated: bool = False
    least: bool = False
    best: bool = False
    """Whether the good end of the quality is asked for, as `least` asks for that of a distortion."""
    less: bool = False
    severity_range: tuple[float, float] | None = None
    """Between which places of the scale from 0 to 4 the severity has to lie, as in "is it more than slight?"."""
    level_range: tuple[float, float] | None = None
    """The same for a level, on the scale from 1 to 5: "is it at least fair?"."""
    merely_visible: bool = False
    """Whether the severity is only that it shows: "is there visible noise?" asks for no more than noise."""
    scale: tuple[float, float] | None = None
    """The ends of the scale a rating is wanted on: "from 1 to 10", "out of 100"."""
    main: bool = False
    joined: bool = False
    several: bool = False
    amount: str | None = None
    score: tuple[float, float] | None = None
    bound: str | None = None
    """ "above" or "below" when the score is a limit, as in "is it at least 4?"."""


def read_claim(text: str) -> Claim:
    """The claim of an option or a question, from normalised text."""
    words = lexicon()
    lowered = text.lower()
    truth, rest = _truth(lowered, words)
    found = words.matches(rest, *_THINGS)
    bare = _without(rest, found)
    level = _level(words, bare)
    bound, limit = _limit(rest)
    amount = _first(words, bare, "amounts")
    negation_text = _without(bare, words.matches(bare, "severities"))
    return Claim(
        mentions=_mentions(found, words["approval"].found_in(bare), amount),
        neutral=_has_neutral(found),
        any_distortion=_has(found, "any_distortion"),
        nothing=_has(found, "nothing"),
        both=_has(found, "both"),
        equal=_has(found, "equal"),
        severity=None if amount and _has_neutral(found) else _severity(words, bare, rest),
        level=level,
        very_good=level == "A" and bool(_VERY_GOOD.search(rest)),
        place=next((match.meaning for match in found if match.group == "places"), None),
        relation=_first(words, bare, "relations"),
        than=bool(re.search(r"\bthan\b|比|[于如]", rest)),
        sides=tuple(match.meaning for match in found if match.group == "sides"),
        subject=next((match.meaning for match in found if _is_subject(match, rest)), "test"),
        truth=truth,
        negated=len(words["negations"].spans(negation_text)) % 2 == 1,
        least=words["least"].found_in(bare) or words["less"].found_in(bare),
        best=words["best_end"].found_in(bare),
        less=words["less"].found_in(bare),
        severity_range=_range(words, rest, "severities", _SEVERITY_PLACES),
        level_range=_range(words, rest, "levels", LEVEL_SCORES),
        merely_visible=bool(_VISIBLE.search(rest)),
        scale=_scale(rest),
        main=words["main"].found_in(rest),
        joined=bool(re.search(r"\band\b|&|\+|和|与|及|以及", rest)),
        several=bool(re.search(r"\b(?:more than one|multiple|several)\b|不止一|多种|多个", rest)),
        amount=amount,
        score=limit or (_numbers(rest) if not found else None),
        bound=bound,
    )


def _level(words: Lexicon, text: str) -> LevelLetter | None:
    """The level named; of "good or excellent" and "poor or bad" the one nearer the middle, which holds for both."""
    named: list[LevelLetter] = [match.meaning for match in words.matches(text, "levels")]
    if len(named) > 1 and re.search(r"\bor\b|或", text) and len({letter in "AB" for letter in named}) == 1:
        return min(named, key=lambda letter: abs(LEVEL_SCORES[letter] - LEVEL_SCORES["C"]))
    return named[0] if named else None


def _severity(words: Lexicon, bare: str, text: str) -> Severity | None:
    """The severity named; "none" is one when it stands alone and no distortion at all otherwise: options need both."""
    severity: Severity | None = _first(words, bare, "severities")
    return "none" if severity is None and words.severities["none"].is_whole(text) else severity


def _range(words: Lexicon, text: str, group: str, places: Mapping[Any, float]) -> tuple[float, float] | None:
    """What "more than slight" and "at least fair" leave of a scale whose steps lie one apart."""
    starts = {match.start: places[match.meaning] for match in words.matches(text, group)}
    for match in _BOUND.finditer(text):
        if (place := starts.get(match.end())) is None:
            continue
        half = -0.5 if match.group().strip() in _INCLUSIVE else 0.5
        # Worse than slight is more of a distortion, worse than fair less of the quality.
        worse_is_more = group == "severities" and match.group().startswith(("worse", "better"))
        if (match.lastgroup == "above") != worse_is_more:
            return place + half, math.inf
        return -math.inf, place - half
    return None


def _scale(text: str) -> tuple[float, float] | None:
    match = _SCALE.search(text)
    if match is None:
        return None
    if match["low"]:
        low, high = float(match["low"]), float(match["high"])
    else:
        low, high = 0.0, float(match["whole"] or {"十": 10, "百": 100}[match["zh"]])
    return (low, high) if low < high else None


def _limit(text: str) -> tuple[str | None, tuple[float, float] | None]:
    """The side and the number of "above 3"."""
    for match in _BOUND.finditer(text):
        if _NUMBERS.match(text, match.end()):
            return match.lastgroup, _numbers(text[match.end() :])
    return None, None


def _truth(text: str, words: Lexicon) -> tuple[bool | None, str]:
    """Whether the text is, or starts as, a yes or a no, and what follows it."""
    for answer in ("yes", "no"):
        if words.answers[answer].is_whole(text):
            return answer == "yes", ""
    head, comma, rest = _at_first_comma(text)
    if comma:
        for answer in ("yes", "no"):
            if words.answers[answer].is_whole(head):
                return answer == "yes", rest
    return None, text


def _at_first_comma(text: str) -> tuple[str, str, str]:
    match = re.search(r"[,，;；:：.。—–]|\s-\s", text)
    return (text[: match.start()], match.group(), text[match.end() :]) if match else (text, "", "")


def _mentions(found: list[Match], approved: bool, amount: str | None) -> tuple[Mention, ...]:
    """The distortions named; "good contrast" claims there is none, "the contrast is low" that it is off downwards."""
    named = [match.meaning for match in found if match.group == "distortions"]
    return tuple(_resolved(mention, approved, amount) for mention in named)


def _resolved(mention: Mention, approved: bool, amount: str | None) -> Mention:
    if not mention.neutral:
        return mention
    kind = DIRECTIONS.get(mention.category, {}).get(amount or "")
    return Mention(mention.category, kind, absent=approved and kind is None)


def _is_subject(match: Match, text: str) -> bool:
    """Whether a side is what is spoken of, and not what it is compared with."""
    return match.group == "sides" and not _COMPARED_WITH.search(text[: match.start])


def _without(text: str, found: list[Match]) -> str:
    # No word may form across the gap that a match leaves.
    return masked(text, (match.span for match in found), "\x00")


def _has_neutral(found: list[Match]) -> bool:
    return any(match.group == "distortions" and match.meaning.neutral for match in found)


def _has(found: list[Match], group: str) -> bool:
    return any(match.group == group for match in found)


def _first(words: Lexicon, text: str, group: str) -> Any:
    matches = words.matches(text, group)
    return matches[0].meaning if matches else None


def _numbers(text: str) -> tuple[float, float] | None:
    """A score or a range of scores on the 1–5 scale; "60/100" and "6 out of 10" are brought to it."""
    match = _NUMBERS.search(text)
    if match is None:
        return None
    low, high, whole = float(match[1]), float(match[2] or match[1]), float(match[3] or 5)
    if whole != 5:
        low, high = 1 + 4 * low / whole, 1 + 4 * high / whole
    return (low, high) if 0 <= low <= high <= 5 else None
