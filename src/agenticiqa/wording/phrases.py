"""Names and sentences in the language of the question, from `phrases.yaml`."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources
from typing import Any

import yaml

from agenticiqa.values import Language

Phrases = dict[str, dict[str, dict[str, Any]]]


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
    text = resources.files("agenticiqa.wording").joinpath("phrases.yaml").read_text(encoding="utf-8")
    phrases: Phrases = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return phrases
