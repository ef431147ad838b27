"""Whether an answer is right, wrong or declined, by the vocabulary the blind questions' answers are written in."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from importlib import resources
from typing import Any, Literal

import yaml

from agenticiqa.question.choices import lettered
from agenticiqa.question.exact_words import normalise
from agenticiqa.state import UNABLE
from agenticiqa.tools.synthetic.kinds import KINDS

Mark = Literal["right", "wrong", "declined"]
_YES = (
    "yes",
    "true",
    "agree",
    "是",
    "对",
    "同意",
    "ja",
    "wahr",
    "sí",
    "verdadero",
    "oui",
    "vrai",
    "はい",
    "正しい",
    "sim",
    "verdadeiro",
)
_NO = (
    "no",
    "false",
    "disagree",
    "否",
    "错",
    "不同意",
    "nein",
    "falsch",
    "falso",
    "non",
    "faux",
    "いいえ",
    "誤り",
    "não",
)
_DEGREES = ("none", "slight", "moderate", "severe", "severe")
# The degrees of a flaw that a level of quality may stand for.
_LEVELS = {
    "A": ("none",),
    "B": ("none", "slight"),
    "C": ("slight", "moderate"),
    "D": ("moderate", "severe"),
    "E": ("severe",),
}
_LEVEL_WORDS = dict(zip(("excellent", "good", "fair", "poor", "bad"), _LEVELS.values(), strict=True))
_FLAWS: dict[str, tuple[str, ...]] = {
    "blur": ("blur", "smoothing", "模糊", "平滑", "Unschärfe", "desenfoque", "flou", "ボケ", "desfoque"),
    "noise": ("noise", "噪", "Rauschen", "ruido", "bruit", "ノイズ", "ruído", "grain"),
    "compression": ("compression", "JPEG", "WebP", "block", "banding", "压缩", "色带", "Kompression", "compresión",
                    "圧縮", "compressão"),
    "dark": ("underexposure", "dark", "欠曝", "过暗", "Unterbelichtung", "subexposición", "sous-exposition",
             "露出不足", "subexposição"),
    "bright": ("overexposure", "bright", "过曝", "过亮", "Überbelichtung", "sobreexposición", "surexposition",
               "露出オーバー", "superexposição"),
    "contrast": ("contrast", "对比度", "Kontrast", "contraste", "コントラスト"),
    "colour": ("color", "colour", "颜色", "偏色", "饱和", "Farb", "couleur", "色の", "cor"),
    "none": ("no visible", "Nothing to do", "没有可见", "无需处理", "nicht zu sehen", "kein sichtbarer",
             "Nichts zu tun", "ningún", "sin ",
             "No hay que", "aucun", "pas de", "Rien à faire", "なし", "対処不要", "nenhum", "sem ", "Nada a fazer"),
}  # fmt: skip
_FLAW_OF: dict[str, str] = {
    "Blurs": "blur", "Noise": "noise", "Compression": "compression", "Contrast": "contrast",
    "Color distortions": "colour",
}  # fmt: skip


def mark(row: Mapping[str, Any], version: str, text: str) -> Mark:
    """The verdict on one answer to a question about one version."""
    accepted = row["answers"][version]
    declined = text.startswith(UNABLE)
    if row["intent"] in ("decline", "declined"):
        return "right" if declined else "wrong"
    if declined:
        return "declined"
    if row["intent"] in ("where", "measure"):
        return "right"
    if row["intent"] == "choose":
        return "right" if _chosen(text, accepted, row) else "wrong"
    if isinstance(accepted, Mapping):
        return "right" if _within(text, accepted) else "wrong"
    told = said(text, row["intent"])
    if row["intent"] == "degree":
        # Of "how good" and "how sharp" the sets name levels, which stand for how little of the flaw there is.
        accepted = [degree for each in accepted for degree in _LEVEL_WORDS.get(each, (each,))]
    if row["intent"] == "yesno" and not told:
        return "declined"  # a statement without a yes or a no
    return "right" if told & set(accepted) else "wrong"


def _within(text: str, accepted: Mapping[str, Any]) -> bool:
    """Whether a score is one of the letters, or a number between the ends, that are accepted."""
    value = _value(text).strip()
    if value in accepted.get("letters", ()):
        return True
    number = re.search(r"-?\d+(?:\.\d+)?", value)
    return number is not None and accepted["min"] <= float(number.group()) <= accepted["max"]


def said(text: str, intent: str) -> set[str]:
    """What an answer says, in the vocabulary of its intent."""
    value = _value(text)
    match intent:
        case "yesno":
            return _yes_or_no(value)
        case "degree":
            return _degree(value)
        case "score":
            return _height(value)
        case _:
            return {_first_flaw(value)}


def _value(text: str) -> str:
    """The text, or the value inside a JSON answer."""
    try:
        found = json.loads(text)
    except ValueError:
        return text
    value = next(iter(found.values())) if isinstance(found, dict) and found else found
    return {True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else str(value)


def _yes_or_no(text: str) -> set[str]:
    head = re.split(r"[\s(（,.:：]", text.strip().lower(), maxsplit=1)[0]
    return {"yes"} if head in _YES else {"no"} if head in _NO else set()


def _degree(text: str) -> set[str]:
    low = text.strip().lower()
    for group, by_language in _phrases()["levels"].items():
        if low in (str(word).lower() for word in by_language.values()) or text.strip() == group:
            return set(_LEVELS[group])
    for place, by_language in enumerate(_phrases()["severities"].values()):
        if any(low.startswith(str(word).lower()) for word in by_language.values()):
            return {_DEGREES[place]}
    for by_language in _phrases().get("merits", {}).values():
        for words in by_language.values():
            if low in [word.lower() for word in words]:
                return {_DEGREES[[word.lower() for word in words].index(low)]}
    height = _height(text)
    if height:
        return {"high": {"severe", "none"}, "low": {"none", "severe"}, "middle": {"slight", "moderate"}}[height.pop()]
    return {"none"} if _first_flaw(text) == "none" else set()


def _height(text: str) -> set[str]:
    """Whether a number lies in the upper, middle or lower part of its scale."""
    if text.strip() in ("A", "B", "C", "D", "E", "F"):
        return {"high"} if text.strip() in "AB" else {"middle"} if text.strip() == "C" else {"low"}
    for group, by_language in _phrases()["levels"].items():
        if text.strip() in by_language.values():
            return {"high"} if group in "AB" else {"middle"} if group == "C" else {"low"}
    number = re.search(r"(-?\d+(?:\.\d+)?)\s*(?:/\s*(\d+(?:\.\d+)?)|(%))?", text)
    if not number:
        return set()
    value = float(number[1])
    whole = (
        float(number[2])
        if number[2]
        else 100.0
        if number[3]
        else 1.0
        if value <= 1
        else 5.0
        if value <= 5
        else 10.0
        if value <= 10
        else 100.0
    )
    share = value / whole
    return {"high"} if share >= 0.6 else {"low"} if share <= 0.4 else {"middle"}


def _first_flaw(text: str) -> str:
    """The flaw named first."""
    places = {
        flaw: min((text.lower().find(word.lower()) for word in words if word.lower() in text.lower()), default=10**6)
        for flaw, words in _names_of_flaws().items()
    }
    if places["none"] < 10**6 and places["none"] <= min(places.values()) + 14:
        return "none"
    return min(places, key=lambda flaw: places[flaw]) if min(places.values()) < 10**6 else ""


@lru_cache(maxsize=1)
def _names_of_flaws() -> dict[str, tuple[str, ...]]:
    """The words for a flaw, with what its kinds are called in every language."""
    names = {flaw: list(words) for flaw, words in _FLAWS.items()}
    for by_language, kind in ((by_language, kind) for kind, by_language in _phrases()["kinds"].items()):
        flaw = {"darken": "dark", "brighten": "bright"}.get(kind) or _FLAW_OF.get(KINDS[kind].category)
        if flaw:
            names[flaw] += by_language.values()
    return {flaw: tuple(words) for flaw, words in names.items()}


def _chosen(text: str, accepted: list[str], row: Mapping[str, Any]) -> bool:
    given = _plain(_value(text))
    # Of choices given apart the letter is told, and the text is as right.
    texts = {letter.casefold(): choice for letter, choice in lettered(row.get("choices", ())).items()}
    if given in texts and _plain(texts[given]) in map(_plain, accepted):
        return True
    wanted = [_plain(option) for option in accepted]
    if given in wanted:
        return True
    others = {_plain(o) for options in row["answers"].values() for o in options} - set(wanted)
    if given in others:
        return False
    return (
        len(given) > 1
        and any(len(w) > 1 and (w in given or given in w) for w in wanted)
        and not any(len(o) > 1 and (o == given or (o in given and not any(w in given for w in wanted))) for o in others)
    )


def _plain(text: str) -> str:
    return " ".join(normalise(str(text)).split()).strip(" .。!?\"'()[]").casefold()


@lru_cache(maxsize=1)
def _phrases() -> dict[str, dict[str, dict[str, Any]]]:
    """The names of levels, severities, merits and kinds, each by language."""
    folder = resources.files("agenticiqa.wording") / "words"
    by_language = {
        file.name.removesuffix(".yaml"): yaml.safe_load(file.read_text(encoding="utf-8")) for file in folder.iterdir()
    }
    groups = ("levels", "severities", "merits", "kinds")
    return {
        group: {name: {each: words[group][name] for each, words in by_language.items()} for name in names}
        for group, names in ((group, by_language["en"][group]) for group in groups)
    }
