"""The phrasings the reader learns from: written ones, the same with changed surface, and ones made by template."""

from __future__ import annotations

import json
import random
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from training.questions.inflection import german, romance

Row = dict[str, Any]
FOLDER = Path(__file__).parent
ATTRIBUTES = (
    "blur",
    "noise",
    "compression",
    "dark",
    "bright",
    "exposure",
    "contrast",
    "colour",
    "oversharp",
    "overall",
)
# How often a language is drawn for a made phrasing: those with few written ones more often.
LANGUAGES = ["en"] * 32 + ["zh"] * 24 + ["de"] * 14 + ["es"] * 14 + ["fr"] * 14 + ["pt"] * 14 + ["ja"] * 20
_HIGH_MEANS = {"N": "fine", "ga": "fine", "fng": "fine", "fag": "fine", "gaf": "flaw"}
_OR = {"en": " or ", "zh": "还是", "de": " oder ", "es": " o ", "fr": " ou ", "pt": " ou ", "ja": "?それとも"}


def written() -> list[Row]:
    """All written phrasings with the file they come from."""
    return [
        {"lang": "en", **json.loads(line), "file": file.stem}
        for file in sorted((FOLDER / "phrasings").glob("*.jsonl"))
        for line in file.read_text(encoding="utf-8").splitlines()
    ]


def changed(row: Row, rng: random.Random) -> Row:
    """The phrasing with words of the lexicon exchanged, stock sentences around it, typos; its meaning kept."""
    if rng.random() < 0.3:
        row = _exchanged(row, rng)
    row = _surrounded(row, rng, 0.12 if row["intent"] in ("decline", "choose") else 0.25)
    return {**row, "q": _surface(row["q"], rng)}


def made(rng: random.Random) -> Row:
    """A phrasing from a template, with the meaning its parts compose."""
    language, attribute = rng.choice(LANGUAGES), rng.choice(ATTRIBUTES)
    row = {"lang": language, "attribute": attribute, "yes_means": "-", "form": "sentence", "degree": "-"}
    draw = rng.random()
    if draw < 0.12:
        return _of_the_whole(language, rng)
    if draw < 0.66:
        text, sign = _question(language, attribute, rng)
        row |= {"intent": "yesno", "form": "yesno", "degree": "", "yes_means": "flaw" if sign > 0 else "fine"}
    elif draw < 0.71:
        text = _choice(language, attribute, rng)
        row |= {"intent": "choose", "form": rng.choice(["letter", "word"])}
    else:
        kinds = ("score", "degree", "compare", "open", "advice", "where")
        kind = rng.choices(kinds, (7, 8, 8, 3, 4, 3))[0]
        template, high = rng.choice(_templates()[language][kind])
        text = _filled(template, language, attribute, rng)
        row |= {"intent": kind, "form": {"score": "number", "compare": "word"}.get(kind, "sentence")}
        if kind in ("score", "degree", "compare"):
            row["yes_means"] = _HIGH_MEANS.get(high, "flaw")
    row = _surrounded({**row, "q": text[:1].upper() + text[1:]}, rng, 0.3)
    return {**row, "q": _surface(row["q"], rng)}


def _of_the_whole(language: str, rng: random.Random) -> Row:
    """A question that names no attribute: what a picture may be used for, what is wrong, what to do."""
    texts = _templates()[language]
    kind = rng.choices(("use", "whole_open", "whole_advice"), (4, 3, 3))[0]
    drawn = rng.choice(texts[kind])
    row = {"lang": language, "attribute": "overall", "yes_means": "-", "form": "sentence", "degree": "-"}
    if kind == "use":
        drawn, sign = drawn
        row |= {"intent": "yesno", "form": "yesno", "degree": "acceptable", "yes_means": "fine" if sign > 0 else "flaw"}
    else:
        row |= {"intent": kind.removeprefix("whole_")}
    text = drawn.replace("{s}", rng.choice(texts["subj"])).replace("{u}", rng.choice(texts["uses"]))
    row = _surrounded({**row, "q": text[:1].upper() + text[1:]}, rng, 0.3)
    return {**row, "q": _surface(row["q"], rng)}


def _question(language: str, attribute: str, rng: random.Random) -> tuple[str, int]:
    """A yes/no question or a statement to confirm, and 1 when yes means flaw."""
    words, texts = _lexicon()[language][attribute], _templates()[language]
    is_flaw = rng.random() < 0.5
    adjective = rng.choice(words["flaw_adj" if is_flaw else "fine_adj"])
    noun = re.sub(r"^an? ", "", rng.choice(words["flaw_noun"]))
    head = {"adj_q": 1 if is_flaw else -1, "noun_q": 1, "neutral_q": 1}
    form = rng.choices(("adj_q", "noun_q", "neutral_q", "statement"), (22, 22, 14, 42))[0]
    if form != "statement":
        template, sign = rng.choice(texts[form])
        return _filled(template, language, attribute, rng, adjective, noun), sign * head[form]
    of_adjective = rng.random() < 0.5
    template, sign = rng.choice(texts["stmt_a" if of_adjective else "stmt_n"])
    wrap, turn = rng.choice(texts["wrap"])
    sign *= turn * (head["adj_q"] if of_adjective else 1)
    return wrap.replace("{S}", _filled(template, language, attribute, rng, adjective, noun)), sign


def _choice(language: str, attribute: str, rng: random.Random) -> str:
    words = _lexicon()[language][attribute]
    options = [rng.choice(words["fine_adj"]), rng.choice(words["flaw_adj"])]
    rng.shuffle(options)
    first, second = options
    noun, either = rng.choice(words["neutral"]), _OR[language]
    styles = [f"{first}{either}{second}?", f"A. {first} B. {second}", f"{noun}: A) {first} B) {second}",
              f"{noun}?\nA) {first}\nB) {second}", f"{first} (A){either}{second} (B)?", f"{first}/{second}",
              f"1 = {first}, 2 = {second}", f"A - {first}, B - {second}", f"{noun}: {first}, {second}?",
              f"{noun} -> \"{first}\" / \"{second}\"", f"{noun}:\n- {first}\n- {second}",
              f"[{first}, {second}] {noun}"]  # fmt: skip
    return rng.choice(styles)


def _filled(
    template: str, language: str, attribute: str, rng: random.Random, adjective: str = "", noun: str = ""
) -> str:
    words = _lexicon()[language][attribute]
    parts = {"{s}": rng.choice(_templates()[language]["subj"]), "{N}": rng.choice(words["neutral"]),
             "{H}": rng.choice(words["high_flaw"]), "{fa}": rng.choice(words["flaw_adj"]),
             "{ga}": rng.choice(words["fine_adj"]), "{fn}": rng.choice(words["flaw_noun"]),
             "{a}": adjective, "{n}": noun}  # fmt: skip
    for mark, word in {**parts, **_things(language, rng), **_inflected(language, adjective)}.items():
        template = template.replace(mark, word)
    return template


def _things(language: str, rng: random.Random) -> dict[str, str]:
    """Words for parts of a picture: one, several, and the masculine ones where the adjective must agree."""
    texts = _templates()[language]
    marks = {"{o}": "objects", "{os}": "several", "{om}": "masculine", "{omp}": "masculines"}
    return {mark: rng.choice(texts[group]) for mark, group in marks.items() if group in texts}


def _inflected(language: str, adjective: str) -> dict[str, str]:
    """The adjective in the other forms that the language's templates ask for."""
    if not adjective:
        return {}
    if language == "de":
        return {f"{{a_{ending}}}": german(adjective, ending) or adjective for ending in ("e", "es", "en")}
    if language in ("es", "pt"):
        forms = {"m": (True, False), "mp": (True, True), "fp": (False, True)}
        return {f"{{a_{k}}}": romance(adjective, masculine=m, plural=p) for k, (m, p) in forms.items()}
    return {}


def _exchanged(row: Row, rng: random.Random) -> Row:
    """The only lexicon word exchanged for another of its kind, of the same or of another attribute."""
    if row["intent"] in ("choose", "decline", "measure"):
        return row
    pattern, kinds = _exchange(row["lang"])
    found = list(pattern.finditer(row["q"]))
    if len(found) != 1 or kinds[found[0].group().lower()][0] != row["attribute"]:
        return row
    attribute, kind = kinds[found[0].group().lower()]
    other = attribute if rng.random() < 0.5 else rng.choice(ATTRIBUTES[:-1])
    word = rng.choice(_lexicon()[row["lang"]][other][kind])
    start, end = found[0].span()
    return {**row, "q": row["q"][:start] + word + row["q"][end:], "attribute": other}


def _surrounded(row: Row, rng: random.Random, share: float) -> Row:
    texts, text = _templates()[row["lang"]], row["q"]
    gap = "" if row["lang"] in ("zh", "ja") else " "
    for likely in (share, share / 3):
        if rng.random() < likely:
            text = rng.choice(texts["before"]) + gap + text
    if rng.random() < share and row["intent"] in ("yesno", "score", "degree"):
        text += ("" if text[-1:] in ".?!。?!…" else rng.choice([".", "", ",", "?"])) + gap + rng.choice(texts["after"])
    return {**row, "q": text}


def _surface(text: str, rng: random.Random) -> str:
    if rng.random() < 0.12:
        text = text.lower()
    if rng.random() < 0.10:
        text = re.sub(r"[?.!。\s]+$", "", text)
    if rng.random() < 0.05:
        text = text.replace("'", "")
    if rng.random() < 0.14 and len(text) > 8:
        text = _misspelt(text, rng)
    return text


def _misspelt(text: str, rng: random.Random) -> str:
    """Two letters exchanged, one left out or one doubled."""
    place = rng.randrange(len(text) - 1)
    pair = text[place : place + 2]
    if not (pair.isascii() and pair.isalpha()):
        return text
    return text[:place] + rng.choice([pair[::-1], pair[::-1], pair[0], pair[0] + pair]) + text[place + 2 :]


@lru_cache(maxsize=8)
def _exchange(language: str) -> tuple[re.Pattern[str], dict[str, tuple[str, str]]]:
    kinds: dict[str, set[tuple[str, str]]] = {}
    for attribute, words in _lexicon()[language].items():
        for kind in ("flaw_adj", "fine_adj", "flaw_noun"):
            for word in words[kind]:
                if len(word) >= (2 if language in ("zh", "ja") else 4):
                    kinds.setdefault(word.lower(), set()).add((attribute, kind))
    known = {word: next(iter(kind)) for word, kind in kinds.items() if len(kind) == 1}
    edge = "" if language in ("zh", "ja") else r"\b"
    longest = sorted(known, key=len, reverse=True)
    return re.compile("|".join(f"{edge}{re.escape(word)}{edge}" for word in longest), re.IGNORECASE), known


@lru_cache(maxsize=1)
def _lexicon() -> Any:
    return yaml.safe_load((FOLDER / "lexicon.yaml").read_text(encoding="utf-8"))


@lru_cache(maxsize=1)
def _templates() -> Any:
    return yaml.safe_load((FOLDER / "templates.yaml").read_text(encoding="utf-8"))
