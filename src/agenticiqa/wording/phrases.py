"""Names and sentences in the language of the question: `words/en.yaml`, `words/zh.yaml`, one file per language."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any

import yaml

from agenticiqa.values import Language

Words = dict[str, dict[str, Any]]


def phrase(group: str, name: str, language: Language) -> str:
    """What a name is called in this language; a name without an entry is said as it is, with spaces."""
    told = known(group, name, language)
    return name.replace("_", " ") if told is None else told


def known(group: str, name: str, language: Language) -> str | None:
    """What a name is called where the group has it."""
    found: str | None = _words(language)[group].get(name)
    return found


def phrases_in(group: str, name: str, language: Language) -> list[str]:
    """The list of words under a name."""
    return list(_words(language)[group][name])


def say(sentence: str, language: Language, **values: object) -> str:
    """The sentence with its values filled in."""
    return str(_words(language)["sentences"][sentence]).format(**values)


@cache
def _words(language: Language) -> Words:
    text = (resources.files("agenticiqa.wording") / "words" / f"{language}.yaml").read_text(encoding="utf-8")
    words: Words = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return words
