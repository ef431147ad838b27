"""Reading a question once: from its text and choices to one of the kinds of `asked.py`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

from agenticiqa.question.asked import (
    Advice,
    Choose,
    Compare,
    Declined,
    Degree,
    Flaw,
    JsonReply,
    Measure,
    Open,
    Question,
    Reply,
    Score,
    Topic,
    Where,
    YesNo,
)
from agenticiqa.question.choices import Choices, lettered, split_choices
from agenticiqa.question.default_question import DEFAULT_QUERY
from agenticiqa.question.late_pattern import LatePattern
from agenticiqa.question.meaning import CATEGORY_OF, Attribute, Draft
from agenticiqa.question.print_size import print_inches
from agenticiqa.question.several_questions import split_questions
from agenticiqa.question.understanding import refuses_reference, understand
from agenticiqa.state import AgenticIQAState, DistortionCategory

# The measurement a question asks for by name, and the attribute it belongs to.
_MEASURED: tuple[tuple[str, Attribute, str], ...] = (
    (r"jpe?g quality|quality factor|压缩质量", "compression", "JPEG quality"),
    (r"clip\w*.*shadow|shadow.*clip|below level|\bblack\b|crush|暗部截断", "dark", "clipped shadows"),
    (r"clip|blown|burnt|highlight|\bwhite\b|溢出|截断", "bright", "clipped highlights"),
    (r"mean|average|brightness|luma|luminance|平均|亮度", "exposure", "mean brightness"),
    (r"nois|sigma|grain|噪", "noise", "noise sigma"),
    (r"blur|radius|focus|pixels wide|模糊", "blur", "blur radius"),
    (r"contrast|对比", "contrast", "contrast"),
    (r"saturat|饱和", "colour", "saturation"),
)
_ONE_WORD = LatePattern(
    r"\b(?:only|just|single|one[- ]word|one word|nothing else|no explanation|don'?t explain|do not explain|nur"
    r"|solo|sólo|seulement|uniquement|só|apenas)\b|只|仅|だけ|のみ|一言|一个[字词]",
    re.IGNORECASE,
)
_TRUE = LatePattern(
    r"\btrue\b.{0,8}\bfalse\b|\bt\s*/\s*f\b|对错|判断正误|正誤|wahr oder falsch|vrai ou faux"
    r"|verdader\w* o fals\w*|verdadeir\w* ou fals\w*",
    re.IGNORECASE,
)
_AGREE = LatePattern(r"\bagree\W+(?:or )?disagree\b|同意还是不同意|同意或不同意", re.IGNORECASE)
_SUPERLATIVE = LatePattern(r"\b(?:\w+est|most|worst)\b|最", re.IGNORECASE)
_CLIPPING = LatePattern(
    r"(?P<dark>\b(?:shadows?|blacks?)\b.*\b(?:crush\w*|clip\w*|block\w*|lost)|\b(?:crush\w*|clip\w*|block\w*|lost) "
    r"(?:\w+ )?(?:shadows?|blacks?)\b|暗部(?:死黑|截断))"
    r"|(?P<bright>\b(?:highlights?|whites)\b.*\b(?:blown|clip\w*|burn\w*|lost)"
    r"|\b(?:blown(?:-| )?(?:out )?|clip\w* |burn\w* |lost )"
    r"(?:\w+ )?(?:highlights?|whites)\b|高光(?:溢出|截断))",
    re.IGNORECASE,
)
_KEY = LatePattern(
    r"[\"'“]([A-Za-z_][\w -]{0,40})[\"'”]\s*:"
    r"|(?:key|field|键名?|字段|schlüssel|clave|clé|chave|キー)\s*:?\s*[\"'“]?([A-Za-z_]\w*)",
    re.IGNORECASE,
)
_BOOLEAN = LatePattern(r"\btrue\b|\bfalse\b|\bbool", re.IGNORECASE)
# Whoever asks whether a soft background is a fault asks for no measurement.
_AS_A_FAULT = LatePattern(
    r"\b(?:problem|issue|fault|flaw|matter|distract\w*|disturb\w*|bother\w*|ruin\w*|bad|too)\b", re.IGNORECASE
)
_ASKED_TOGETHER = ("yesno", "degree", "open", "where", "advice", "measure")


def question_of(state: AgenticIQAState, tools: Iterable[str] = ()) -> Question:
    """The question of a run: the one the state holds, else the one its query and choices ask."""
    known: Question | None = state.get("question")
    return read_question(state["query"], state.get("choices"), tools) if known is None else known


def read_question(query: str, choices: Choices | None = None, tools: Iterable[str] = ()) -> Question:
    """The question in a text; choices given as data win over those written in it, tools are names it may speak of."""
    if query == DEFAULT_QUERY and not choices:
        return Score(Topic(), Reply(form="number"))  # of whoever asks nothing no word is read
    labelled = lettered(choices) if choices else split_choices(query)[1]
    draft = understand(query, lettered(choices) if choices else None, tools)
    parts = () if choices or draft.choices else _asked_together(query)
    if not parts:
        question = _as_value(draft)
        return replace(question, reply=replace(question.reply, choices=labelled)) if labelled else question
    named = [part.scope for part in parts]
    scope = tuple(dict.fromkeys(name for names in named for name in names)) if all(named) else ()
    topic = Topic(scope=scope, reference=_reference(draft))
    return Open(topic, Reply(), tuple(_as_value(part) for part in parts))


def _asked_together(query: str) -> list[Draft]:
    """The questions of a sentence that asks several things, each of which is understood; empty for a single one."""
    texts = split_questions(query)
    if len(texts) < 2:
        return []
    drafts = [understand(text) for text in texts]
    different = {(draft.attribute, draft.scope, draft.intent) for draft in drafts}
    plain = all(not draft.is_declined and draft.intent in _ASKED_TOGETHER for draft in drafts)
    return drafts if plain and len(different) == len(drafts) else []


def _as_value(draft: Draft) -> Question:
    topic, reply, polarity = _topic(draft), _reply(draft), draft.yes_means
    match draft.intent:
        case "yesno":
            return YesNo(topic, reply, polarity, draft.degree, draft.reach, _limit(draft))
        case "degree":
            return Degree(topic, reply, polarity, draft.scale)
        case "score":
            return Score(topic, reply, polarity, draft.scale)
        case "choose" if draft.options:
            return Choose(topic, reply, polarity, draft.options, draft.degree, draft.asks_for_absent)
        case "compare":
            between = draft.places or draft.subject
            return Compare(topic, reply, polarity, draft.compares, between, draft.asks_which)
        case "where":
            return Where(topic, reply, draft.asks_for_least)
        case "measure":
            return Measure(topic, reply, polarity, draft.fact, () if draft.fact else _readings(draft))
        case "advice":
            return Advice(topic, reply)
        case "decline" | "unclear":
            why: Literal["content", "unmeasured"] = "unmeasured" if draft.unmeasured else "content"
            told = why if draft.intent == "decline" else "unclear"
            return Declined(topic, reply, told, draft.unmeasured, draft.doubts)
        case _:
            return Open(topic, reply)


def _topic(draft: Draft) -> Topic:
    return Topic(
        flaw=Flaw(draft.attribute, draft.kind, draft.tints),
        scope=draft.scope,
        excepted=draft.excepted,
        tool=draft.tool,
        reference=_reference(draft),
        as_fault=bool(_AS_A_FAULT.search(draft.stem)),
    )


def _reference(draft: Draft) -> Literal["wanted", "refused"] | None:
    if refuses_reference(draft.text):
        return "refused"
    return "wanted" if draft.wants_reference or draft.compares else None


def _reply(draft: Draft) -> Reply:
    text = draft.text
    which: Literal["any", "most", "least"] = "most" if _SUPERLATIVE.search(draft.stem) else "any"
    return Reply(
        language=draft.language,
        form=draft.form,
        words="agree" if _AGREE.search(text) else "true" if _TRUE.search(text) else "yes",
        bare=bool(_ONE_WORD.search(text)),
        json=_json(text) if draft.form == "json" else None,
        which=None if not draft.asks_which else "least" if draft.asks_for_least else which,
    )


def _json(text: str) -> JsonReply:
    named = _KEY.search(text)
    return JsonReply((named.group(1) or named.group(2)) if named else "answer", bool(_BOOLEAN.search(text)))


def _limit(draft: Draft) -> str | float | None:
    """What is measured to decide a yes or no: a share of clipped pixels, or the pixels of a print."""
    clipped = _CLIPPING.search(draft.stem) if draft.attribute in ("dark", "bright", "exposure") else None
    if clipped:
        return "clipped shadows" if clipped["dark"] else "clipped highlights"
    return print_inches(draft.text) if draft.attribute in ("overall", "blur") else None


def _readings(draft: Draft) -> tuple[tuple[DistortionCategory, str], ...]:
    return tuple(
        (CATEGORY_OF[attribute], name)
        for pattern, attribute, name in _MEASURED
        if re.search(pattern, draft.stem, re.IGNORECASE)
    )
