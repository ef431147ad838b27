"""Two things of one image put side by side, as in "is the blur worse than the noise?"."""

from __future__ import annotations

import re
from dataclasses import dataclass

from agenticiqa.perception.lexicon import Mention, lexicon

_THAN = re.compile(
    r"(?<!rather )(?<!other )\bthan\b|(?<![对相])比(?![度较例])|不如"
    r"|没有?(?=[^,。]*(?:严重|明显|那么|[强重好亮暗]|清[晰楚]|锐利|模糊))"
)
_BESIDE = re.compile(
    r"(?:compared (?:to|with)|relative to|next to)\s(?P<en>[^,]+),\s*(?P<rest>.+)"
    r"|(?:与|和|跟|同|相比于?|相较于|比起)(?P<zh>[^,]+?)(?:相?比|相较)?,(?P<zh_rest>.+)"
)
_AS_MUCH = re.compile(
    r"(?P<first>.+?)\bas (?:\w+ ){1,3}?as (?P<second>.+)|(?P<zh>.+?)(?:和|与|跟|同)(?P<other>.+?)(?:一样|同样)"
)
_FALLS_SHORT = ("不如", "没", "没有")


@dataclass(frozen=True)
class Halves:
    """What is compared, what it is compared with, and whether there is said to be less of it."""

    subject: str
    object: str
    less: bool
    falls_short: bool = False
    at_least: bool = False


@dataclass(frozen=True)
class Versus:
    """A comparison inside one image: of two distortions, or of one attribute in two places."""

    less: bool
    falls_short: bool = False
    """Whether a denial makes the comparison ("没有 … 那么", "不如"): it denies nothing else."""
    at_least: bool = False
    """Whether as much is enough, as in "as sharp as"."""
    distortions: tuple[Mention, Mention] | None = None
    places: tuple[str, str] | None = None


def halves_of(text: str) -> Halves | None:
    """The two sides of a comparison in normalised lower-case text, if it makes one."""
    if beside := _BESIDE.search(text):
        subject, other = (beside["rest"], beside["en"]) if beside["en"] else (beside["zh_rest"], beside["zh"])
        return Halves(subject, other, says_less(subject))
    if alike := _AS_MUCH.search(text):
        # "As sharp as": the adjective belongs to both sides, and is read from the whole question.
        return Halves(alike["first"] or alike["zh"], alike["second"] or alike["other"], says_less(text), at_least=True)
    if (pivot := _THAN.search(text)) is None:
        return None
    subject, other = text[: pivot.start()], text[pivot.end() :]
    # In English the adjective stands before "than", in Chinese after what is compared with.
    falls_short = pivot.group() in _FALLS_SHORT
    return Halves(subject, other, says_less(text) != falls_short, falls_short)


def says_less(text: str) -> bool:
    """Whether the smaller amount is meant: "less", "milder", "更轻"."""
    return lexicon()["less"].found_in(text)


def two_distortions(halves: Halves) -> tuple[Mention, Mention] | None:
    """The distortion on each side, where there is a different one on each."""
    words = lexicon()
    named = [
        [match.meaning for match in words.matches(side, "distortions")] for side in (halves.subject, halves.object)
    ]
    if not all(named) or named[0][0].category == named[1][0].category:
        return None
    return named[0][0], named[1][0]
