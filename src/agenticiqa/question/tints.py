"""The color of a cast that a question names: "Is it too blue?", "Does it have a greenish tint?", "偏黄吗"."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from agenticiqa.question.meaning import Question, Tint

# Of each color its names, the forms that mean a touch of it, and what it is in Chinese and Japanese.
_NAMES: dict[Tint, tuple[str, str, str]] = {
    "red": ("red|rot|roj[oa]s?|rouges?|vermelh[oa]s?", "reddish|röt\\w+|rojiz[oa]|rougeâtre|avermelhad[oa]", "红|赤"),
    "orange": ("orange|naranja|laranja", "orang(?:ey|ish)|anaranjad[oa]|alaranjad[oa]", "橙|オレンジ"),
    "yellow": ("yellow|gelb|amarill[oa]s?|jaunes?|amarel[oa]s?", "yellow(?:ish|y)|gelb\\w+|amarillent[oa]"
               "|jaun(?:âtre|ie?)|amarelad[oa]", "黄"),
    "green": ("green|grün|verdes?|verte?s?", "greenish|grün\\w+|verdos[oa]|verdâtre|esverdead[oa]", "绿|緑"),
    "cyan": ("cyan|teal|turquoise|türkis|turquesa|ciano?", "turquoise-tinted", "青色|シアン"),
    "blue": ("blue|blau|azul|bleue?s?", "blue?ish|bläul\\w+|blaustich\\w*|azulad[oa]|bleuté\\w*|bleuâtre", "蓝|青"),
    "violet": ("violett?e?|purple|lila|morad[oa]|violeta|rox[oa]", "purplish|amoratad[oa]|arroxead[oa]", "紫"),
    "magenta": ("magenta|pink|rosa", "pinkish|rosad[oa]|rosastichig", "品红|粉|ピンク|マゼンタ"),
    "warm": ("warm|cálid[oa]|chaude?s?|quente", "warm-toned", "暖"),
    "cold": ("cold|cool|kalt|kühl|frí[oa]|froide?s?|fri[oa]", "cold-toned|coolish", "冷"),
}  # fmt: skip
_TOO = r"(?:too|overly|zu|demasiado|muy|trop|muito)"
_CAST = r"(?:(?:colou?r )?(?:cast|tint|tinge|tone|hue)s?|(?:farb)?stich|dominante|tinte|teinte|matiz)"
_PICTURE = r"(?:image|picture|photo|shot|white balance|colou?rs?)"


def with_tint(question: Question) -> Question:
    """The question with the color of the cast it names; as it is where it names none or asks about something else."""
    if question.attribute != "colour" or question.intent not in ("yesno", "degree") or question.choices:
        return question
    text = question.stem.lower()
    tint = next((tint for tint in _NAMES if _pattern(tint).search(text)), None)
    return question if tint is None else replace(question, tint=tint, kind="color_cast")


@lru_cache(maxsize=len(_NAMES))
def _pattern(tint: Tint) -> re.Pattern[str]:
    names, touched, signs = _NAMES[tint]
    return re.compile(
        rf"\b{_TOO} (?:{names})\b|\b(?:{names})[ -]?{_CAST}|\b{_CAST}\b(?: \w+){{0,2}} (?:{names})\b|\b(?:{touched})\b"
        rf"|\bhow (?:{names}) (?:is|are|does|do)\b"
        rf"|\b(?:is|looks?|are) (?:it|everything|(?:the|this|that|my) {_PICTURE}) (?:{names})\b"
        rf"|(?:偏|发|泛|太|带)(?:有点|点)?(?:{signs})|(?:{signs})色?(?:调|偏|っぽ|み|かぶり|すぎ)"
    )
