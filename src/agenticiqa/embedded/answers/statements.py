"""What is true of a flaw, whatever was asked about it: the statement that a yes or a no stands before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from agenticiqa.embedded.answers.amounts import (
    amount_of,
    cast_of,
    is_called,
    is_too_much,
    measured_banding,
)
from agenticiqa.embedded.answers.evidence import Evidence, without
from agenticiqa.embedded.answers.file_facts import print_in_words
from agenticiqa.embedded.answers.who_is_meant import for_all_of_them
from agenticiqa.embedded.regions.sharpness import FEWEST_PARTS, GRID, FocusParts
from agenticiqa.limits import PRESENT
from agenticiqa.question.asked import Conditions, Flaw, Use, YesNo
from agenticiqa.values import Distortion, Language
from agenticiqa.wording import phrase, say
from agenticiqa.wording.findings import absence, joined, named, reading_in_words, strength_in_words

# With too few parts to judge by, a close call about the whole picture is no answer.
MORE_THAN_A_GUESS = 0.6
# From this share of pixels on, in percent, shadows or highlights are clipped; below the other they are not.
CLIPPED, HARDLY_CLIPPED = 2.0, 1.0
# How sure a measurement of banding is.
SURE_OF_BANDING = 0.9


@dataclass(frozen=True)
class FlawStatement:
    """What is true of a flaw, in words, and how likely there is more of it than the question allows.

    What was measured is sure; the rest has the certainty of the finding it rests on.
    """

    text: str
    flawed: float
    rests_on: tuple[Distortion, ...] = ()
    is_measured: bool = False


_Case = Callable[[YesNo, Evidence], FlawStatement | str | None]


def statement_of(question: YesNo, evidence: Evidence) -> FlawStatement | str:
    """The statement that answers a question, or the name of the reason why there is none."""
    if question.conditions is not None:
        return _of_several(question, question.conditions, evidence)
    flaw = question.topic.flaw
    too_much = is_too_much(flaw, question.allowed, evidence)
    if too_much is None:
        return "no_evidence"
    if _is_a_guess_about_the_unfamiliar(flaw, evidence, too_much):
        return "unfamiliar"
    measured: tuple[_Case, ...] = (_of_parts,) if question.part else (_of_banding, _of_clipping, _of_print)
    for case in (_of_no_colour, _of_another_colour, *measured):
        if (found := case(question, evidence)) is not None:
            return found
    return _of_flaw(question, evidence)


def _of_several(question: YesNo, conditions: Conditions, evidence: Evidence) -> FlawStatement | str:
    """The statements of several flaws, and how likely what a yes denies holds of all of them or of any."""
    if conditions.combined == "except":
        excepted = tuple(flaw.category for flaw in conditions.flaws if flaw.category)
        rest = replace(question, topic=replace(question.topic, flaw=Flaw(), excepted=excepted), conditions=None)
        return statement_of(rest, without(evidence, excepted))
    alone = [replace(question, topic=replace(question.topic, flaw=flaw), conditions=None) for flaw in conditions.flaws]
    each = [statement_of(one, evidence) for one in alone]
    if unknown := [told for told in each if isinstance(told, str)]:
        return unknown[0]
    told = [statement for statement in each if isinstance(statement, FlawStatement)]
    # All are fine unless any is flawed; all are flawed unless the least likely flaw is not there.
    asks_for_all = conditions.combined in ("both", "neither")
    of_all = min if asks_for_all == (question.sure_polarity == "flaw") else max
    return FlawStatement(
        joined((statement.text for statement in told), question.reply.language),
        of_all(statement.flawed for statement in told),
        tuple(item for statement in told for item in statement.rests_on),
    )


def _of_flaw(question: YesNo, evidence: Evidence) -> FlawStatement:
    """The degree behind a yes or no: "severe blur", "no visible noise", "only slight blur"."""
    flaw, language = question.topic.flaw, question.reply.language
    amount, flawed = amount_of(flaw, evidence), is_too_much(flaw, question.allowed, evidence) or 0.0
    item = amount.item if amount else None
    rests_on = (item,) if item else ()
    if flaw.category is None or amount is None:
        return FlawStatement(_quality_in_words(question, evidence, flawed >= PRESENT), flawed, rests_on)
    if item and item.is_present and flaw.kind and item.kind is None:
        text, flawed = say("kind_untold", language, named=named(item, language)), max(flawed, PRESENT)
    elif not amount.is_present:
        is_other = item and item.is_present and item.category == flaw.category
        text = instead_of(flaw, item, language) if is_other and item else absence(flaw.attribute, language)
    else:
        is_told_finer = flaw.kind and item and (flaw.colours or item.kind != flaw.kind)
        strength = strength_in_words(flaw.attribute, amount.severity, language)
        text = named(item, language) if is_told_finer and item else strength
        text = text if flawed >= PRESENT else say("no_more_than", language, named=text)
    return FlawStatement(for_all_of_them(text, question, evidence), flawed, rests_on)


def _of_no_colour(question: YesNo, evidence: Evidence) -> FlawStatement | str | None:
    """What is said of the colours of a grey picture; None where there are colours."""
    if question.topic.flaw.attribute != "colour" or not evidence.is_grey:
        return None
    grey = FlawStatement(phrase("words", "grey", question.reply.language), 0.0, is_measured=True)
    return "grey_picture" if question.sure_polarity == "fine" else grey


def _of_another_colour(question: YesNo, evidence: Evidence) -> FlawStatement | str | None:
    """The statement about a cast that was found and is not of the colour named; None where it is."""
    colours, item = question.topic.flaw.colours, cast_of(evidence)
    is_named = is_called(item, colours) if colours and item else True
    if item is None or is_named:
        return None
    if is_named is None:
        return "color_untold"
    return FlawStatement(instead_of(question.topic.flaw, item, question.reply.language), 1 - item.probability, (item,))


def _of_banding(question: YesNo, evidence: Evidence) -> FlawStatement | None:
    banding = measured_banding(question.topic.flaw, evidence)
    if banding is None:
        return None
    return FlawStatement(say("banding", question.reply.language, value=f"{banding.value:.3g}"), SURE_OF_BANDING)


def _of_clipping(question: YesNo, evidence: Evidence) -> FlawStatement | None:
    """What the share of pixels without detail says; None where it was not measured or is a close call."""
    item = evidence.strongest(["Brightness change"]) if isinstance(question.limit, str) else None
    reading = item.reading(str(question.limit)) if item else None
    if reading is None or HARDLY_CLIPPED <= reading.value < CLIPPED:
        return None
    told = reading_in_words(reading, question.reply.language)
    return FlawStatement(told, float(reading.value >= CLIPPED), is_measured=True)


def _of_print(question: YesNo, evidence: Evidence) -> FlawStatement | None:
    """Whether a print has enough pixels, and where it has, what else is to be said of it."""
    use = Use("print", question.limit) if isinstance(question.limit, float) else question.topic.use
    if use is None or use.purpose != "print" or evidence.size is None:
        return None
    told, is_enough = print_in_words(use, evidence.size, question.reply.language)
    found = _of_flaw(question, evidence)
    text = joined([found.text, told], question.reply.language)
    if is_enough:
        return replace(found, text=text)
    return FlawStatement(text if question.topic.flaw.category else told, 1.0, is_measured=True)


def _of_parts(question: YesNo, evidence: Evidence) -> FlawStatement | str | None:
    """The answer to "Is everything in focus?" and "Is anything blurry?", by the softest and the sharpest part."""
    parts, polarity = evidence.parts, question.sure_polarity
    if parts is None:
        return None
    language, whole = question.reply.language, is_too_much(question.topic.flaw, question.allowed, evidence) or 0.0
    told = parts_in_words(parts, language)
    of_all = polarity is None or (question.part == "all") == (polarity == "fine")
    if not of_all:  # "Is everything blurry?", "Is anything sharp?"
        return FlawStatement(told, min(whole, parts.all_soft) if parts.some_soft >= PRESENT else whole)
    soft = max(whole, parts.some_soft)
    if soft < MORE_THAN_A_GUESS and parts.count < FEWEST_PARTS:
        return "few_parts"
    if parts.some_soft >= PRESENT:
        return FlawStatement(told, soft)
    told_of_all = _of_flaw(question, evidence)
    text = told_of_all.text
    if whole < PRESENT and parts.count < GRID**2:
        text = say("in_those_parts", language, remark=text, count=parts.count, of=GRID**2)
    return replace(told_of_all, text=text, flawed=soft)


def parts_in_words(parts: FocusParts, language: Language) -> str:
    """Where the picture is softest and where sharpest, with the blur radius of either."""
    return say(
        "softest_and_sharpest",
        language,
        soft=phrase("places", parts.softest.place, language),
        radius=f"{parts.softest.softness:.1f}",
        sharp=phrase("places", parts.sharpest.place, language),
        least=f"{parts.sharpest.softness:.1f}",
    )


def instead_of(flaw: Flaw, item: Distortion, language: Language) -> str:
    """That what was found is of another kind or colour than the one asked for."""
    asked = phrase("attributes", flaw.attribute, language)
    if flaw.colours:
        asked = phrase("casts", flaw.colours[0], language)
    elif flaw.kind:
        asked = phrase("kinds", flaw.kind, language)
    return say("another_kind", language, named=named(item, language), asked=asked)


def flaws_in_words(items: Sequence[Distortion], language: Language) -> str:
    """Several findings, one after the other."""
    return joined((named(item, language) for item in items), language)


def _is_a_guess_about_the_unfamiliar(flaw: Flaw, evidence: Evidence, too_much: float) -> bool:
    """Whether a flaw would be told of a page or a drawing by a close call, or by a score with no finding behind it."""
    if evidence.judgement is None or not evidence.judgement.out_of_domain or too_much < PRESENT:
        return False
    item = evidence.strongest([flaw.category] if flaw.category else [])
    return item is None or not item.is_present or item.probability < MORE_THAN_A_GUESS


def _quality_in_words(question: YesNo, evidence: Evidence, too_much: bool) -> str:
    """What speaks for the answer about everything: the strongest flaw that is there, else the level."""
    language, judgement = question.reply.language, evidence.judgement
    worst = next((item for item in evidence.findings if item.is_present), None)
    if worst is not None and (too_much or judgement is None):
        return named(worst, language)
    if judgement is None:
        return absence("overall", language, question.topic.excepted)
    return say("quality_is", language, level=phrase("levels", judgement.letter, language).lower())
