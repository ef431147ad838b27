"""Names and sentences in the language of the question, from `phrases.yaml`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from importlib import resources
from typing import Any

import yaml

from agenticiqa.question.text import Language, language_of

Phrases = dict[str, dict[str, dict[str, Any]]]
# Kinds of damage whose advice differs from that of their category.
_KINDS = ("motion_blur", "darken", "brighten", "upscale", "pixelate")


def phrase(group: str, name: str, language: Language) -> str:
    """What a name is called in this language; a name without an entry is said as it is, with spaces."""
    entry = _phrases()[group].get(name, {})
    return str(entry.get(language) or entry.get("en") or name.replace("_", " "))


def phrases_in(group: str, name: str, language: Language) -> list[str]:
    """The list of words or sentences under a name, in this language or else in English; empty without an entry."""
    entry = _phrases()[group].get(name, {})
    return list(entry.get(language) or entry.get("en") or ())


def say(sentence: str, language: Language, **values: object) -> str:
    """The sentence with its values filled in."""
    entry = _phrases()["sentences"][sentence]
    return str(entry.get(language) or entry["en"]).format(**values)


@lru_cache(maxsize=1)
def _phrases() -> Phrases:
    text = resources.files("agenticiqa.embedded.answers").joinpath("phrases.yaml").read_text(encoding="utf-8")
    phrases: Phrases = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return phrases


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
