"""From the words of a question to what can be located: "kitty", "Katzen" and "小猫" are all a cat."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Literal

import yaml

from agenticiqa.question.late_pattern import LatePattern

# Places and parts that are found by other means than the detector.
NOT_CLASSES = ("face", "eyes", "subject", "foreground", "background", "sky")
_ARTICLE = LatePattern(
    r"^(?:the|this|that|these|those|a|an|my|his|her|their|der|die|das|den|dem|ein|eine|el|la|los|las|un|una|"
    r"le|les|une|du|des|o|a|os|as|um|uma)\s+|^l['’]"
)
_EACH = LatePattern(r"(?:every|each|any) ")
_WITHOUT_SPACES = LatePattern(r"[\u3040-\u30ff\u3400-\u9fff]")


@dataclass(frozen=True)
class ObjectName:
    """What a name stands for: the classes that may be meant, on which side, and whether several were named."""

    kinds: tuple[str, ...]
    side: Literal["left", "right"] | None = None
    several: bool = False

    @property
    def kind(self) -> str:
        """The class itself, or the first of a group's."""
        return self.kinds[0]


def object_called(name: str) -> ObjectName | None:
    """What a name in any of the reader's languages stands for; None for what cannot be located by name."""
    words = _ARTICLE.sub("", re.sub(r"\s+", " ", name.strip().casefold()))
    each = _EACH.match(words)
    plain, side = _without_side(words[each.end() :] if each else words)
    known = [kinds for kinds in map(_vocabulary().get, _spellings(plain)) if kinds]
    if known:
        return ObjectName(known[0], side, several=bool(each) or _is_plural(plain))
    return _last_word(plain, side)


_AND = LatePattern(r"\s*,\s*|\s+(?:and|or|than|und|oder|als|y|o|et|ou|e|que)\s+|[和与、比还]|(?<=\S)(?:と|より)(?=\S)")


def things_in(words: str) -> tuple[str, ...]:
    """The names in a few words of a question, without articles: places under their English name, things as written."""
    parts = [_ARTICLE.sub("", part.strip(" ,.?!").lower() + " ").strip() for part in _AND.split(words)]
    if sum(place_named(part) is None and object_called(part) is None for part in parts) and len(parts) > 1:
        parts = [_ARTICLE.sub("", words.strip(" ,.?!").lower() + " ").strip()]
    return tuple(dict.fromkeys(place_named(part) or part for part in parts if part))


_BEGINS = LatePattern(r"(?:is|are|was|were|how \w+ (?:is|are|was|were)) (?:all )?|(?=which )")
_SUBJECTS = tuple(
    LatePattern(
        r"(?:(?:the|this|that|these|those|my|his|her|our|their|which) |(?P<each>(?:every|each|any) )"
        rf"|(?=(?:every|any)(?:one|body)))(?P<noun>{words})(?P<side> (?:on|to|at) the (?:left|right)(?: side)?)?"
        r"(?=[ ?,]|$)(?! of )"
    )
    for words in ("[a-z]+ [a-z]+", "[a-z]+")
)
_AND_THAN = LatePattern(r" (?:and|or) |[^,?]* than ")


def subject_of(text: str) -> tuple[str, ...]:
    """The known things an English question is plainly about: "Is the zebra …", "Is every face …", "Which cat …"."""
    begins, found = _BEGINS.match(text.lower()), list[str]()
    rest = text.lower()[begins.end() :] if begins else ""
    while named := next((fit for each in _SUBJECTS if (fit := each.match(rest)) and _is_english(fit["noun"])), None):
        found.append((named["each"] or "") + named["noun"] + (named["side"] or ""))
        rest = rest[named.end() :]
        joined = _AND_THAN.match(rest)
        rest = rest[joined.end() :] if joined else ""
    return tuple(found)


def _is_english(word: str) -> bool:
    """Whether a word is an English name; a portrait is the picture, and an orange tint no fruit."""
    known = any("en" in _languages_of().get(form, ()) for form in _spellings(word))
    return known and word not in ("portrait", "orange")


def sides_in(text: str) -> tuple[str, ...]:
    """The sides of the picture that a text names, in their order."""
    words = re.findall(r"[\u3040-\u9fff]|[^\W\u3040-\u9fff]+", text.lower())
    named = [place for word in words if (place := place_named(word)) in ("left", "right", "top", "bottom")]
    return tuple(dict.fromkeys(place for place in named if place))


def place_named(name: str) -> str | None:
    """The place of the picture that a name stands for ("upper left corner", "links oben"); None for a thing."""
    plain = _ARTICLE.sub("", name.strip(" .").lower())
    found: list[str] = []
    for place, languages in _words()["places"].items():
        for word in sorted(_listed(languages), key=len, reverse=True):
            pattern = re.escape(word) if _WITHOUT_SPACES.search(word) else rf"(?<!\w){re.escape(word)}(?!\w)"
            if re.search(pattern, plain):
                plain = re.sub(pattern, " ", plain)
                found.append(place)
    if not found or _PART.sub(" ", plain).strip(" -'"):
        return None
    both = [place for place in ("top", "bottom", "left", "right") if place in found]
    # The face on the left is a thing with its side, no place.
    if both and any(place in found for place in ("face", "background", "foreground")):
        return None
    return " ".join(both[:2]) if both else found[0]


_PART = LatePattern(
    r"\b(?:hand|side|half|part|corner|area|region|third|quarter|of|the|in|on|at|to"
    r"|seite|hälfte|teil|ecke|bereich|im|in der"
    r"|lado|parte|mitad|esquina|canto|metade|de|la|a|do|da|del|côté|partie|moitié|coin|en|à|du|l)\b"
    r"|[侧边半方部角的区域分面の側]|部分"
)


def names_a_thing(name: str) -> bool:
    """Whether a name stands for something that is in a picture or is not, unlike its subject or its background."""
    called = object_called(name)
    return called is not None and called.kind not in ("subject", "foreground", "background")


def names_several(name: str) -> bool:
    """Whether a name asks for all of a class ("cars", "faces"), not for one."""
    called = object_called(name)
    return called is not None and called.several


def joined_names(text: str) -> list[tuple[int, int]]:
    """Where lower-case text names a class in several words ("traffic light", "hot dogs") or in two letters ("tv")."""
    return [match.span() for match in _joined().finditer(text)]


def names_like(name: str, count: int = 3) -> list[str]:
    """Names of things that are spelled much like this one, the likest first."""
    return difflib.get_close_matches(name.strip().casefold(), list(_vocabulary()), count, 0.7)


def word_for(kind: str, language: str) -> str:
    """What a class is called in a language; its English name where it has none."""
    words = _words()["classes"].get(kind, {})
    listed = words.get(language) or words.get("en") or [kind]
    return kind if language == "en" else str(listed[0])


def _is_plural(plain: str) -> bool:
    """Whether a word is an irregular plural, or a word for the same class with an ending added."""
    if plain in map(str.casefold, _listed(_words()["plurals"]["irregular"])):
        return True
    own, *shorter = (_vocabulary().get(spelled) for spelled in _spellings(plain))
    return any(kinds is not None and own in (None, kinds) for kinds in shorter)


def _last_word(plain: str, side: Literal["left", "right"] | None) -> ObjectName | None:
    """ "black dog", "sitting cat": the noun comes last in English and German; Chinese and Japanese end with it."""
    parts = plain.split()
    if len(parts) > 1:
        return _with_side(object_called(parts[-1]), side)
    if _WITHOUT_SPACES.search(plain) and len(plain) > 1:
        return _with_side(object_called(plain[1:]), side)
    return None


def _with_side(found: ObjectName | None, side: Literal["left", "right"] | None) -> ObjectName | None:
    return found if found is None or side is None else ObjectName(found.kinds, side, found.several)


def _without_side(words: str) -> tuple[str, Literal["left", "right"] | None]:
    """The name without "left" or "on the right", and the side it tells."""
    sides: dict[str, Literal["left", "right"]] = {"left": "left", "right": "right"}
    for key, side in sides.items():
        for word in _listed(_words()["sides"][key]):
            if _WITHOUT_SPACES.search(word):
                plain = re.sub(rf"^{word}(?:边|侧|側)?(?:的|の)?|(?:的|の)?{word}(?:边|侧|側)?$", "", words)
            else:
                joined = r"(?:\s+(?:on|to|at|in|a|à|auf|der|the|de|la|da|do|side|hand|seite))*"
                plain = re.sub(rf"^{re.escape(word)}\s+|{joined}\s+{re.escape(word)}(?:\s+(?:side|seite))?$", "", words)
            if plain and plain != words:
                return plain.strip(), side
    return words, None


def _spellings(word: str) -> tuple[str, ...]:
    """The word itself, and the known words it is the plural of by the rules of their language."""
    spelled = [word]
    for languages, ending, singular, after in _PLURALS:
        stem = word.removesuffix(ending) + singular
        if word.endswith(ending) and len(word) > len(ending) + 2 and re.search(after, stem):
            spelled += [stem] if languages & _languages_of().get(stem, frozenset()) else []
    return tuple(spelled)


# Plural endings: the languages that have them, the ending, what the singular has instead, and how the singular ends.
# "Skin" is no plural of the English "ski", nor are "boots" several of the German "Boot".
_PLURALS = tuple(
    (frozenset(languages.split()), ending, singular, after)
    for languages, ending, singular, after in (
        ("en", "ies", "y", "y$"), ("en", "es", "", "(?:ch|sh|x|s|z|o)$"), ("es pt", "es", "", "[^aeiou]$"),
        ("en es fr pt", "s", "", "[^s]$"), ("de", "s", "", "[aeiouy]$"), ("de", "en", "", "[^e]$"),
        ("de", "n", "", "(?:e|er|el)$"), ("de", "e", "", "[^aeiou]$"),
    )
)  # fmt: skip


@lru_cache(maxsize=1)
def _languages_of() -> Mapping[str, frozenset[str]]:
    """The languages that list a word; a class's own name is English."""
    found: dict[str, set[str]] = {}
    for group in ("classes", "groups"):
        for kind, languages in _words()[group].items():
            found.setdefault(kind.casefold(), set()).add("en")
            for language, words in languages.items():
                for word in words if language != "members" else ():
                    found.setdefault(str(word).casefold(), set()).add(language)
    return {word: frozenset(languages) for word, languages in found.items()}


@lru_cache(maxsize=1)
def _words() -> Mapping[str, Mapping[str, Mapping[str, list[str]]]]:
    text = (resources.files("agenticiqa.question") / "object_words.yaml").read_text(encoding="utf-8")
    loaded: Mapping[str, Mapping[str, Mapping[str, list[str]]]] = yaml.load(
        text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    )
    return loaded


@lru_cache(maxsize=1)
def _vocabulary() -> Mapping[str, tuple[str, ...]]:
    """Every word with the classes it may mean; a word of two languages keeps its first meaning."""
    known: dict[str, tuple[str, ...]] = {}
    for kind, languages in _words()["classes"].items():
        for word in (kind, *_listed(languages)):
            known.setdefault(word.casefold(), (kind,))
    for group, languages in _words()["groups"].items():
        for word in (group, *_listed(languages)):
            known.setdefault(word.casefold(), tuple(languages["members"]))
    return known


@lru_cache(maxsize=1)
def _joined() -> re.Pattern[str]:
    classes = (name for name, kinds in _vocabulary().items() if kinds[0] not in NOT_CLASSES)
    names = sorted((name for name in classes if name.isascii() and (" " in name or len(name) == 2)), key=len)
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, reversed(names)))})(?:e?s)?\b")


def _listed(languages: Mapping[str, list[str]]) -> list[str]:
    return [str(word) for language, words in languages.items() if language != "members" for word in words]
