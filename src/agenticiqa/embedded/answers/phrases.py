"""What to do about a distortion of a record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agenticiqa.question.text import language_of
from agenticiqa.values import Language
from agenticiqa.wording import phrase, phrases_in

# Kinds of damage whose advice differs from that of their category.
_KINDS = ("motion_blur", "darken", "brighten", "upscale", "pixelate")


def advice_of(finding: Mapping[str, Any], query: str) -> str | None:
    """What to do about a distortion of a record, in the language of the question; None where nothing is wrong."""
    if finding.get("severity") in (None, "none"):
        return None
    language = language_of(query)
    topic = _kind_in(str(finding.get("explanation") or ""), language) or str(finding["type"])
    return " ".join(phrases_in("advice", topic, language)) or None


def _kind_in(explanation: str, language: Language) -> str | None:
    """The kind an explanation names or describes; a record keeps the category and the words alone."""
    told = explanation.casefold()
    for kind in _KINDS:
        if any(phrase(group, kind, language).casefold() in told for group in ("kinds", "effects")):
            return kind
    return None
