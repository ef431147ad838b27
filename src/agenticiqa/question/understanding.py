"""Understanding a question: what is exact by grammar, the rest by the reader, and doubt where it is not sure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import cast

from agenticiqa.question.answer_options import read_options
from agenticiqa.question.choices import split_alternatives, split_choices
from agenticiqa.question.composition import composed_polarity, without_asides
from agenticiqa.question.default_question import DEFAULT_QUERY, DEFAULT_QUESTION
from agenticiqa.question.directions import with_direction
from agenticiqa.question.exact_topics import exact_question, in_its_usual_sense, with_named_kind
from agenticiqa.question.exceptions import split_exception
from agenticiqa.question.late_pattern import LatePattern
from agenticiqa.question.lexicon import lexicon, named_tool
from agenticiqa.question.meaning import (
    CATEGORY_OF,
    Attribute,
    Degree,
    Doubt,
    Draft,
    Form,
    Intent,
    Meant,
    OptionMeaning,
)
from agenticiqa.question.plain_questions import with_plain_words
from agenticiqa.question.ratings import with_rating_direction
from agenticiqa.question.reach import with_reach
from agenticiqa.question.reader import Reading, read
from agenticiqa.question.references import beside_place, beside_reference, with_comparison
from agenticiqa.question.scales import good_end, scale_in
from agenticiqa.question.scope import scope_of
from agenticiqa.question.text import masked, normalise, written_language

# Below these probabilities a part of the meaning counts as not understood. Chosen on phrasings the networks had not
# seen, so that a wrong answer costs as much as two declined ones.
LEAST_SURE: dict[Doubt, float] = {"intent": 0.35, "attribute": 0.35, "polarity": 0.75}
# Below this one, what is wrong and what to do are asked of the whole quality.
SURELY_ONE_ATTRIBUTE = 0.5
# From here on a question with options is believed not to be about quality.
SURELY_NOT_ABOUT_QUALITY = 0.8
# "Is it blurry or not?" asks for a yes or a no.
_OR_NOT = LatePattern(r"(?:is it |are they )?(?:not|no|nah)|没有?|不是?|nicht|kein\w*|pas|non|não|ない", re.IGNORECASE)
_CHANGED = LatePattern(r"\bbeen (?:changed|altered|manipulated|distorted)\b")
_CATEGORY_NAMES: dict[str, Attribute] = {
    "sharpness distortion": "oversharp", "brightness change": "exposure", "contrast change": "contrast",
    "color distortion": "colour", "colour distortion": "colour",
}  # fmt: skip
# Measurements asked for by their names.
_MEASUREMENT = LatePattern(
    r"noise sigma|jpe?g quality|blur radius|mean brightness|噪声标准差|模糊半径|平均亮度"
    r"|nois\w*\b.*\bin gr[ea]y levels|blur\w*\b.*\bin (?:pixels|px)\b"
    r"|\b(?:how (?:much|many)|what (?:share|percent\w*|part|fraction|proportion))\b.*"
    r"\b(?:(?:pure|pitch|completely|totally|fully) (?:black|white)|clipped|blown(?: out)?|burnt out|crushed)\b",
    re.IGNORECASE,
)
# The value of a tool, rather than a rating by it.
_VALUE = LatePattern(
    r"\bwhat(?:'s| is| does)\b|\bvalues?\b|\bhow (?:high|large|much)\b|\braw\b"
    r"|多少|数值|\bwert\b|\bvalor\b|\bvaleur\b|値",
    re.IGNORECASE,
)
_RATES = LatePattern(
    r"\b(?:rat\w+|scor\w+|grad\w+|assess\w*|evaluat\w*|judg\w+|quality|good|use|using|with|by)\b|打分|评|画质|质量|用",
    re.IGNORECASE,
)
# From here on alternatives are looked for in a text.
_MAYBE_CHOICE = 0.12
# The intents that may leave out a part of everything.
_OF_EVERYTHING: tuple[Intent, ...] = ("open", "advice", "yesno")
_HAS_POLARITY: tuple[Intent, ...] = ("yesno", "degree", "score", "compare")


def understand(query: str, choices: Mapping[str, str] | None = None, tools: Iterable[str] = ()) -> Draft:
    """The question in a text; choices given as data win over those written in it."""
    if query == DEFAULT_QUERY and not choices:
        return DEFAULT_QUESTION
    rest, excepted = ("", ()) if choices else split_exception(normalise(query))
    if excepted:
        of_the_rest = _understand(rest, None, tools)
        if of_the_rest.intent in _OF_EVERYTHING and of_the_rest.attribute == "overall" and not of_the_rest.choices:
            return replace(of_the_rest, text=normalise(query), excepted=excepted)
    return _understand(query, choices, tools)


def _understand(query: str, choices: Mapping[str, str] | None, tools: Iterable[str]) -> Draft:
    text = in_its_usual_sense(normalise(query))
    asked = without_asides(text)
    stem, written = split_choices(asked)
    options = {label: normalise(option) for label, option in (choices or written).items()}
    if not options and (exact := exact_question(asked)):
        return exact
    reading = read(asked if not choices else stem)
    if not options:
        stem, options = _alternatives(asked, reading)
    intent = _intent(reading, has_options=bool(options))
    question = with_direction(with_reach(with_named_kind(with_plain_words(_read(text, stem, intent, reading)))))
    question = _with_named_end(with_rating_direction(_with_exact_names(question)))
    tool = named_tool(stem, tools)
    if _MEASUREMENT.search(stem) and intent in ("open", "degree", "decline", "score"):
        question = replace(question, intent="measure", doubts=())
    if tool and (intent in ("decline", "measure", "open", "score", "compare") or question.doubts):
        wanted: Intent = "measure" if _VALUE.search(stem) or not _RATES.search(stem) else "score"
        question = replace(question, intent=wanted, attribute="overall", yes_means="fine", doubts=(), confidence=1.0)
    if options and question.intent != "decline":
        meanings = read_options(options, question.attribute, question.language)
        question = replace(question, choices=options, options=meanings)
    question = _with_wishes(with_comparison(replace(question, tool=tool)))
    scope = () if question.intent == "decline" else scope_of(stem.lower(), images=not _PLACE_WORD.search(stem))
    if question.attribute in ("dark", "bright", "exposure"):  # they are no things that could be located
        scope = tuple(name for name in scope if name not in ("shadows", "shadow", "highlights", "highlight"))
    question = beside_place(replace(question, scope=scope if question.intent != "where" else _asked(scope)))
    question = question if question.places or question.intent == "where" else beside_reference(question)
    return replace(question, scope=()) if question.is_declined else _with_the_least(question)


def _asked(scope: tuple[str, ...]) -> tuple[str, ...]:
    """ "In which corner" asks for a place and names none."""
    return tuple(name for name in scope if name != "edges")


def _with_exact_names(question: Draft) -> Draft:
    """The question with what the seven categories are called, and "has it been changed?" as a question for a flaw."""
    text = question.stem.lower()
    named = next((attribute for name, attribute in _CATEGORY_NAMES.items() if name in text), None)
    if named:
        question = replace(question, attribute=named)
    return replace(question, yes_means="flaw") if question.yes_means and _CHANGED.search(text) else question


def _with_named_end(question: Draft) -> Draft:
    """A rating whose question says which end of the scale is the good one needs no guess about that."""
    if question.scale is None or "intent" in question.doubts or question.choices:
        return question
    end = good_end(question.text, question.scale)
    if end is None or (question.intent == "unclear" and question.doubts != ("polarity",)):
        return question
    yes_means: Meant = "fine" if end == "high" else "flaw"
    intent: Intent = "score" if question.intent == "unclear" else question.intent
    return replace(question, intent=intent, yes_means=yes_means, doubts=())


def _with_the_least(question: Draft) -> Draft:
    """A comparison for the least of a flaw ("the fewest artifacts") asks for the good end, "least sharp" for the bad.

    Where clauses differ ("the cleanest, with the least noise") the one with the least in it decides.
    """
    least, text = lexicon()["least"], question.stem.lower()
    clause = next((part for part in re.split(r"[.?!;:。,]", text) if least.found_in(part)), None)
    if question.intent != "compare" or clause is None or re.search(r"\bto (?:the )?least\b", clause):
        return question
    composed = composed_polarity(masked(clause, least.spans(clause)), question.language)
    return replace(question, yes_means="fine" if composed > 0 else "flaw") if composed else question


def _alternatives(text: str, reading: Reading) -> tuple[str, dict[str, str]]:
    """Options without labels, where the reader takes the text for a choice or they are opposites ("sharp or soft?")."""
    likely = reading.probabilities["intent"]["choose"]
    if likely < _MAYBE_CHOICE:
        return text, {}
    stem, options = split_alternatives(text)
    if reading.best("intent") != "choose" and any(_OR_NOT.fullmatch(option) for option in options):
        return text, {}
    attribute = cast(Attribute, reading.best("attribute"))
    meanings = list(read_options(options, attribute, reading.language).values())
    if not meanings or all(meaning.truth is not None for meaning in meanings):
        return text, {}
    return (stem, options) if reading.best("intent") == "choose" or _are_opposed(meanings) else (text, {})


def _are_opposed(meanings: Sequence[OptionMeaning]) -> bool:
    """Whether alternatives exclude one another: a flaw and its absence, low and high, two kinds of one flaw.

    "Either too dark or too bright?" is a question for one flaw, unless the reader takes it for a choice.
    """
    good = [each for each in meanings if each.says == "fine" or each.nothing or (each.level or 0) >= 3.5]
    bad = [each for each in meanings if each.says == "flaw" or 0 < (each.level or 3) <= 2.5]
    kinds, of = {each.kind for each in meanings}, {each.attribute for each in meanings}
    if len(meanings) == len(kinds) == 2 and None not in kinds and len(of) == 1:
        return True
    return bool(good and bad) or len({each.amount for each in meanings} - {None}) > 1


def refuses_reference(query: str) -> bool:
    """Whether the question wants the image judged by itself, although a reference may be given."""
    return lexicon()["reference_refused"].found_in(query.lower())


def _intent(reading: Reading, *, has_options: bool) -> Intent:
    likely = reading.probabilities["intent"]
    if has_options:
        return "decline" if likely["decline"] > SURELY_NOT_ABOUT_QUALITY else "choose"
    return cast(Intent, reading.best("intent"))


def _read(text: str, stem: str, intent: Intent, reading: Reading) -> Draft:
    doubts = _doubts(intent, reading)
    question = Draft(
        text=text,
        stem=stem,
        language=written_language(text, reading.language),
        intent="unclear" if doubts else intent,
        attribute=_attribute(intent, reading),
        yes_means=cast(Meant, reading.best("yes_means")) if intent in _HAS_POLARITY or intent == "choose" else None,
        degree="severe" if re.search(_SEVERE, stem.lower()) else cast(Degree, reading.best("degree")),
        form=cast(Form, reading.best("form")),
        scale=scale_in(text) if intent in ("score", "degree", "choose") else None,
        kind=_kind(stem.lower()),
        confidence=_confidence(intent, reading),
        doubts=doubts,
    )
    return replace(question, attribute="overall") if question.attribute == "none" and intent != "decline" else question


def _attribute(intent: Intent, reading: Reading) -> Attribute:
    """What the question is about; what is open and names nothing clearly is about the whole quality."""
    if intent == "decline":
        return "none"
    if intent in ("open", "advice", "where") and reading.sure("attribute") < SURELY_ONE_ATTRIBUTE:
        return "overall"
    return cast(Attribute, reading.best("attribute"))


def _doubts(intent: Intent, reading: Reading) -> tuple[Doubt, ...]:
    """The parts of the meaning that are not sure enough to answer."""
    doubts: list[Doubt] = []
    if intent != "choose" and reading.sure("intent") < LEAST_SURE["intent"]:
        doubts.append("intent")
    if intent in _HAS_POLARITY and reading.sure("attribute") < LEAST_SURE["attribute"]:
        doubts.append("attribute")
    # "How sharp" and "how blurry" have the same answer; only its words differ.
    if intent in _HAS_POLARITY and intent != "degree" and reading.sure("yes_means") < LEAST_SURE["polarity"]:
        doubts.append("polarity")
    return tuple(doubts)


def _confidence(intent: Intent, reading: Reading) -> float:
    sure = reading.sure("intent")
    if intent != "decline":
        sure *= reading.sure("attribute")
    return sure * reading.sure("yes_means") if intent in _HAS_POLARITY else sure


def _kind(text: str) -> str | None:
    kinds = (match.meaning.kind for match in lexicon().matches(text, "distortions"))
    return next((kind for kind in kinds if kind), None)


def _with_wishes(question: Draft) -> Draft:
    lowered, words = question.stem.lower(), lexicon()
    refuses = refuses_reference(lowered)
    return replace(
        question,
        wants_reference=words["reference_wish"].found_in(lowered) and not refuses,
        refuses_reference=refuses,
        asks_for_absent=bool(re.search(_ABSENT, _without(question.choices, lowered))),
        asks_which=bool(re.search(_WHICH, lowered)),
        asks_for_least=_wants_the_good_end(lowered, question),
    )


def _without(choices: Mapping[str, str], text: str) -> str:
    for option in choices.values():
        text = text.replace(option.lower(), " ")
    return text


_PLACE_WORD = LatePattern(
    r"\b(?:side|half|part|corner|area|region|face|background|foreground|centre|center)\b|边|侧|部分|半"
)


def _wants_the_good_end(text: str, question: Draft) -> bool:
    """Whether the place with the least of a flaw, or the best quality, is asked for."""
    if question.attribute not in CATEGORY_OF:
        return bool(re.search(_BEST, text))
    least = lexicon()["least"].found_in(text) or bool(re.search(_LESS, text))
    return least != bool(re.search(_PRAISE, text))


_LESS = r"\b(?:less|fewer) (?!than\b)"
_BEST = r"\b(?:highest|best|better)\b|最高|最好|更好"
_SEVERE = r"\b(?:severely|extremely|heavily|terribly|totally|completely ruined)\b|极其|非常严重"
_ABSENT = r"\b(?:not|n't) (?:exist|present|there|visible|apply)|\bleast\b|\babsent\b|不存在|没有出现|最轻|最不"
_WHICH = r"\bwhich\b|\bwho\b|哪|\bwelche|\bcuál|\bquelle?\b|\blaquelle\b|\bqual\b|どれ|どちら|どっち"
_PRAISE = (
    r"\b(?:sharp(?:e[rs]t?)?|crisp(?:e[rs]t?)?|in focus|clear(?:e[rs]t?)?|clean(?:e[rs]t?)?|best|better)\b"
    r"|最清|最好|清晰|合焦|最干净"
)
