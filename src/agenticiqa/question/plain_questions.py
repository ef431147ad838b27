"""Questions so plain that their words decide: one word for a merit or a flaw, or what one would do with the picture."""

from __future__ import annotations

import re
from dataclasses import replace

from agenticiqa.question.composition import composed_polarity
from agenticiqa.question.late_pattern import LatePattern
from agenticiqa.question.meaning import Attribute, Draft, Meant

# Nothing but a subject and one word for a merit or a flaw, and no word that could turn it.
_TURNING = (
    r"not?|never|hardly|barely|scarcely|any\w*|less|least|nothing|but|free|far|without|too|more|rather|still|only|un\w+"
    r"|opposite|reverse|contrary|avoid\w*|prevent\w*"
)
_PLAIN_WORD = rf"(?!(?:{_TURNING})\b)[\w'’]+"
_PLAIN_QUESTION = LatePattern(
    rf"(?:is|are) (?:it|(?:the|this|that|these|those|my|his|her|its|their|our)(?: {_PLAIN_WORD}){{1,3}}"
    rf"(?: (?:on|in|at|behind|beside|near) (?:the |her |his |my )?{_PLAIN_WORD}(?: {_PLAIN_WORD})?)?)"
    r" (?:really |very )?(?:(?P<fine>in (?:sharp )?focus|sharp|crisp)|(?P<flaw>blurry|blurred|fuzzy|out of focus|grainy"
    r"|noisy|pixelated|over-?exposed|under-?exposed|washed out))\s*\?*"
)
# Of these words the ones that speak of nothing but pictures: knives are sharp, too, and streets noisy.
_PLAINLY_PICTURES: dict[str, Attribute] = {
    "focus": "blur", "blur": "blur", "grainy": "noise", "pixelated": "compression", "over": "bright", "under": "dark",
}  # fmt: skip
# What one would do with a picture tells how good it is; nothing else of quality is named.
_USE_QUESTION = LatePattern(
    r"(?:would(?:n't)? you|should i|shall i|do i have to|do i need to|must i|would it be (?:wise|better) to) "
    r"(?:(?P<keeps>print|keep|hang|frame|publish|use)"
    r"|(?:delete|bin|trash|reject|discard|retake|reshoot|redo|throw away))"
    r"(?: (?:it|this|that|(?:this|that|the|my) (?:one|photo|picture|pic|image|shot|file|frame)))?(?: away| up| again)?"
    r"(?: (?:on|for|in|as|at) (?:an? |the |my |our )?(?:wall|poster|magazine|book|canvas|album|web ?site|web ?shop|shop"
    r"|catalogue|catalog|client|customer|cover|portfolio|newspaper|billboard|exhibition))?\s*\?*"
)
# The best of several, or the one to keep: quality as a whole, whatever "shot" or "file" might remind of.
_PICTURES = r"(?:photo|picture|pic|image|shot|file|frame|take|version|one|exposure)s?"
_BEST_OF_SEVERAL = LatePattern(
    rf"which(?: one)?(?: of)?(?: (?:the|these|those|them|my|our|all))*(?: (?:two|three|four|five|\d+))?"
    rf"(?: {_PICTURES})?"
    r"(?: (?:is|looks) (?:the )?(?:overall )?best(?: overall)?"
    r"| should i (?:keep|use|choose|pick|publish|post|print|send)(?: to (?:the |my |a )?[\w ]+)?)\s*\?*"
    r"|welche[srmn]? (?:(?:der|dieser|meiner|von diesen) )?(?:bild|bilder|foto|fotos|aufnahme|aufnahmen)? ?"
    r"ist (?:das |die )?(?:am besten|beste)\s*\?*"
)
# "Not sharp?", "Not enough contrast?": whoever leaves out subject and verb suspects the flaw.
_LEFT_OUT = LatePattern(r"not ((?:enough |quite |really |very |so |too )?.+)")
# How a picture is composed, not how good it is.
_NOT_OUR_TRADE = LatePattern(
    r"\bhorizon\b.*\b(?:straight|level|crooked|tilted)\b|\b(?:crooked|tilted|rule of thirds|well composed)\b",
    re.IGNORECASE,
)


def with_plain_words(question: Draft) -> Draft:
    """ "Is her face in focus?" needs no guess about what "yes" means; how straight a horizon is we do not judge."""
    if _NOT_OUR_TRADE.search(question.stem) and not question.choices:
        return replace(question, intent="decline", attribute="none", yes_means=None, doubts=())
    text = question.stem.strip().lower()
    if not question.choices and _BEST_OF_SEVERAL.fullmatch(text):
        return replace(question, intent="compare", attribute="overall", yes_means="fine", doubts=())
    if "intent" in question.doubts or question.choices:
        return question
    if (left_out := _LEFT_OUT.match(text)) and question.intent == "yesno" and _is_merit(left_out[1], question):
        return replace(question, yes_means="flaw")
    if plain := _PLAIN_QUESTION.fullmatch(text):
        return _of_one_attribute(question, plain)
    if (use := _USE_QUESTION.fullmatch(text)) and question.intent in ("yesno", "unclear", "decline"):
        yes_means: Meant = "fine" if use["keeps"] else "flaw"
        return replace(
            question,
            intent="yesno",
            attribute="overall",
            yes_means=yes_means,
            form="yesno",
            degree="acceptable",
            doubts=(),
        )
    return question


def _is_merit(words: str, question: Draft) -> bool:
    return words.startswith("enough ") or composed_polarity(words, question.language) < 0


def _of_one_attribute(question: Draft, plain: re.Match[str]) -> Draft:
    yes_means: Meant = "fine" if plain["fine"] else "flaw"
    if question.intent in ("yesno", "unclear"):
        return replace(question, intent="yesno", yes_means=yes_means, doubts=())
    word = plain["fine"] or plain["flaw"]
    named = next((attribute for part, attribute in _PLAINLY_PICTURES.items() if part in word), None)
    if question.intent != "decline" or named is None:
        return question
    return replace(question, intent="yesno", attribute=named, yes_means=yes_means, form="yesno", degree="visible")
