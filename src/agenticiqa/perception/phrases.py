"""Names and sentences in the language of the question, from `phrases.yaml`."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources

import yaml

from agenticiqa.perception.lexicon import Language

Phrases = dict[str, dict[str, dict[str, str]]]


def phrase(group: str, name: str, language: Language) -> str:
    """What a name is called in this language; a name without an entry is said as it is, with spaces."""
    entry = _phrases()[group].get(name, {})
    return entry.get(language, name.replace("_", " "))


def say(sentence: str, language: Language, **values: object) -> str:
    """The sentence with its values filled in."""
    return _phrases()["sentences"][sentence][language].format(**values)


@lru_cache(maxsize=1)
def _phrases() -> Phrases:
    text = resources.files("agenticiqa.perception").joinpath("phrases.yaml").read_text(encoding="utf-8")
    phrases: Phrases = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return phrases
