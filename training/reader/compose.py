"""Questions and options made by composition, each with its whole meaning known from its parts.

`Row` is what the reader learns from, written or made. A written file holds the same fields; see ../questions/GUIDE.md.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from training.questions import phrasings
from training.reader.particulars import made_particular, with_particulars

FOLDER = Path(__file__).parent
ATTRIBUTES = (
    "blur", "noise", "compression", "dark", "bright", "exposure", "contrast", "colour", "oversharp", "resolution",
    "overall",
)  # fmt: skip
INTENTS = ("yesno", "degree", "score", "choose", "compare", "where", "measure", "advice", "open", "declined")
JOINED = ("one", "both", "either", "neither", "at_least_one", "except")
LEVELS = ("excellent", "good", "fair", "poor", "bad")
SEVERITIES = ("none", "slight", "moderate", "severe", "extreme")
OPTIONS = (
    "flaw",
    "fine",
    *LEVELS,
    *SEVERITIES,
    "yes",
    "no",
    "none_of_these",
    "all",
    "first",
    "second",
    "same",
    "other",
    # Of a comparison the picture that is judged or its reference; of a quantity; a part of the picture.
    "reference",
    "edited",
    "better",
    "worse",
    "low",
    "medium",
    "high",
    "place",
)
KINDS = (
    "-", "defocus", "motion", "soft", "grain", "chroma_noise", "blocks", "banding", "ringing", "flat", "harsh", "haze",
    "cast", "oversaturated", "dull", "halos", "upscaled", "clipped", "crushed",
)  # fmt: skip
SCALES = ("fine", "flaw", "centred")
# Fields of GUIDE.md that a line holds all of or none; the words tell them of a line without them.
FINER = ("limit", "part", "use", "fact", "which", "by", "beside")


@dataclass(frozen=True)
class Row:
    """A question, or one option of a question (`option` is set), with its meaning; None where nothing is known."""

    text: str
    language: str
    intent: str | None = None
    attributes: tuple[str, ...] | None = None
    kind: str | None = None
    yes_means: str | None = None
    joined: str | None = None
    # Whether a high number of a score or a high rank of a comparison means fine or flaw; "centred" if the best is in
    # the middle of the scale.
    high_means: str | None = None
    limit: str | None = None
    # The words that name a thing or a part, as positions in the text; an empty span where the question names none.
    scope: tuple[int, int] | None = None
    option: str | None = None
    # See particulars.py.
    fact: str | None = None
    use: str | None = None
    part: str | None = None
    which: str | None = None
    by: str | None = None
    beside: str | None = None
    reference: str | None = None
    flags: tuple[str, ...] | None = None
    # Where in the text the options stand that it offers; none of a question that offers nothing.
    offered: tuple[tuple[int, int], ...] | None = None
    source: str = field(default="made", compare=False)


def written_before() -> list[Row]:
    """The phrasings of the earlier reader in the new form."""
    return [with_particulars(_from_phrasing(row)) for row in phrasings.written()]


def written_now(folder: Path) -> list[Row]:
    """The rows of the files written by the guide: the questions, and their options apart."""
    rows = []
    for file in sorted(folder.glob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            if line.strip():
                rows += _from_guide(json.loads(line), file.stem)
    return _of_no_attribute(rows)


def _of_no_attribute(rows: Sequence[Row]) -> list[Row]:
    """The rows, but an option that was offered about several attributes ("normal", "OK") names none by itself."""
    named: dict[str, set[str]] = {}
    for row in rows:
        if row.option is not None and row.attributes:
            named.setdefault(row.text.casefold(), set()).update(row.attributes)
    return [
        replace(row, attributes=()) if row.option is not None and len(named.get(row.text.casefold(), ())) > 1 else row
        for row in rows
    ]


def held_out(rows: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """Training and held-out rows; of files ending in `-held` nothing is learnt, nor of a text that stands in one."""
    held = [row for row in rows if row.source.endswith("-held")]
    texts = {row.text for row in held if row.option is None}
    return [row for row in rows if not row.source.endswith("-held") and row.text not in texts], held


def made(rng: random.Random) -> Row:
    """A question or an option from the grammar."""
    draw = rng.random()
    if draw < 0.12:
        return with_particulars(_made_of_a_thing(rng))
    if draw < 0.46:
        row = phrasings.made(rng)
        return with_particulars(_with_scope(_from_phrasing({**row, "file": "made"})))
    language = rng.choice(phrasings.LANGUAGES)
    if draw < 0.5:
        return with_particulars(_made_of_two(language, rng))
    if draw < 0.58:
        return with_particulars(_made_scale(language, rng))
    if draw < 0.76:
        return _particular(language, rng)
    if draw < 0.82:
        return with_particulars(_stray(language, rng))
    if draw < 0.88:
        return with_particulars(_made_choice(language, rng))
    return made_option(language, rng)


def changed(row: Row, rng: random.Random) -> Row:
    """The row with stock sentences around it and typos; its meaning kept."""
    if row.language == "en" and row.scope and rng.random() < 0.4:
        row = _of_another_thing(row, rng)
    if row.option is not None or row.offered or row.scope not in (None, (0, 0)):
        return replace(row, text=row.text.lower()) if rng.random() < 0.2 else row
    old: dict[str, Any] = {
        "q": row.text,
        "lang": row.language,
        "intent": "decline" if row.intent == "declined" else row.intent,
    }
    old |= {"attribute": (row.attributes or ("none",))[0]}
    old["several"] = len(row.attributes or ()) > 1
    if old["several"] or row.source not in _FORMER:
        old = phrasings._surrounded(old, rng, 0.12 if row.intent in ("declined", "choose") else 0.25)
        return replace(row, text=phrasings._surface(old["q"], rng))
    new = phrasings.changed(old, rng)
    return replace(row, text=new["q"], attributes=row.attributes if row.intent == "declined" else (new["attribute"],))


_NAMED = re.compile(r"(?P<whose>the|this|that|my|his|her|our|their) [a-z]+( [a-z]+)?", re.IGNORECASE)


def _of_another_thing(row: Row, rng: random.Random) -> Row:
    """The question asked of another thing than the one it names, where it names one in a few plain words."""
    start, end = row.scope or (0, 0)
    named = _NAMED.fullmatch(row.text[start:end])
    if named is None or row.offered or row.intent not in ("yesno", "degree", "score", "advice"):
        return row
    other = f"{named['whose']} {rng.choice(_things())}"
    return replace(row, text=row.text[:start] + other + row.text[end:], scope=(start, start + len(other)))


_FORMER = {path.stem for path in (phrasings.FOLDER / "phrasings").glob("*.jsonl")}


def made_option(language: str, rng: random.Random) -> Row:
    """One option as people offer it, alone."""
    draw = rng.random()
    if draw < 0.26:
        attribute = rng.choice(phrasings.ATTRIBUTES[:-1])
        words = phrasings._lexicon()[language][attribute]
        group = rng.choice(["flaw_adj", "flaw_noun", "fine_adj", "flaw_adj"])
        stance = "fine" if group == "fine_adj" else "flaw"
        text = rng.choice(words[group])
        return Row(_dressed(text, rng), language, attributes=(attribute,), option=stance)
    if draw < 0.46:
        meaning = rng.choice(list(_literature()))
        attribute, stance, *kind = meaning.split(":")
        text = rng.choice(_literature()[meaning])
        return Row(_dressed(text, rng), "en", attributes=(attribute,), kind=kind[0] if kind else "-", option=stance)
    meaning = str(rng.choice(list(_options()[language])))
    word = str(rng.choice(_options()[language][meaning]))
    if draw < 0.88 or meaning not in (*LEVELS, *SEVERITIES, "low", "medium", "high"):
        return Row(_dressed(word, rng), language, attributes=(), kind="-", option=meaning)
    # "Slight noise", "poor contrast", "high sharpness": how much of what.
    attribute = rng.choice(phrasings.ATTRIBUTES[:-1])
    words = phrasings._lexicon()[language][attribute]
    of = re.sub(r"^(?:an?|the) ", "", rng.choice(words["flaw_noun" if meaning in SEVERITIES else "neutral"]))
    text = f"{word}{'' if language in ('zh', 'ja') else ' '}{of}"
    return Row(_dressed(text, rng), language, attributes=(attribute,), option=meaning)


def _dressed(text: str, rng: random.Random) -> str:
    draw = rng.random()
    if draw < 0.1:
        text = f"{text}."
    elif draw < 0.2:
        text = text[:1].upper() + text[1:]
    elif draw < 0.25:
        text = text.upper()
    elif draw < 0.3:
        text = f"It is {text}" if text.isascii() else text
    elif draw < 0.35:
        text = f"The image is {text}" if text.isascii() else text
    return text


def _made_of_two(language: str, rng: random.Random) -> Row:
    first, second = rng.sample(phrasings.ATTRIBUTES[:-1], 2)
    text, joined, yes_means = rng.choice(_several()[language]["joined"])
    asked = (first,) if joined == "except" else (first, second)
    text = _filled_two(text, language, first, second, rng)
    if joined == "except":
        asked = ("overall", first)
    return Row(text, language, "yesno", asked, yes_means=yes_means, joined=joined, scope=(0, 0))


_LAYOUTS = (
    "A. {} B. {} C. {}",
    "(A) {} (B) {} (C) {}",
    "A) {}\nB) {}\nC) {}",
    "{}, {}, {}?",
    "{} / {} / {}",
    "1. {} 2. {} 3. {}",
)


def _with_options(known: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """The question with the names of three flaws offered."""
    named = rng.sample(phrasings.ATTRIBUTES[:-1], 3)
    words = phrasings._lexicon()[known["language"]]
    texts = [re.sub(r"^an? ", "", rng.choice(words[name]["flaw_noun"])) for name in named]
    if known["language"] == "en":
        texts = [rng.choice(_literature()[f"{name}:flaw"]) for name in named]
    text = known["text"] + rng.choice((" ", "\n")) + rng.choice(_LAYOUTS).format(*texts)
    return {**known, "text": text, "attributes": tuple(named)}


def _made_of_a_thing(rng: random.Random) -> Row:
    """A plain English question about a thing in the picture: that a car is sharp is asked of the picture of it."""
    text, intent, attribute, meaning = rng.choice(_several()["en"]["things"])
    start, thing = text.index("{T}"), rng.choice(_things())
    told = {"yes_means": meaning, "joined": "one"} if intent == "yesno" else {"high_means": meaning}
    begin = text.rindex(" ", 0, start - 1) + 1
    scope = (begin, start + len(thing))
    return Row(text.replace("{T}", thing), "en", intent, (attribute,), scope=scope, offered=(), **told)


def _made_choice(language: str, rng: random.Random) -> Row:
    """A question that offers two to four options without letters, and where they stand."""
    words = phrasings._lexicon()[language]
    attribute = rng.choice(phrasings.ATTRIBUTES[:-1])
    draw = rng.random()
    if draw < 0.4:
        drawn = [rng.choice(words[attribute]["fine_adj"]), rng.choice(words[attribute]["flaw_adj"])]
    elif draw < 0.7:
        named = rng.sample(phrasings.ATTRIBUTES[:-1], rng.choice((2, 3, 4)))
        drawn = [re.sub(r"^an? ", "", rng.choice(words[name]["flaw_noun"])) for name in named]
    else:
        grades = rng.choice((LEVELS, SEVERITIES[:-1]))
        drawn = [str(rng.choice(_options()[language][each])) for each in rng.sample(grades, rng.choice((2, 3, 4)))]
    drawn = list(dict.fromkeys(drawn))
    rng.shuffle(drawn)
    text, *marks = rng.choice(list(_several()[language]["offers"]))
    text = str(text).replace("{N}", str(rng.choice(words[attribute]["neutral"])))
    comma, last = (str(mark) for mark in (marks or [", ", ", "]))
    text, spans = _offering(text, drawn, comma, last)
    return Row(text, language, "choose", kind="-", scope=(0, 0), offered=spans)


def _offering(text: str, options: Sequence[str], comma: str, last: str) -> tuple[str, tuple[tuple[int, int], ...]]:
    """The text with the options at its mark, joined by `comma` and before the last one by `last`, and their places."""
    before, _, after = text.partition("{O}")
    spans = []
    for place, option in enumerate(options):
        before += "" if place == 0 else last if place == len(options) - 1 else comma
        spans.append((len(before), len(before) + len(option)))
        before += option
    return before + after, tuple(spans)


def _stray(language: str, rng: random.Random) -> Row:
    """A question that is not about quality."""
    words = _strays()[language]
    text = str(rng.choice(words["texts"]))
    text = text.replace("{thing}", str(rng.choice(words["thing"]))).replace("{word}", str(rng.choice(words["word"])))
    row = Row(text, language, "declined", (), kind="-", scope=(0, 0))
    return replace(changed(row, rng), attributes=())


def _particular(language: str, rng: random.Random) -> Row:
    """A question about a fact, a use, a second picture or a part, with what its words tell beside it."""
    known = made_particular(language, rng)
    if known["intent"] == "choose":
        known = _with_options(known, rng)
    row = with_particulars(Row(**known))
    told = {name: value for name, value in known.items() if name not in ("text", "language")}
    return replace(row, text=phrasings._surface(row.text, rng), **told)


def _made_scale(language: str, rng: random.Random) -> Row:
    texts = _several()[language]
    low, high = rng.choice(
        [("0", "10"), ("1", "5"), ("1", "10"), ("0", "100"), ("1", "7"), ("0", "5"), ("1", "6"), ("0", "3")]
    )
    if rng.random() < 0.3:
        text = rng.choice(texts["centred"])
        contrast = re.search(r"ontrast|对比|コントラスト", text)
        colour = re.search(r"White|Satur|白平衡|Weißab", text)
        attribute = "contrast" if contrast else "colour" if colour else "exposure"
        return Row(
            text.replace("{h}", rng.choice("1235")), language, "score", (attribute,), high_means="centred", scope=(0, 0)
        )
    text, high_means = rng.choice(texts["scale"])
    attribute = rng.choice(phrasings.ATTRIBUTES[:-1])
    text = _filled_two(text, language, attribute, attribute, rng).replace("{l}", low).replace("{h}", high)
    return Row(text, language, "score", (attribute,), high_means=high_means, scope=(0, 0))


def _filled_two(text: str, language: str, first: str, second: str, rng: random.Random) -> str:
    for marks, attribute in (("A fa ga na", first), ("B fb gb nb", second)):
        words = phrasings._lexicon()[language][attribute]
        for mark, group in zip(marks.split(), ("neutral", "flaw_adj", "fine_adj", "flaw_noun"), strict=True):
            text = text.replace(f"{{{mark}}}", re.sub(r"^an? ", "", rng.choice(words[group])))
    return text


def _with_scope(row: Row) -> Row:
    """The words of the grammar that name a thing, found where they stand."""
    texts = phrasings._templates()[row.language]
    things = [word for group in ("objects", "several", "masculine", "masculines") for word in texts.get(group, ())]
    for thing in sorted(things, key=len, reverse=True):
        place = row.text.lower().find(thing.lower())
        if place >= 0:
            return replace(row, scope=(place, place + len(thing)))
    return replace(row, scope=(0, 0))


def _from_phrasing(row: dict[str, Any]) -> Row:
    intent = "declined" if row["intent"] == "decline" else row["intent"]
    yes_means = row.get("yes_means") if row.get("yes_means") in ("flaw", "fine") else None
    limit = row.get("degree") if row.get("degree") in ("visible", "acceptable", "any", "severe") else None
    attribute = row["attribute"]
    return Row(
        row["q"],
        row["lang"],
        intent,
        () if attribute == "none" else (attribute,),
        yes_means=yes_means if intent == "yesno" else None,
        joined="one" if intent == "yesno" and row["file"] == "made" else None,
        high_means=yes_means if intent in ("score", "compare", "degree") else None,
        limit=limit if intent == "yesno" else None,
        offered=None if intent in ("choose", "compare", "where") else (),
        source=row["file"],
    )


def _from_guide(row: dict[str, Any], source: str) -> list[Row]:
    text, language, intent = row["q"], row["lang"], row["intent"]
    named = row.get("scope") or ""
    place = text.find(named) if named else 0
    scale = row.get("scale") or {}
    kind = str(row.get("kind") or "-").split(":")[0]
    high_means = _high_means(scale) if intent == "score" and scale else row.get("high_means")
    if intent == "where" and row.get("which") in ("any", "most", "least"):
        # The place with the least of a flaw is the best one.
        high_means = "fine" if row["which"] == "least" else "flaw"
    question = Row(
        text,
        language,
        intent,
        tuple(name for name in row.get("attributes", ()) if name in ATTRIBUTES),
        kind=kind if kind in KINDS else None,
        yes_means=row.get("yes_means") if intent == "yesno" else None,
        joined=(row.get("combine") or "one") if intent == "yesno" else None,
        high_means=high_means if high_means in SCALES else None,
        limit=row.get("limit") if intent == "yesno" else None,
        scope=(place, place + len(named)) if place >= 0 else None,
        offered=_offered(row),
        source=source,
    )
    question = replace(with_particulars(question), **_told(row))
    options = [_from_option(option, language, source) for option in row.get("options", ())]
    return [question, *(option for option in options if option)]


def _offered(row: dict[str, Any]) -> tuple[tuple[int, int], ...] | None:
    """Where a question's options stand in it; None where that is not known."""
    if row["intent"] in ("where", "compare"):
        return None
    spans, end = [], 0
    for option in row.get("options", ()):
        start = row["q"].lower().find(option["text"].lower(), end)
        if start < 0:
            return () if row.get("layout") == "data" else None
        end = start + len(option["text"])
        spans.append((start, end))
    return tuple(spans)


def _told(row: dict[str, Any]) -> dict[str, Any]:
    """The finer parts of a meaning, where a row was written with them: what it leaves out is not so."""
    if not any(name in row for name in FINER):
        return {}
    told: dict[str, Any] = {name: row.get(name, "-") for name in FINER[1:]}
    needed = {"compare": ("by", "beside"), "measure": ("fact",)}.get(row["intent"], ())
    told = {name: value for name, value in told.items() if name in row or name not in needed}
    return {**told, "flags": tuple(row.get("flags", ()))}


def _high_means(scale: dict[str, Any]) -> str | None:
    if "centre" in scale:
        return "centred"
    low, high = str(scale.get("low_means", "")), str(scale.get("high_means", ""))
    if "good" in high or "bad" in low:
        return "fine"
    if "bad" in high or "good" in low:
        return "flaw"
    return None


def _from_option(option: dict[str, Any], language: str, source: str) -> Row | None:
    topic, _, rest = str(option["means"]).partition(":")
    stance = rest.rpartition(":")[2]
    if topic in ("overall", "severity", "better") and stance in OPTIONS:
        return Row(option["text"], language, option=stance, source=source)
    if topic in OPTIONS:
        return Row(option["text"], language, option=topic, source=source)
    attribute = topic if topic in ATTRIBUTES else _KIND_OF.get(topic)
    if attribute and stance in ("flaw", "fine"):
        kind = topic if topic in KINDS else None
        return Row(option["text"], language, attributes=(attribute,), kind=kind, option=stance, source=source)
    return None


_KIND_OF = {
    "defocus": "blur", "motion": "blur", "soft": "blur",
    "grain": "noise", "chroma_noise": "noise",
    "blocks": "compression", "banding": "compression", "ringing": "compression",
    "flat": "contrast", "harsh": "contrast", "haze": "contrast",
    "cast": "colour", "oversaturated": "colour", "dull": "colour",
    "halos": "oversharp", "upscaled": "resolution", "clipped": "bright", "crushed": "dark",
}  # fmt: skip


@lru_cache(maxsize=1)
def _options() -> Any:
    loaded = yaml.safe_load((FOLDER / "options.yaml").read_text(encoding="utf-8"))
    names = {True: "yes", False: "no"}
    return {
        language: {names.get(key, key): words for key, words in groups.items()} for language, groups in loaded.items()
    }


@lru_cache(maxsize=1)
def _literature() -> Any:
    return yaml.safe_load((FOLDER / "literature.yaml").read_text(encoding="utf-8"))


@lru_cache(maxsize=1)
def _strays() -> Any:
    return yaml.safe_load((FOLDER / "strays.yaml").read_text(encoding="utf-8"))


@lru_cache(maxsize=1)
def _several() -> Any:
    return yaml.safe_load((FOLDER / "several.yaml").read_text(encoding="utf-8"))


@lru_cache(maxsize=1)
def _things() -> list[str]:
    return list(yaml.safe_load((FOLDER / "things.yaml").read_text(encoding="utf-8")))
