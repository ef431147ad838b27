"""The answer to a question: one case per kind of question, in the form that was asked for."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from agenticiqa.embedded.answers.amounts import (
    amount_of,
    cast_of,
    claimed_by,
    is_called,
    relations,
    step,
    strength_of_end,
)
from agenticiqa.embedded.answers.best_option import best_option
from agenticiqa.embedded.answers.evidence import Evidence
from agenticiqa.embedded.answers.file_facts import fact_in_words
from agenticiqa.embedded.answers.places import EQUAL, find_place, rests_on_parts, share_in, side_by_side
from agenticiqa.embedded.answers.statements import (
    FlawStatement,
    flaws_in_words,
    instead_of,
    parts_in_words,
    statement_of,
)
from agenticiqa.embedded.answers.who_is_meant import one_of, several_of, verdicts_differ
from agenticiqa.limits import PRESENT
from agenticiqa.question.asked import (
    Advice,
    Choose,
    Compare,
    Declined,
    Degree,
    Fact,
    Measure,
    Open,
    Question,
    Score,
    Where,
    YesNo,
)
from agenticiqa.question.object_words import object_called
from agenticiqa.question.scales import OWN_SCALE, Scale, ScaleEnd
from agenticiqa.state import SEVERITIES, UNABLE
from agenticiqa.values import Answer, Distortion, Polarity
from agenticiqa.wording import phrase, phrases_in, say
from agenticiqa.wording.findings import (
    absence,
    advice,
    amount_in_words,
    capitalised,
    joined,
    kind_name,
    labelled,
    named,
    place_name,
    sentences,
)

MOST_FLAWS = 3
_WORDS = {"yes": ("yes", "no"), "true": ("true", "false"), "agree": ("agree", "disagree")}


def answer(question: Question, evidence: Evidence) -> Answer:
    """The answer in the form asked for; "Unable to determine" with the reason where there is none."""
    if is_about_what_is_absent(question, evidence):
        return _unable("not_found")
    if (which := _which_of_them(question, evidence)) is not None:
        return which
    if verdicts_differ(question, evidence, lambda each: _by_kind(question, each).value):
        return _unable("who_is_who")
    given = _by_kind(question, evidence)
    # A letter of the choices is an answer in any form that was wished for; JSON around it is none of the choices.
    wants_json = question.reply.json and not question.reply.choices
    return _as_json(question, given) if wants_json and given.why_not is None else given


def is_about_what_is_absent(question: Question, evidence: Evidence) -> bool:
    """Whether nothing of what a question is about is in the picture; its size and colours are known all the same."""
    if isinstance(question, Declined) or (isinstance(question, Measure) and question.fact):
        return False
    return bool(question.topic.scope) and set(question.topic.scope) <= set(evidence.absent)


def _by_kind(question: Question, evidence: Evidence) -> Answer:
    return _ANSWERS[type(question)](question, evidence)


def _unable(why_not: str) -> Answer:
    return Answer(UNABLE, why_not=why_not)


def _in_words(text: str, *rests_on: Distortion) -> Answer:
    """An answer whose words are its value."""
    return Answer(text, value=text, rests_on=rests_on)


def _verdict(question: YesNo | Compare | Measure, polarity: Polarity | None, told: FlawStatement | str) -> Answer:
    """Yes or no before the statement that decides it: the one place where polarity is applied.

    Where it is not sure what a yes would say, the statement stands alone.
    """
    if isinstance(told, str):
        return _unable(told)
    certainty = None if told.is_measured else max(told.flawed, 1 - told.flawed)
    if polarity is None:
        return Answer(capitalised(told.text), certainty, rests_on=told.rests_on)
    is_yes, reply = (told.flawed >= PRESENT) == (polarity == "flaw"), question.reply
    word = phrase("words", _WORDS[reply.words][0 if is_yes else 1], reply.language)
    is_short = reply.bare or not told.text
    text = word if is_short else say("with_remark", reply.language, word=word, remark=told.text)
    return Answer(text, certainty, value=is_yes, rests_on=told.rests_on)


def _which_of_them(question: Question, evidence: Evidence) -> Answer | None:
    """The one of several things that "which dog is sharpest?" or "which face is blurred?" asks for, by its place."""
    meant, flaw, which = one_of(evidence), question.topic.flaw, question.reply.which
    if meant is None or which is None or flaw.category is None or isinstance(question, Choose):
        return None
    language = question.reply.language
    told_of = {"of": len(meant.looks), "things": several_of(meant.name, language)}
    found = [item for look in meant.looks if (item := look.finding(flaw.category)) is not None]
    told = [named(item, language) if item.is_present else absence(flaw.attribute, language) for item in found]
    shares = [share_in(look, question) for look in meant.looks]
    best = (min if which == "least" else max)(range(len(shares)), key=lambda number: shares[number])
    flawed = [number for number, item in enumerate(found) if item.is_present]
    if which != "least" and not flawed:
        nothing = absence(flaw.attribute, language)
        return _in_words(say("each_of_them", language, remark=nothing, count=told_of["of"], things=told_of["things"]))
    if max(shares) - min(shares) < EQUAL:
        return _in_words(say("alike_in_it", language, what=told[best], **told_of))
    chosen = flawed if which == "any" else [best]
    each = (say("number_from_left", language, number=number + 1, what=told[number], **told_of) for number in chosen)
    return _in_words(joined(each, language))


def _choose(question: Choose, evidence: Evidence) -> Answer:
    relates = any(option.relation or option.side for option in question.options.values())
    if relates and question.topic.reference == "wanted" and not evidence.has_reference:
        return _unable("no_reference")
    best = best_option(question, evidence)
    return _unable(best) if isinstance(best, str) else Answer(best[0], best[1], value=best[0])


def _degree(question: Degree, evidence: Evidence) -> Answer:
    flaw, language = question.topic.flaw, question.reply.language
    amount = amount_of(flaw, evidence)
    if amount is None:
        return _unable("no_evidence")
    if question.scale is not None and question.reply.form == "number":
        return _score(Score(question.topic, question.reply, question.polarity, question.scale), evidence)
    cast = cast_of(evidence) if flaw.colours else None
    is_named = is_called(cast, flaw.colours) if cast else True
    if is_named is None:
        return _unable("color_untold")
    item, severity = (amount.item, amount.severity) if is_named else (cast, 0)
    if flaw.category is None and evidence.judgement is not None:
        word = phrase("levels", evidence.judgement.letter, language)
    elif question.polarity == "fine" and is_named:
        word = phrases_in("merits", flaw.attribute, language)[severity]
    else:
        word = phrase("severities", SEVERITIES[severity], language)
    text, is_other = word, not is_named or (flaw.kind and not amount.is_present and item and item.is_present)
    if is_other and item:
        text = say("with_remark", language, word=word, remark=instead_of(flaw, item, language))
    certainty = amount.probability if amount.is_present else 1 - amount.probability
    return Answer(text, certainty if is_named else None, value=word, rests_on=(item,) if item else ())


def _score(question: Score, evidence: Evidence) -> Answer:
    flaw, amount, scale = question.topic.flaw, amount_of(question.topic.flaw, evidence), question.scale or OWN_SCALE
    if scale.ends:
        return _between(scale, scale.ends, evidence)
    if amount is None or (flaw.category is None and evidence.judgement is None):
        return _unable("no_evidence")
    loss = amount.strength / 4 if amount.is_present else 0.0
    if flaw.category is None and evidence.judgement is not None:
        loss = (5 - evidence.judgement.score) / 4
    # Far down, unless the scale counts what is bad.
    counts_flaws = question.polarity == "flaw" or (question.scale is not None and question.scale.best_is_low)
    share = loss if counts_flaws else 1 - loss
    written = scale.written(share)
    value = written if scale.marks == "letter" else scale.at(share)
    return Answer(written, value=value, rests_on=(amount.item,) if amount.item else ())


def _between(scale: Scale, ends: tuple[ScaleEnd, ScaleEnd], evidence: Evidence) -> Answer:
    """Where a picture stands between two flaws whose middle is right: too dark and too bright, cold and warm."""
    low, high = (strength_of_end(end, evidence) for end in ends)
    if low is None or high is None:
        return _unable("no_evidence")
    value = scale.at(0.5 + (high - low) / 8)
    return Answer(f"{value:+g}" if value and scale.low < 0 else f"{value:g}", value=value)


def _measure(question: Measure, evidence: Evidence) -> Answer:
    if question.fact == "tint":
        return _cast(question, evidence)
    if question.fact:
        return _fact(question, question.fact, evidence)
    if question.topic.tool:
        value = evidence.values.get(question.topic.tool)
        return _unable("not_measured") if value is None else Answer(f"{value:.4g}", value=value)
    items = ((evidence.strongest([category]), name) for category, name in question.readings)
    found = next((reading for item, name in items if item and (reading := item.reading(name))), None)
    if found is None:
        return _unable("not_measured")
    return Answer(amount_in_words(found, question.reply.language), value=found.value)


def _fact(question: Measure, fact: Fact, evidence: Evidence) -> Answer:
    """A fact of the picture or its file; of what is so or not so, with a yes or a no where one is asked for."""
    language, facts = question.reply.language, evidence.file
    is_so = {"rotation": facts.turned != 0, "alpha": facts.transparent} if facts else {}
    text = fact_in_words(fact, facts, question.topic.use, language) if facts else None
    if fact == "grey" and evidence.is_grey is not None:
        text, is_so = phrase("words", "grey" if evidence.is_grey else "in_colour", language), {fact: evidence.is_grey}
    if text is None:
        return _unable("not_in_file")
    truth = is_so.get(fact)
    if truth is None or question.polarity is None:
        return _in_words(text)
    return _verdict(question, question.polarity, FlawStatement(text, float(truth), is_measured=True))


def _cast(question: Measure, evidence: Evidence) -> Answer:
    """The cast by its colour, or that there is none."""
    item, language = cast_of(evidence), question.reply.language
    if item is None:
        return _in_words(absence(question.topic.flaw.attribute, language))
    return _unable("color_untold") if item.colour is None else _in_words(named(item, language), item)


def _advice(question: Advice, evidence: Evidence) -> Answer:
    language, flaws = question.reply.language, _asked_flaws(question, evidence)[:2]
    if not flaws:
        return _in_words(say("nothing_to_do", language, what=_nothing_asked(question, evidence)))
    told = [(capitalised(named(each, language)), advice(each.category, each.kind, language)) for each in flaws]
    parts = [say("advice", language, flaw=flaw, advice=what_to_do) for flaw, what_to_do in told]
    return _in_words(sentences(parts, language), *flaws)


def _nothing_asked(question: Question, evidence: Evidence) -> str:
    """That none of what was asked for is there, or what was found of its category in its place."""
    flaw, language = question.topic.flaw, question.reply.language
    found = evidence.strongest([flaw.category]) if flaw.category else None
    if found is not None and found.is_present:
        return named(found, language)
    return absence(flaw.attribute, language, question.topic.excepted)


def _where(question: Where, evidence: Evidence) -> Answer:
    place, language = find_place(question, evidence), question.reply.language
    if place == "" and evidence.parts is not None and rests_on_parts(question, evidence):
        return _in_words(parts_in_words(evidence.parts, language))
    if place is None:
        return _unable("no_evidence")
    return _in_words(place_name(place, language) if place else _nothing_asked(question, evidence))


def _open(question: Open, evidence: Evidence) -> Answer:
    language, flaws = question.reply.language, _asked_flaws(question, evidence)[:MOST_FLAWS]
    if not flaws:
        return _in_words(_nothing_asked(question, evidence))
    if question.reply.form == "word":
        return _in_words(kind_name(flaws[0], language), flaws[0])
    return _in_words(flaws_in_words(flaws, language), *flaws)


def _compare(question: Compare, evidence: Evidence) -> Answer:
    language = question.reply.language
    if question.places:
        return _compare_places(question, question.places, evidence)
    if not evidence.has_reference:
        return _unable("no_reference")
    likely = relations(question.topic.flaw, evidence)
    if not likely:
        return _unable("no_evidence")
    if question.reply.form in ("yesno", "json") and question.by != "what" and not question.which:
        claimed, polarity = claimed_by(question), _yes_claims(question)
        yes = sum(likely[each] for each in claimed)
        agreeing = (each for each in likely if polarity is None or (each in claimed) == (yes >= PRESENT))
        said = max(agreeing, key=lambda each: likely[each])
        told = phrase("words", said, language)
        if question.between == "reference":
            told = labelled(phrase("words", "the_test", language), told, language)
        return _verdict(question, polarity, FlawStatement(told, yes))
    found = max(likely, key=lambda each: likely[each])
    flaws = _asked_flaws(question, evidence)[:MOST_FLAWS]
    if question.by == "what" and found == "worse" and flaws:
        return _in_words(flaws_in_words(flaws, language), *flaws)
    if not question.which:
        return _in_words(phrase("words", found, language))
    wanted = "worse" if question.polarity == "flaw" else "better"
    side = "neither" if found == "same" else "the_test" if found == wanted else "the_reference"
    return _in_words(phrase("words", side, language))


def _yes_claims(question: Compare) -> Polarity | None:
    """A yes says that the comparison holds; None where it is not sure which way the question asks."""
    return None if question.by == "more" and question.polarity is None else "flaw"


def _compare_places(question: Compare, places: tuple[str, str], evidence: Evidence) -> Answer:
    if evidence.unlocated:
        return _unable("not_located")
    one, other = ((called.kinds, called.side) if called else None for called in map(object_called, places))
    if one and one == other:
        return _unable("not_told_apart")
    first, second = (share_in(evidence.places[name], question) for name in places)
    lead = first - second if question.polarity == "flaw" else second - first
    told = FlawStatement(side_by_side(question, evidence), step(lead, EQUAL, 0.02), is_measured=True)
    return _verdict(question, _yes_claims(question), told)


def _asked_flaws(question: Question, evidence: Evidence) -> list[Distortion]:
    """The findings that are there and asked about, strongest first."""
    flaw = question.topic.flaw
    if flaw.category is not None:
        amount = amount_of(replace(flaw, kind=None), evidence)
        return [amount.item] if amount and amount.is_present and amount.item else []
    return [item for item in evidence.findings if item.is_present]


def _as_json(question: Question, given: Answer) -> Answer:
    """The answer as a JSON object, under the key the question names."""
    wanted = question.reply.json
    assert wanted is not None
    value = given.value if given.value is not None else given.text
    if isinstance(value, bool) and not wanted.boolean:
        value = "yes" if value else "no"
    return replace(given, text=json.dumps({wanted.key: value}, ensure_ascii=False))


_ANSWERS: dict[type, Callable[[Any, Evidence], Answer]] = {
    YesNo: lambda question, evidence: _verdict(question, question.sure_polarity, statement_of(question, evidence)),
    Degree: _degree, Score: _score, Choose: _choose, Compare: _compare, Where: _where,
    Measure: _measure, Advice: _advice, Open: _open, Declined: lambda question, _: _unable(question.why),
}  # fmt: skip
