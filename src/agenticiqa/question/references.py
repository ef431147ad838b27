"""Questions that put one thing beside another: the image beside its reference, or one of its places beside another."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Literal

from agenticiqa.question.composition import composed_polarity
from agenticiqa.question.late_pattern import LatePattern
from agenticiqa.question.lexicon import lexicon
from agenticiqa.question.meaning import Attribute, Draft, Meant

_SAME = LatePattern(r"\b(?:identical|the same|alike|equal|indistinguishable)\b|一样|相同|一致")
_DIFFERENT = LatePattern(
    r"\b(?:any|a) (?:visible )?difference\b|\bdiffer(?:ent)?\b|有没有(?:差别|区别|不同)|有差别|有区别"
)
_WHAT = LatePattern(
    r"what(?:'s| is| was| has| have)? (?:been )?(?:changed|different|altered|the differences?)"
    r"|how (?:do|does) .* differ|有什么(?:不同|差别|区别|变化)|哪些(?:不同|变化)|变化在哪"
)
_MORE = LatePattern(
    r"\bthan\b|\bcompared (?:to|with)\b|\brelative to\b|\bversus\b|\bvs\b|\w+(?:er|ier)\b.*\b(?:left|right|image)\b"
    r"|(?<!对)比(?!度|较?例)|不如|相比|哪[张幅]"
)
_LESS = LatePattern(r"\b(?:less|fewer|lower|weaker|milder)\b|下降|变差|降低|更?少(?=吗|$|[?。了])|更弱|更轻")
_REFERENCE_FIRST = LatePattern(
    r"^(?:is|does|has|was|are)?\s*(?:the )?(?:reference|original)\b|^(?:原图|参考图像?)(?:是否|是不是)?(?:比|更)"
)
_PLACE_WORD = LatePattern(
    r"\b(?:which|what) (?:side|half|part|corner|area|region|place|spot)|哪[一个]?(?:边|侧|半|部分|块|处)"
)
_SIDES = LatePattern(r"\b(?:the )?(?:left|right)(?: one| image| side| half)?\b")
_PAIR = LatePattern(r"\b(?:the two|both|these two|they|two images|two pictures)\b|两[张幅图]|它们|二者")


def beside_reference(question: Draft) -> Draft:
    """The question as a comparison with the reference, where it speaks of one and compares."""
    text = question.stem.lower()
    if question.tool or question.intent in ("where", "advice", "measure"):
        return question
    compares = _comparison(text, question)
    if compares is None:
        return question
    if question.choices:
        return replace(question, compares=compares, attribute=_whole(question), doubts=())
    composed = composed_polarity(_LESS.sub(" ", _SIDES.sub(" ", text)), question.language)
    yes_means = question.yes_means
    if composed:
        means_flaw = (composed > 0) != bool(_LESS.search(text))
        yes_means = "flaw" if means_flaw else "fine"
    return replace(
        question,
        intent="compare",
        compares=compares,
        yes_means=yes_means or "fine",
        attribute=_whole(question),
        subject="reference" if _REFERENCE_FIRST.search(text) else "test",
        form="yesno" if compares in ("same", "different") else question.form,
        doubts=(),
    )


def _comparison(text: str, question: Draft) -> Literal["more", "same", "different", "what"] | None:
    speaks_of_two = (
        question.wants_reference or bool(_PAIR.search(text)) or bool(lexicon()["reference_wish"].found_in(text))
    )
    if not (speaks_of_two or question.intent == "compare"):
        return None
    if _WHAT.search(text):
        return "what"
    if _SAME.search(text):
        return "same"
    if _DIFFERENT.search(text):
        return "different"
    return "more" if question.intent == "compare" or _MORE.search(text) else None


def _whole(question: Draft) -> Attribute:
    return "overall" if question.attribute == "none" else question.attribute


_COMPARATIVE: tuple[tuple[str, Attribute, Meant], ...] = (
    (r"sharper|crisper|more in focus|better focus(?:s?ed)?|clearer", "blur", "fine"),
    (r"blurrier|softer|fuzzier|more (?:blurred|blurry|out of focus)", "blur", "flaw"),
    (r"noisier|grainier", "noise", "flaw"), (r"cleaner|less (?:noisy|grainy)", "noise", "fine"),
    (r"darker", "dark", "flaw"), (r"brighter|lighter", "bright", "flaw"),
)  # fmt: skip
_THAN = LatePattern(r"(?:is|are|was|were) (?:the|my|his|her|our) .+? (?P<more>[\w -]+?) than (?:the|my|his|her|our) .+")


def with_comparison(question: Draft) -> Draft:
    """ "Is the dog on the left sharper than the one beside it?" is a comparison, whatever dogs do."""
    than = _THAN.fullmatch(question.stem.strip(" ?").lower())
    if than is None or question.intent not in ("decline", "unclear") or question.choices or question.unmeasured:
        return question
    for words, attribute, yes_means in _COMPARATIVE:
        if re.search(rf"\b(?:{words})$", than["more"]):
            return replace(question, intent="compare", attribute=attribute, yes_means=yes_means, doubts=())
    return question


def beside_place(question: Draft) -> Draft:
    """The question as a comparison of two places of the image, where it names two and compares them."""
    text, named = question.stem.lower(), question.scope
    if (
        question.asks_which
        and _PLACE_WORD.search(text)
        and question.intent in ("compare", "unclear")
        and not question.choices
    ):
        return replace(question, intent="where", doubts=(), attribute=_whole(question))
    if len(named) < 2 or question.compares or (question.choices and not question.asks_which):
        return question
    if question.asks_which or question.intent in ("choose", "where"):
        return replace(question, intent="where", choices={}, options={}, doubts=(), attribute=_whole(question))
    if not _MORE.search(text):
        return question
    composed = composed_polarity(_LESS.sub(" ", _SIDES.sub(" ", text)), question.language)
    means_flaw = (composed > 0) != bool(_LESS.search(text)) if composed else question.yes_means == "flaw"
    return replace(
        question,
        intent="compare",
        compares="more",
        places=(named[0], named[1]),
        attribute=_whole(question),
        yes_means="flaw" if means_flaw else "fine",
        form="yesno",
        doubts=(),
    )
