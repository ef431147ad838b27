"""What a question is about: the places and things in the picture that it names, and not those it only mentions."""

from __future__ import annotations

import re
from itertools import zip_longest

from agenticiqa.question.late_pattern import LatePattern
from agenticiqa.question.lexicon import Match, lexicon
from agenticiqa.question.object_words import joined_names, names_several, object_called
from agenticiqa.question.text import masked

_DETERMINER = r"(?:the|this|that|these|those|my|his|her|its|their|our|your)"
# A thing without a class is asked about only where it is what the question's verb or a place speaks of.
_UNKNOWN_NOUN = LatePattern(
    r"(?:\b(?:is|are|was|were|does|do|did|has|have|not'?|n't|look|looks|looking|of|on|in|around|behind|whether|if|that|than"
    r"|and|or|but|how)|[,.:;?!]|^) ?(?:the|this|that|these|those|his|her) ([a-z]{3,})(?=[ ?.,']|$)",
    re.ASCII,
)
# German, Spanish, French and Portuguese articles; what follows is an object only if it has a class.
_AFTER_AN_ARTICLE = LatePattern(r"(?:\b(?:der|die|das|dem|den|el|la|los|las|le|les|os|as|o) |\bl['’])([^\W\d_]{3,})")
# "My daughter", "our dog": somebody's own; an object only if it has a class.
# Whoever says something about the picture is not what it shows: "My wife says it is blurry".
_OWN = LatePattern(
    r"\b(?:my|our|your|his|her|their) (?:little |own |old |new )?([a-z]{3,})(?=[ ?.,']|$)"
    r"(?! (?:says?|said|thinks?|thought|claims?|wants?|likes?|told|tells|asks?|asked|insists?|complain\w*|believes?"
    r"|finds?|hates?|loves?|needs?|sent|took|shot|prefers?|swears?|will|would|is sure|keeps)\b)",
    re.ASCII,
)
_ON_THE = LatePattern(r" (?:on|at|to|in)? ?(?:the )?(?:left|right)(?:[- ](?:hand )?side)?")
_ALONE = LatePattern(r"(?:the )?(?:left|right)")
_EACH_OF = LatePattern(r"\b(every|each)(?: single)? $")
# "Everyone's face" asks about every face.
_EVERYONES = LatePattern(r"\b(?:every(?:one|body| person)|any(?:one|body))'s (?=(?:face|eyes?)\b)")
_GROUPS = ("distortions", "nothing", "equal", "sides", "places", "objects", "any_distortion", "image_words",
           "quality_words", "relations", "severities", "levels")  # fmt: skip
# What a picture is used for or looked at with: "hang it on the wall", "I can't tell on my phone", "fit for a book".
_USED = LatePattern(
    r"\b(?:hang|hung|hanging|put|stick|frame|show|shown|view\w*|zoom\w*|check\w*|tell|judge|display\w*|post|print\w*|upload\w*"
    r"|sen[dt]|publish\w*|enough|fit|ready|good|suitable|use[ds]?)\b[^?.!,;:]*"
    rf"\b(?:on|in|to|for|with|at|from|by|into) (?:(?:an?|{_DETERMINER}) )?(?:\w+ )?$"
    r"|\b(?:on|with|from) (?:my|your|our|an?) (?:\w+ )?$|\ban? (?:\w+ )?$"
)
# "On the other hand", "hands down", "at first hand": nothing in the picture.
_IDIOM = LatePattern(
    r"\b(?:on the (?:other|one) hand|hands? down|first[- ]hand|second[- ]hand|by hand|in (?:good|safe) hands)\b"
)
# The German "man" is nobody in the picture.
_GERMAN_ONE = LatePattern(
    r"\b(?:sieht|erkennt|merkt|kann|könnte|würde|sollte|muss|darf|wenn|ob|dass|wie|hat|findet|braucht) man\b"
    r"|\bhat (?:das|die|der|dieses|diese|man|es|mein)\b|\bman (?:sieht|kann|merkt|sagt)\b"
)


def scope_of(text: str, *, images: bool) -> tuple[str, ...]:
    """The places and objects named in lower-case text; "left" and "right" may be images of a pair instead."""
    words = lexicon()
    text = _EVERYONES.sub("every ", text)
    spans = [span for span in joined_names(text) if not _USED.search(text[: span[0]])]
    joined = [text[start:end] for start, end in spans]
    text = masked(text, joined_names(text), "#")
    found = words.matches(text, *_GROUPS)
    things = [match for match in found if match.group in ("places", "objects") and _is_asked_about(match, text)]
    named = _with_sides(things, text)
    if images and "left" in named and "right" in named:
        named = [name for name in named if name not in ("left", "right")]
    rest = masked(text, (match.span for match in found), "#")
    known = words.not_objects | {tool.lower() for tool in words.tools}
    objects = {match.start for match in found if match.group == "objects"}
    unknown = [
        match[1]
        for match in _UNKNOWN_NOUN.finditer(rest)
        # Of "the shop window" only the window is asked about.
        if match[1] not in known
        and match.end(1) + 1 not in objects
        and not _USED.search(text[: match.start(1)])
        and not rest.startswith("'s ", match.end(1))
    ]
    classes = [
        match[1]
        for match in (*_AFTER_AN_ARTICLE.finditer(rest), *_OWN.finditer(rest))
        if object_called(match[1]) is not None
        and not rest.startswith("'s ", match.end(1))
        and not _USED.search(text[: match.start(1)])
    ]
    return tuple(dict.fromkeys(joined + named + unknown + classes))


def _with_sides(things: list[Match], text: str) -> list[str]:
    """The names of what is asked about; "the face on the left" and "the left dog" are one name, not two places."""
    names: list[str] = []
    skipped: Match | None = None
    for match, after in zip_longest(things, things[1:]):
        if match is skipped:
            continue
        if after is not None and (side := _side_of(match, after, text)):
            names.append(side)
            skipped = after
        else:
            names.append(_scope_name(match, text))
    return names


def _side_of(first: Match, second: Match, text: str) -> str | None:
    """The thing with its side, where one of two neighbours is a thing and the other the side it is on."""
    between = text[first.end : second.start]
    if _is_side(second) and _is_thing(first) and _ON_THE.fullmatch(between + text[second.start : second.end]):
        return f"{_scope_name(first, text)} on the {second.meaning}"
    if _is_side(first) and _is_thing(second) and between == " " and _ALONE.fullmatch(text[first.start : first.end]):
        return f"{_scope_name(second, text)} on the {first.meaning}"
    return None


def _is_side(match: Match) -> bool:
    return match.group == "places" and match.meaning in ("left", "right")


def _is_thing(match: Match) -> bool:
    return match.group == "objects" or match.meaning == "face"


def _is_asked_about(match: Match, text: str) -> bool:
    """Whether a named thing is the one the question is about."""
    if text[match.end :].startswith("'s "):  # of "the man's shirt" only the shirt
        return False
    if match.group == "places" or not text[match.start].isascii():
        return True
    idioms = [*_IDIOM.finditer(text), *_GERMAN_ONE.finditer(text)]
    if any(each.start() <= match.start < each.end() for each in idioms):
        return False
    return not _USED.search(text[: match.start])


def _scope_name(match: Match, text: str) -> str:
    spelled = text[match.start : match.end]
    if each := _EACH_OF.search(text[: match.start]):
        return f"{each[1]} {spelled}"
    several = match.meaning == "face" and names_several(spelled)
    return str(match.meaning) if match.group == "places" and not several else spelled
