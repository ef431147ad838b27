"""Adjectives of the lexicon in other genders, numbers and places of a sentence, for Spanish, Portuguese and German."""

from __future__ import annotations

import re

_UNCHANGED = re.compile(r"(?:con|com|sin|sem|de|sin|im|in|voller|frei|nicht|knackig)\b")
# Words after these are the noun's, not the adjective's.
_HEAD = re.compile(r"(?:(?:demasiado|muy|poco|bien|mal|muito|pouco|bem|lo bastante|\w+mente) )*(\w+)")
_DROPS_E = {"dunkel": "dunkl", "düster": "düster", "sauber": "saubr"}


def romance(adjective: str, *, masculine: bool, plural: bool) -> str:
    """A Spanish or Portuguese adjective, listed in the feminine singular, for another noun."""
    head = _HEAD.match(adjective)
    if head is None or _UNCHANGED.match(adjective):
        return adjective
    word = head[1]
    if masculine and word.endswith("a"):
        word = word[:-1] + "o"
    if plural and not word.endswith("s"):
        word += "s" if word[-1] in "aeo" else "es"
    return adjective[: head.start(1)] + word + adjective[head.end(1) :]


def german(adjective: str, ending: str) -> str | None:
    """A German adjective before its noun; None where it cannot stand there."""
    *before, last = adjective.split()
    if _UNCHANGED.match(adjective) or not last.islower() or last in ("genug", "daneben"):
        return None
    return " ".join([*before, _DROPS_E.get(last, last) + ending])
