"""The answer to a question: one case per kind of question, in the form that was asked for."""

from __future__ import annotations

import json
from dataclasses import replace

from agenticiqa.embedded.answers.amounts import (
    Amount,
    amount_of,
    cast_of,
    is_called,
    is_too_much,
    measured_banding,
    quality_loss,
    relation_of,
    step,
    yes_likelihood,
)
from agenticiqa.embedded.answers.best_option import best_option
from agenticiqa.embedded.answers.evidence import Evidence, without
from agenticiqa.embedded.answers.where_answers import EQUAL, find_place, rests_on_parts, share_in
from agenticiqa.embedded.answers.who_is_meant import several_of, verdicts_differ
from agenticiqa.embedded.regions.sharpness import FEWEST_PARTS, GRID, FocusParts
from agenticiqa.limits import PRESENT
from agenticiqa.question.asked import (
    Advice,
    Choose,
    Compare,
    Conditions,
    Declined,
    Degree,
    Flaw,
    Measure,
    Open,
    Question,
    Score,
    Where,
    YesNo,
)
from agenticiqa.question.object_words import object_called
from agenticiqa.question.scales import OWN_SCALE, Scale
from agenticiqa.state import SEVERITIES, UNABLE
from agenticiqa.values import Answer, Distortion, Language, Polarity, Reading, level_of
from agenticiqa.wording import phrase, phrases_in, say
from agenticiqa.wording.findings import absence, advice, capitalised, kind_name, named, strength_in_words

# With too few parts to judge by, a close call about the whole picture is no answer.
MORE_THAN_A_GUESS = 0.6
_FLAWS_TOLD = 3
# From this share of pixels on, in percent, shadows or highlights are clipped; below the other they are not.
CLIPPED, HARDLY_CLIPPED = 2.0, 1.0
TOO_FEW_PIXELS = 100
"""Pixels per inch below which a print shows its pixels at arm's length; 300 are usual, 150 pass."""


def answer(question: Question, evidence: Evidence) -> Answer:
    """The answer in the form asked for; "Unable to determine" with the reason where there is none."""
    question = as_answerable(question)
    if is_about_what_is_absent(question, evidence):
        return _unable("not_found")
    if (which := _which_of_them(question, evidence)) is not None:
        return which
    if verdicts_differ(question, evidence, lambda each: _by_kind(question, each).value) is not None:
        return _unable("who_is_who")
    given = _by_kind(question, evidence)
    # A letter of the choices is an answer in any form that was wished for; JSON around it is none of the choices.
    wants_json = question.reply.json and not question.reply.choices
    return _as_json(question, given) if wants_json and given.why_not is None else given


def as_answerable(question: Question) -> Question:
    """The question; where only the polarity was not understood, one that a statement answers."""
    if isinstance(question, Declined) and question.doubts == ("polarity",):
        return YesNo(question.topic, question.reply, None)
    return question


def _by_kind(question: Question, evidence: Evidence) -> Answer:
    match question:
        case Declined():
            return _unable(question.why)
        case Choose():
            return _choose(question, evidence)
        case Compare():
            return _compare(question, evidence)
        case YesNo():
            return _yes_or_no(question, evidence)
        case Degree():
            return _degree(question, evidence)
        case Score():
            return _score(question, evidence)
        case Measure():
            return _measure(question, evidence)
        case Advice():
            return _advice(question, evidence)
        case Where():
            return _where(question, evidence)
        case Open():
            return _open(question, evidence)


def is_about_what_is_absent(question: Question, evidence: Evidence) -> bool:
    """Whether nothing of what a question is about is in the picture; its size and colours are known all the same."""
    if isinstance(question, Declined) or (isinstance(question, Measure) and question.fact):
        return False
    return bool(question.topic.scope) and set(question.topic.scope) <= set(evidence.absent)


def _unable(why_not: str) -> Answer:
    return Answer(UNABLE, why_not=why_not)


def _which_of_them(question: Question, evidence: Evidence) -> Answer | None:
    """The one of several things that "which dog is sharpest?" or "which face is blurred?" asks for, by its place."""
    meant = next((meant for meant in evidence.meant if len(meant.looks) > 1), None)
    flaw, which, language = question.topic.flaw, question.reply.which, question.reply.language
    if meant is None or which is None or flaw.category is None or isinstance(question, Choose):
        return None
    things = meant.things(language)
    found = [item for look in meant.looks if (item := look.finding(flaw.category)) is not None]
    told = [named(item, language) if item.is_present else absence(flaw.attribute, language) for item in found]
    shares = [share_in(look, question) for look in meant.looks]
    best = (min if which == "least" else max)(range(len(shares)), key=lambda number: shares[number])
    flawed = [number for number, item in enumerate(found) if item.is_present]
    if which != "least" and not flawed:
        nothing = absence(flaw.attribute, language)
        return Answer(say("none_of_them", language, of=len(shares), things=things, what=nothing))
    if max(shares) - min(shares) < EQUAL:
        return Answer(say("alike_in_it", language, of=len(shares), things=things, what=told[best]))
    chosen = flawed if which == "any" else [best]
    texts = [
        say("number_from_left", language, number=number + 1, of=len(shares), things=things, what=told[number])
        for number in chosen
    ]
    return Answer(phrase("words", "and_more", language).join(texts))


def _choose(question: Choose, evidence: Evidence) -> Answer:
    relates = any(option.relation or option.side for option in question.options.values())
    if relates and question.topic.reference == "wanted" and not evidence.has_reference:
        return _unable("no_reference")
    best = best_option(question, evidence)
    return _unable(best) if isinstance(best, str) else Answer(best[0], best[1], value=best[0])


def _yes_or_no(question: YesNo, evidence: Evidence) -> Answer:
    """Yes or no, by whether there is more of the flaw than the question allows; the remark tells the same finding."""
    flaw, polarity = question.topic.flaw, question.sure_polarity
    if question.conditions is not None:
        return _joined_verdict(question, question.conditions, evidence)
    too_much = is_too_much(flaw, question.allowed, evidence)
    if too_much is None:
        return _unable("no_evidence")
    if _is_a_guess_about_the_unfamiliar(flaw, evidence, too_much):
        return _unable("unfamiliar")
    if (measured := _measured_verdict(question, polarity, evidence)) is not None:
        return measured
    if question.part and evidence.parts is not None:
        return _of_parts(question, polarity, evidence.parts, too_much, evidence)
    if _is_of_untold_kind(flaw, evidence):
        too_much = max(too_much, PRESENT)
    remark = _for_all_of_them(_remark(question, evidence, too_much >= PRESENT), question, evidence)
    return _verdict(question, polarity, too_much, remark, _rests_on(flaw, evidence))


def _joined_verdict(question: YesNo, conditions: Conditions, evidence: Evidence) -> Answer:
    """The answer about several flaws: what a yes says of all of them or of any, and a statement for each."""
    polarity = question.sure_polarity
    if conditions.combined == "except":
        excepted = tuple(flaw.category for flaw in conditions.flaws if flaw.category)
        rest = replace(question, topic=replace(question.topic, flaw=Flaw(), excepted=excepted), conditions=None)
        return _yes_or_no(rest, without(evidence, excepted))
    each = [is_too_much(flaw, question.allowed, evidence) for flaw in conditions.flaws]
    likely = [probability for probability in each if probability is not None]
    if not likely or len(likely) < len(each):
        return _unable("no_evidence")
    asks_for_all = conditions.combined in ("both", "neither")
    # All are fine unless any is flawed; all are flawed unless the least likely flaw is not there.
    flawed = min(likely) if asks_for_all == (polarity == "flaw") else max(likely)
    language = question.reply.language
    statements = [
        _remark(replace(question, topic=replace(question.topic, flaw=flaw)), evidence, probability >= PRESENT)
        for flaw, probability in zip(conditions.flaws, likely, strict=True)
    ]
    items = tuple(item for flaw in conditions.flaws for item in _rests_on(flaw, evidence))
    told = phrase("words", "and_more", language).join(statements)
    return _verdict(question, polarity, flawed, told, items)


def _verdict(
    question: YesNo | Compare | Measure,
    polarity: Polarity | None,
    flawed: float,
    remark: str = "",
    rests_on: tuple[Distortion, ...] = (),
    *,
    is_sure: bool = False,
) -> Answer:
    """Yes or no from how likely what the question suspects is there: the one place where polarity is applied.

    Where it is not sure what a yes would say, the statement stands alone.
    """
    certainty = None if is_sure else max(flawed, 1 - flawed)
    if polarity is None:
        return Answer(capitalised(remark), certainty, rests_on=rests_on) if remark else _unable("unclear_polarity")
    is_yes = (flawed >= PRESENT) == (polarity == "flaw")
    reply = question.reply
    pair = {"yes": ("yes", "no"), "true": ("true", "false"), "agree": ("agree", "disagree")}[reply.words]
    word = phrase("words", pair[0] if is_yes else pair[1], reply.language)
    text = word if reply.bare or not remark else say("with_remark", reply.language, word=word, remark=remark)
    return Answer(text, certainty, value=is_yes, rests_on=rests_on)


def _measured_verdict(question: YesNo, polarity: Polarity | None, evidence: Evidence) -> Answer | None:
    """The answer where a measurement or a fact decides it: no colour, another cast, banding, clipping, a print."""
    flaw, language = question.topic.flaw, question.reply.language
    if flaw.attribute == "colour" and (without := _without_colour(question, polarity, evidence)):
        return without
    if flaw.colours and (item := cast_of(evidence)) and (other := _of_another_colour(question, polarity, item)):
        return other
    if question.part and evidence.parts is not None:
        return None
    if (banding := measured_banding(flaw, evidence)) is not None:
        remark = say("banding_share", language, value=f"{banding.value:.3g}")
        return _verdict(question, polarity, SURE_OF_BANDING, remark)
    if isinstance(question.limit, str) and (share := _clipped_share(question.limit, evidence)) is not None:
        remark = say("clipped", language, name=phrase("readings", question.limit, language), value=f"{share:.2g}")
        return _verdict(question, polarity, float(share >= CLIPPED), remark, is_sure=True)
    if isinstance(question.limit, float) and evidence.size is not None:
        density = max(evidence.size) / question.limit
        if density < TOO_FEW_PIXELS:
            width, height = evidence.size
            remark = say("too_few_pixels", language, width=width, height=height, density=round(density))
            return _verdict(question, polarity, 1.0, remark, is_sure=True)
    return None


# How sure a measurement of banding is.
SURE_OF_BANDING = 0.9


def _clipped_share(name: str, evidence: Evidence) -> float | None:
    """The share of pixels without detail, in percent; None where it was not measured or is a close call."""
    item = evidence.strongest(["Brightness change"])
    reading = item.reading(name) if item else None
    if reading is None or HARDLY_CLIPPED <= reading.value < CLIPPED:
        return None
    return reading.value


def _is_a_guess_about_the_unfamiliar(flaw: Flaw, evidence: Evidence, too_much: float) -> bool:
    """Whether a flaw would be told of a page or a drawing by a close call, or by a score with no finding behind it."""
    if evidence.judgement is None or not evidence.judgement.out_of_domain or too_much < PRESENT:
        return False
    item = evidence.strongest([flaw.category] if flaw.category else [])
    return item is None or not item.is_present or item.probability < MORE_THAN_A_GUESS


def _for_all_of_them(remark: str, question: Question, evidence: Evidence) -> str:
    """The remark, and that it holds for each of the things that may be meant, where there are several."""
    language = question.reply.language
    several = next((meant for meant in evidence.meant if len(meant.looks) > 1), None)
    if remark and several is None and (found := next(iter(evidence.counts.items()), None)) and found[1] > 1:
        return say("of_those_found", language, remark=remark, count=found[1], things=several_of(found[0], language))
    if several is None or not remark:
        return remark
    sentence = "largest_of_them" if several.smaller else "each_of_them"
    return say(sentence, language, remark=remark, count=len(several.looks), things=several.things(language))


def _without_colour(question: YesNo, polarity: Polarity | None, evidence: Evidence) -> Answer | None:
    """What is said of the colours of a grey picture, and of skin where no face is; None where there are colours."""
    if evidence.is_grey:
        if polarity == "fine":
            return _unable("grey_picture")
        return _verdict(question, polarity, 0.0, phrase("words", "grey", question.reply.language), is_sure=True)
    skin = [name for name in evidence.unlocated if (called := object_called(name)) and called.kind == "face"]
    return _unable("no_face") if skin else None


def _of_another_colour(question: YesNo, polarity: Polarity | None, item: Distortion) -> Answer | None:
    """The answer about a cast that was found and is not of the colour named; None where it is."""
    is_named = is_called(item, question.topic.flaw.colours)
    if is_named is None:
        return _unable("color_untold")
    if is_named:
        return None
    language = question.reply.language
    remark = say("another_kind", language, named=named(item, language))
    return _verdict(question, polarity, 1 - item.probability, remark, (item,))


def _of_parts(
    question: YesNo, polarity: Polarity | None, parts: FocusParts, whole: float, evidence: Evidence
) -> Answer:
    """The answer to "Is everything in focus?" and "Is anything blurry?", by the softest and the sharpest part."""
    language, told = question.reply.language, parts_told(parts, question.reply.language)
    if polarity is None:
        return _verdict(question, None, max(whole, parts.some_soft), told)
    of_all = (question.part == "all") == (polarity == "fine")
    if not of_all:  # "Is everything blurry?", "Is anything sharp?"
        soft = min(whole, parts.all_soft) if parts.some_soft >= PRESENT else whole
        return _verdict(question, polarity, soft, told)
    soft = max(whole, parts.some_soft)
    if soft < MORE_THAN_A_GUESS and parts.count < FEWEST_PARTS:
        return _unable("few_parts")
    if parts.some_soft >= PRESENT:
        return _verdict(question, polarity, soft, told)
    remark = _remark(question, evidence, whole >= PRESENT)
    if whole < PRESENT and parts.count < GRID**2:
        remark = say("in_those_parts", language, remark=remark, count=parts.count, of=GRID**2)
    return _verdict(question, polarity, soft, remark, _rests_on(question.topic.flaw, evidence))


def parts_told(parts: FocusParts, language: Language) -> str:
    """Where the picture is softest and where sharpest, with the blur radius of either."""
    return say(
        "softest_and_sharpest",
        language,
        soft=phrase("places", parts.softest.place, language),
        radius=f"{parts.softest.softness:.1f}",
        sharp=phrase("places", parts.sharpest.place, language),
        least=f"{parts.sharpest.softness:.1f}",
    )


def _is_of_untold_kind(flaw: Flaw, evidence: Evidence) -> bool:
    """Whether a kind is asked for, and what was found of its category is of a kind that could not be told."""
    item = evidence.strongest([flaw.category]) if flaw.category else None
    return flaw.kind is not None and item is not None and item.is_present and item.kind is None


def _rests_on(flaw: Flaw, evidence: Evidence) -> tuple[Distortion, ...]:
    """The distortion a verdict rests on: the one asked about, as the question's kind and direction see it."""
    amount = amount_of(flaw, evidence)
    return (amount.item,) if amount is not None and amount.item is not None else ()


def _remark(question: YesNo, evidence: Evidence, too_much: bool) -> str:
    """The degree behind a yes or no: "severe blur", "no visible noise", "only slight blur"."""
    topic, language = question.topic, question.reply.language
    flaw, amount = topic.flaw, amount_of(topic.flaw, evidence)
    if amount is None:
        return ""
    if flaw.category is None:
        return _quality_remark(question, evidence, too_much)
    if _is_of_untold_kind(flaw, evidence) and amount.item is not None:
        return say("kind_untold", language, named=named(amount.item, language))
    if not amount.is_present:
        is_other = amount.item is not None and amount.item.is_present and amount.item.category == flaw.category
        if is_other and amount.item is not None:
            return say("another_kind", language, named=named(amount.item, language))
        return absence(flaw.attribute, language)
    told = _amount_in_words(flaw, amount, language)
    return told if too_much else say("no_more_than", language, named=told)


def _amount_in_words(flaw: Flaw, amount: Amount, language: Language) -> str:
    is_told_finer = flaw.colours or (amount.item and amount.item.kind != flaw.kind)
    if flaw.kind and amount.item and is_told_finer:
        return named(amount.item, language)
    return strength_in_words(flaw.attribute, amount.severity, language)


def _quality_remark(question: YesNo, evidence: Evidence, too_much: bool) -> str:
    """What speaks for the answer about everything: the strongest flaw that is there, else the level."""
    topic, language = question.topic, question.reply.language
    worst = next((item for item in evidence.findings if item.is_present), None)
    loss = quality_loss(evidence)
    level = None if loss is None else level_of(5 - 4 * loss)
    if worst is not None and (too_much or level is None):
        return named(worst, language)
    if level is None:
        return absence("overall", language, topic.excepted)
    return say("quality_is", language, level=phrase("levels", level, language).lower())


def _degree(question: Degree, evidence: Evidence) -> Answer:
    flaw, language = question.topic.flaw, question.reply.language
    amount = amount_of(flaw, evidence)
    if amount is None:
        return _unable("no_evidence")
    if question.scale is not None and question.reply.form == "number":
        return _score(Score(question.topic, question.reply, question.polarity, question.scale), evidence)
    if flaw.colours and (item := cast_of(evidence)) and (is_named := is_called(item, flaw.colours)) is not True:
        none = phrase("severities", "none", language)
        if is_named is None:
            return _unable("color_untold")
        told = say("another_kind", language, named=named(item, language))
        return Answer(say("with_remark", language, word=none, remark=told), value=none, rests_on=(item,))
    if flaw.category is None and evidence.judgement is not None:
        word = phrase("levels", level_of(5 - 4 * (quality_loss(evidence) or 0.0)), language)
    elif question.polarity == "fine":
        word = phrases_in("merits", flaw.attribute, language)[amount.severity]
    else:
        word = phrase("severities", SEVERITIES[amount.severity], language)
    certainty = amount.probability if amount.is_present else 1 - amount.probability
    rests_on = (amount.item,) if amount.item else ()
    text = word
    if not amount.is_present and amount.item is not None and amount.item.is_present and flaw.kind:
        remark = say("another_kind", language, named=named(amount.item, language))
        text = say("with_remark", language, word=word, remark=remark)
    return Answer(text, certainty, value=word, rests_on=rests_on)


def _score(question: Score, evidence: Evidence) -> Answer:
    flaw, amount = question.topic.flaw, amount_of(question.topic.flaw, evidence)
    if amount is None or (flaw.category is None and evidence.judgement is None):
        return _unable("no_evidence")
    loss = amount.strength / 4 if amount.is_present else 0.0
    if flaw.category is None:
        loss = quality_loss(evidence) or 0.0
    scale = question.scale or OWN_SCALE
    share = share_of_scale(question.polarity, question.scale, loss)
    return Answer(scale.written(share), value=scale.at(share), rests_on=(amount.item,) if amount.item else ())


def share_of_scale(polarity: Polarity | None, scale: Scale | None, loss: float) -> float:
    """How far up the scale asked for a loss of quality lies: far down, unless the scale counts what is bad."""
    counts_flaws = polarity == "flaw" or (scale is not None and scale.best_is_low)
    return loss if counts_flaws else 1 - loss


def _measure(question: Measure, evidence: Evidence) -> Answer:
    if question.fact:
        return _fact(question, evidence)
    if question.topic.tool:
        value = evidence.values.get(question.topic.tool)
        return _unable("not_measured") if value is None else Answer(f"{value:.4g}", value=value)
    found = _reading(question, evidence)
    if found is None:
        return _unable("not_measured")
    unit = phrase("units", found.unit, question.reply.language)
    return Answer(f"{found.value:.3g} {unit}".rstrip(), value=found.value)


def _fact(question: Measure, evidence: Evidence) -> Answer:
    language = question.reply.language
    if question.fact == "size" and evidence.size is not None:
        text = say("pixels", language, width=evidence.size[0], height=evidence.size[1])
        return Answer(text, value=text)
    if question.fact == "tint":
        return _cast(question, evidence)
    if evidence.is_grey is None:
        return _unable("no_evidence")
    word = phrase("words", "grey" if evidence.is_grey else "in_colour", language)
    if question.polarity is None:
        return Answer(word, value=word)
    return _verdict(question, question.polarity, float(evidence.is_grey), word, is_sure=True)


def _cast(question: Measure, evidence: Evidence) -> Answer:
    """The cast by its colour, or that there is none."""
    item, language = cast_of(evidence), question.reply.language
    if item is None:
        none = absence(question.topic.flaw.attribute, language)
        return Answer(none, value=none)
    if item.colour is None:
        return _unable("color_untold")
    told = named(item, language) if language in ("en", "zh") else phrase("casts", item.colour, language)
    return Answer(told, value=told, rests_on=(item,))


def _reading(question: Measure, evidence: Evidence) -> Reading | None:
    for category, name in question.readings:
        item = evidence.strongest([category])
        if item is not None and (found := item.reading(name)) is not None:
            return found
    return None


def _advice(question: Advice, evidence: Evidence) -> Answer:
    language, flaws = question.reply.language, _asked_flaws(question, evidence)
    if not flaws:
        return Answer(say("nothing_to_do", language, what=_nothing_asked(question, evidence)))
    parts = [
        say(
            "advice",
            language,
            flaw=capitalised(named(item, language)),
            advice=advice(item.category, item.kind, language),
        )
        for item in flaws[:2]
    ]
    return Answer(("" if language in ("zh", "ja") else " ").join(parts), rests_on=tuple(flaws[:2]))


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
        return Answer(parts_told(evidence.parts, language))
    if place is None:
        return _unable("no_evidence")
    return Answer(_nothing_asked(question, evidence) if place == "" else phrase("places", place, language))


def _open(question: Open, evidence: Evidence) -> Answer:
    language, flaws = question.reply.language, _asked_flaws(question, evidence)
    if not flaws:
        nothing = _nothing_asked(question, evidence)
        return Answer(nothing, value=nothing)
    if question.reply.form == "word":
        word = kind_name(flaws[0], language)
        return Answer(word, value=word, rests_on=(flaws[0],))
    told = flaws[:_FLAWS_TOLD]
    text = phrase("words", "and_more", language).join(named(item, language) for item in told)
    return Answer(text, value=text, rests_on=tuple(told))


def _compare(question: Compare, evidence: Evidence) -> Answer:
    language = question.reply.language
    if question.places:
        return _compare_places(question, question.places, evidence)
    if not evidence.has_reference:
        return _unable("no_reference")
    if question.reply.form in ("yesno", "json") and question.by != "what" and not question.which:
        yes = yes_likelihood(question, evidence)
        return _unable("no_evidence") if yes is None else _verdict(question, "flaw", yes)
    relation = relation_of(question.topic.flaw, evidence)
    if relation is None:
        return _unable("no_evidence")
    if question.by == "what" and relation == "worse" and (flaws := _asked_flaws(question, evidence)):
        told = flaws[:_FLAWS_TOLD]
        text = phrase("words", "and_more", language).join(named(item, language) for item in told)
        return Answer(text, rests_on=tuple(told))
    if question.which:
        wanted = "worse" if question.polarity == "flaw" else "better"
        side = "neither" if relation == "same" else "the_test" if relation == wanted else "the_reference"
        return Answer(phrase("words", side, language))
    return Answer(phrase("words", relation, language))


def _compare_places(question: Compare, places: tuple[str, str], evidence: Evidence) -> Answer:
    if evidence.unlocated:
        return _unable("not_located")
    first_called, second_called = map(object_called, places)
    if first_called and second_called:
        one, other = ((each.kinds, each.side) for each in (first_called, second_called))
        if one == other:
            return _unable("not_told_apart")
    first, second = (share_in(evidence.places[name], question) for name in places)
    lead = first - second if question.polarity == "flaw" else second - first
    return _verdict(question, "flaw", step(lead, EQUAL, 0.02), is_sure=True)


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
