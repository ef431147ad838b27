"""Which way a flaw goes, named in German, Spanish, French, Portuguese or Japanese: the lexicon knows two languages."""

from __future__ import annotations

import re
from functools import lru_cache

from agenticiqa.question.meaning import Attribute

_ATTRIBUTE_OF: dict[str, Attribute] = {
    "contrast_up": "contrast", "contrast_down": "contrast", "saturation_up": "colour", "saturation_down": "colour",
    "motion_blur": "blur", "defocus_blur": "blur",
}  # fmt: skip
_KINDS: dict[str, str] = {
    "contrast_up": r"kontrast\w*\b.*\bzu (?:hoch|stark|hart|groß)|zu (?:viel kontrast|kontrastreich)"
                   r"|contraste\b.*\b(?:demasiado alto|muy alto|excesivo|demasiado fuerte|excessif"
                   r"|trop (?:élevé|fort|dur)|muito (?:alto|forte)|alto demais|excessivo)|demasiado contraste"
                   r"|trop de contraste|trop contrasté\w*|contraste demais|muito contraste|コントラストが(?:高|強)すぎ",
    "contrast_down": r"kontrast\w*\b.*\bzu (?:niedrig|gering|schwach|flach)|kontrastarm|zu wenig kontrast|\bflau\b"
                     r"|contraste\b.*\b(?:demasiado bajo|muy bajo|insuficiente|trop (?:faible|bas)|insuffisant"
                     r"|muito baixo|baixo demais)|(?:falta de|poco|pouco|peu de|manque de) contraste"
                     r"|コントラストが(?:低|弱)",
    "saturation_up": r"übersättigt\w*|farben\b.*\bzu (?:kräftig|bunt|grell|stark)|zu bunt|sobresaturad\w*|saturad\w*"
                     r"|demasiado (?:viv|intens|colorid)\w*|sursaturé\w*|trop (?:saturé|viv)\w*|vivas demais"
                     r"|彩度が高すぎ|鮮やかすぎ|色が濃すぎ",
    "saturation_down": r"entsättigt\w*|ausgeblichen\w*|verblasst\w*|farben\b.*\bzu (?:blass|schwach|matt)|blass\b"
                       r"|desaturad\w*|apagad\w*|desvaíd\w*|descolorid\w*|délavé\w*|ternes?\b|désaturé\w*|desbotad\w*"
                       r"|彩度が低|色あせ|色褪せ",
    "motion_blur": r"bewegungsunschärfe|verwackelt\w*|verwacklung|movid[oa]s?\b|trepidad\w*|por (?:el )?movimiento"
                   r"|flou de (?:bougé|mouvement)|bougée?s?\b|tremid[oa]s?|tremor|手ブレ|手ぶれ|被写体ブレ|ブレて",
    "defocus_blur": r"fehlfokus\w*|(?:nicht|falsch) (?:im fokus|fokussiert)|fuera de foco|mal enfocad\w*"
                    r"|mise au point (?:ratée|manquée)|hors (?:du )?foyer|pas (?:au|le) point|fora de foco"
                    r"|ピンぼけ|ピンボケ|ピントが(?:外れ|合っていな|ずれ)",
}  # fmt: skip


def kind_named(text: str, attribute: Attribute) -> str | None:
    """The kind of an attribute's flaw that lower-case text names; None where it names none, or two.

    >>> kind_named("ist der kontrast zu hoch?", "contrast")
    'contrast_up'
    """
    named = [kind for kind, own in _ATTRIBUTE_OF.items() if own == attribute and _pattern(kind).search(text)]
    return named[0] if len(named) == 1 else None


@lru_cache(maxsize=len(_KINDS))
def _pattern(kind: str) -> re.Pattern[str]:
    return re.compile(_KINDS[kind])
