"""The finer parts of a meaning, told at training time from the words of a row; the reader learns them from many rows.

The written rows say what is asked, what a yes means and where. What file fact, use, form of answer or second picture
they speak of was not written down for each: here it follows from plain words, and rows made of `particulars.yaml` hold
it by construction.
"""

from __future__ import annotations

import random
import re
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from training.reader.compose import Row

FACTS = (
    "-", "size", "grey", "tint", "print", "dpi", "colour_space", "bit_depth", "rotation", "alpha", "format",
    "file_size", "unmeasured",
)  # fmt: skip
USES = ("-", "print", "magazine", "web", "passport")
PARTS = ("-", "all", "any")
WHICH = ("-", "any", "most", "least", "absent")
BY = ("-", "more", "same", "different", "what")
BESIDE = ("-", "test", "reference", "places", "images")
REFERENCES = ("-", "wanted", "refused")
FLAGS = ("bare", "fault", "json", "true", "agree")
_NUMBERS = {
    "l": ("0", "1"),
    "h": ("5", "10", "100", "7", "20"),
    "ppi": ("300", "200", "150", "240", "72"),
    "cm": ("20x30", "13 x 18", "40", "60x90", "10"),
}
LANGUAGES = ("en", "zh", "de", "es", "fr", "ja", "pt")


def with_particulars(row: Row) -> Row:
    """The row with what its words tell beside the meaning that was written down."""
    if row.option is not None:
        return row
    text = row.text.lower()
    asks = row.intent not in (None, "declined")
    flags = tuple(flag for flag in _patterns()["flags"] if _tells("flags", text, flag))
    row = replace(row, flags=flags)
    if not asks:
        return row
    # Of noise or blur a number is wanted that is measured, no fact of the file.
    read = any(name not in ("resolution", "colour", "overall") for name in row.attributes or ())
    fact = _first("fact", text) if row.intent == "measure" and not read else "-"
    likely = row.intent in ("yesno", "degree", "choose", "score", "advice")
    beside, by = _beside(text, row)
    return replace(
        row,
        kind=row.kind or _kind(text, row),
        fact=fact,
        use=_first("use", text) if likely else "-",
        part=_part(text) if row.intent == "yesno" else "-",
        which=_which(text, row.intent),
        by=by,
        beside=beside,
        reference=_reference(text),
    )


def _first(group: str, text: str) -> str:
    return next((name for name in _patterns()[group] if _tells(group, text, name)), "-")


def _tells(group: str, text: str, name: str | None = None) -> bool:
    words = _patterns()[group]
    return any(re.search(word, text) for word in (words if name is None else words[name]))


def _kind(text: str, row: Row) -> str | None:
    """The kind the words name, where it is one of what is asked about; None where they tell nothing."""
    named = _first("kind", text)
    return named if row.attributes and _patterns()["of_kind"].get(named) in row.attributes else None


def _part(text: str) -> str:
    return "all" if _tells("all", text) else "any" if _tells("any", text) else "-"


def _which(text: str, intent: str | None) -> str:
    if intent == "choose" and _tells("absent", text):
        return "absent"
    if intent not in ("where", "compare", "choose") or not _tells("which", text):
        return "-"
    if _tells("least", text):
        return "least"
    return "most" if _tells("most", text) else "any"


def _beside(text: str, row: Row) -> tuple[str, str]:
    pair = bool(_tells("pair", text))
    if row.intent != "compare":
        return "-", "-"
    by = "what" if _tells("what", text) else "same" if _tells("same", text) else ""
    by = by or ("different" if _tells("different", text) else "more")
    if _tells("reference_first", text):
        return "reference", by
    named = row.scope is not None and row.scope != (0, 0)
    return ("places" if named and not pair and _tells("than", text) else "test"), by


def _reference(text: str) -> str:
    return "refused" if _tells("refused", text) else "wanted" if _tells("pair", text) else "-"


def made_particular(language: str, rng: random.Random) -> dict[str, Any]:
    """A question about a file fact, a use, parts, a second picture or places, as the fields of a row."""
    group = rng.choice(list(_texts()[language]))
    text, *meaning = rng.choice(_texts()[language][group])
    for mark, words in (*_words()[language].items(), *_NUMBERS.items()):
        while f"{{{mark}}}" in text:
            text = text.replace(f"{{{mark}}}", str(rng.choice(words)), 1)
    return {"text": text, "language": language, **_fields(group, meaning)}


def _fields(group: str, meaning: list[Any]) -> dict[str, Any]:
    """The fields of a row of a group; `meaning` stands after its text, attribute before what more of it means."""
    intent, *named = group.split(":")
    plain = {"scope": (0, 0), "kind": "-"}
    yesno = {**plain, "intent": "yesno", "joined": "one", "yes_means": (meaning or ["fine"])[-1]}
    match intent:
        case "measure":
            of = {"size": "resolution", "print": "resolution", "dpi": "resolution", "tint": "colour"}.get(named[0])
            return {**plain, "intent": "measure", "attributes": (of,) if of else (), "fact": named[0]}
        case "use":
            return {**yesno, "attributes": ("overall",), "use": named[0]}
        case "part":
            return {**yesno, "attributes": ("blur",), "part": named[0]}
        case "compare":
            by, beside = named[:2]
            told = {"by": by, "beside": beside, "reference": "-" if beside == "places" else "wanted"}
            return {**told, "intent": "compare", "attributes": (meaning[0],), "high_means": meaning[1]}
        case "thing":
            return {**yesno, "attributes": (meaning[0],), "scope": None}
        case "score":
            return {**plain, "intent": "score", "attributes": ("overall",), "high_means": "fine"}
        case "deed":
            return {**yesno, "attributes": (meaning[0],), "yes_means": "flaw"}
        case "cast":
            return {**yesno, "attributes": ("colour",), "yes_means": "flaw", "kind": "cast"}
        case "choose":
            return {**plain, "intent": "choose", "which": meaning[0]}
        case "refused":
            score = {**plain, "intent": "score", "attributes": ("overall",)}
            return {**score, "high_means": "fine", "reference": "refused"}
        case _:
            return {**plain, "intent": "where", "attributes": (meaning[0],), "which": named[0]}


@lru_cache(maxsize=1)
def _made() -> Any:
    return yaml.safe_load((Path(__file__).parent / "particulars.yaml").read_text(encoding="utf-8"))


def _texts() -> Any:
    return _made()["texts"]


def _words() -> Any:
    return _made()["words"]


@lru_cache(maxsize=1)
def _patterns() -> Any:
    return yaml.safe_load((Path(__file__).parent / "told_by_words.yaml").read_text(encoding="utf-8"))
