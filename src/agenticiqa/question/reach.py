"""Whether a question is about every part of the picture ("Is everything in focus?") or about any of them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Literal

from agenticiqa.question.composition import composed_polarity
from agenticiqa.question.late_pattern import LatePattern
from agenticiqa.question.meaning import Draft, Intent, Meant

Reach = Literal["all", "any"]

_PICTURE = r"(?:picture|photo\w*|image|frame|shot|scene|thing|pic|screen|field|depth)"
_ALL = LatePattern(
    r"\b(?:everything|everywhere|nothing|all over|all parts|throughout|front to back|back to front|edge[- ]to[- ]edge"
    r"|corner[- ]to[- ]corner|side to side|near to far|every (?:part|area|corner|inch|detail|bit)"
    rf"|all (?:of )?(?:it|the (?:{_PICTURE}|way|parts|areas|details))|(?:whole|entire|full) {_PICTURE}"
    rf"|across the (?:whole |entire |full )?{_PICTURE}"
    r"|(?:evenly|uniformly|consistently|equally) (?:sharp|in focus|crisp)"
    r"|focus (?:is )?(?:even|uniform|consistent)|(?:even|uniform|consistent) (?:focus|sharpness))\b"
    r"|全部|整[张个幅]|全图|处处|各处|每个(?:地方|部分|角落)|全体|すべて|全て|隅々"
    r"|\balles\b|\büberall\b|\bganze[sn]? (?:bild|foto)\b|\btodo\b|\btoda (?:la|a) (?:foto|imagen|imagem)\b"
    r"|\btout\b|\btoute (?:la photo|l'image)|\btudo\b",
    re.IGNORECASE,
)
_ANY = LatePattern(
    r"\b(?:anything|anywhere|any (?:part|area|region|bit|portion|section)s?|some (?:part|area|region|bit)s?|something"
    r"|partly|partially|in places|not (?:everything|all|everywhere|the (?:whole|entire)))\b"
    r"|有没有(?:地方|部分)|哪里|\birgend(?:was|etwas|wo)\b|\balguna parte\b|\bquelque (?:part|chose)\b|どこか|一部",
    re.IGNORECASE,
)
# All that is asked: a subject that means all of the picture, and one word for sharpness.
_PLAIN = LatePattern(
    r"(?:is|are) (?:everything|everyone|everybody|nothing|anything|all (?:of )?(?:the |these |those |my )?\w+"
    r"|(?:every|each) \w+|any (?:of the )?\w+|(?:the |this )?(?:whole|entire) \w+|it|the (?:focus|sharpness))"
    r"(?: in the (?:picture|photo|image|shot|frame))?"
    r"(?: (?:really |properly |nicely )?"
    r"(?:in (?:sharp )?focus|sharp|crisp|blurry|blurred|out of focus|soft|fuzzy))\s*\?*"
)
_OPEN_POLARITY: tuple[Intent, ...] = ("yesno", "unclear")


def with_reach(question: Draft) -> Draft:
    """The question with how much of the picture it is about, and with the polarity its words compose."""
    text = question.stem.strip().lower()
    if question.attribute != "blur" or question.choices or question.intent not in _OPEN_POLARITY:
        return question
    reach: Reach | None = "any" if _ANY.search(text) else "all" if _ALL.search(text) else None
    if reach is None and not _PLAIN.fullmatch(text):
        return question
    composed = composed_polarity(text, question.language)
    if not composed or "intent" in question.doubts or "attribute" in question.doubts:
        return replace(question, reach=reach)
    yes_means: Meant = "flaw" if composed > 0 else "fine"
    return replace(question, intent="yesno", reach=reach, yes_means=yes_means, form="yesno", doubts=())
