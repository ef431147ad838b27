"""Why an answer was given: short sentences, each made from one item of evidence and carrying it along."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agenticiqa.embedded.answers.amounts import amount_of, measured_banding
from agenticiqa.embedded.answers.answering import is_about_what_is_absent
from agenticiqa.embedded.answers.evidence import Evidence, ToolScore
from agenticiqa.embedded.answers.places import EQUAL, place_in_words, rests_on_parts, share_in, side_by_side
from agenticiqa.embedded.answers.statements import parts_in_words
from agenticiqa.embedded.answers.who_is_meant import which_was_looked_at, who_is_who
from agenticiqa.question.asked import Compare, Declined, Flaw, Measure, Question, Score, YesNo, categories_of
from agenticiqa.state import GLOBAL, OVERALL
from agenticiqa.values import Answer, Disagreement, Distortion, Judgement, Language, Reading, Reason
from agenticiqa.wording import known, phrase, say
from agenticiqa.wording.findings import (
    capitalised,
    finding_in_words,
    listed,
    not_found,
    percent,
    place_name,
    sentence,
    sentences,
    unlocated,
)

# A tool this far from the model's score contradicts it.
DISAGREEMENT = 1.0
# An answer less certain than this is called a close call.
CLOSE_CALL = 0.65
# An interval this wide, of the four points of the scale, says hardly anything.
NEARLY_ALL = 3.5
MOST_FINDINGS, MOST_TOOLS = 3, 2
# Why there is no answer, where another reason below tells it.
_EXPLAINED_BY_OTHERS = ("not_found", "who_is_who")


def explain(question: Question, evidence: Evidence, given: Answer) -> list[Reason]:
    """The reasons of an answer, the decisive ones first.

    The score and the main finding are told whatever was asked: they are of use even to whoever gets no answer.
    """
    if isinstance(question, Measure) and question.fact and given.why_not is None:
        return [Reason(sentence(given.text, question.reply.language), "fact", name=question.fact)]
    return [reason for told in _EXPLANATION for reason in told(question, evidence, given)]


def in_one_text(reasons: Sequence[Reason], language: Language) -> str:
    """The reasons as one paragraph."""
    return sentences((reason.text for reason in reasons), language)


def _not_found(question: Question, evidence: Evidence, given: Answer) -> Iterator[Reason]:
    """Each thing that the question names and the picture does not show."""
    is_all = is_about_what_is_absent(question, evidence)
    for name in evidence.absent if not isinstance(question, Declined) else ():
        text = not_found(name, question.reply.language, is_all=is_all, seen=evidence.seen_instead)
        yield Reason(text, "region", name, name="not found")


def _why_not(question: Question, evidence: Evidence, given: Answer) -> Iterator[Reason]:
    """Why there is no answer; of a question that is declined, what was understood of it and what can be asked."""
    if given.why_not is None or given.why_not in _EXPLAINED_BY_OTHERS:
        return
    flaw, language = question.topic.flaw, question.reply.language
    what = question.what if isinstance(question, Declined) else None
    values = {"what": capitalised(phrase("unmeasured", what or "", language))}
    values["attribute"] = phrase("attributes", flaw.attribute, language)
    told = say("unclear_intent" if given.why_not == "unclear" and flaw.category else given.why_not, language, **values)
    if isinstance(question, Declined):
        told = sentences([told, say("can_tell", language)], language)
    yield Reason(told, "question", name=what or given.why_not)


def _tool_value(question: Question, evidence: Evidence, given: Answer) -> Iterator[Reason]:
    """What the tool asked for measured, on its own scale."""
    tool = question.topic.tool if isinstance(question, Measure) else None
    if tool is not None and (value := evidence.values.get(tool)) is not None:
        text = say("tool_value", question.reply.language, tool=tool, value=f"{value:.4g}")
        yield Reason(text, "tool", name=tool, number=value)


def _on_scale(question: Question, evidence: Evidence, given: Answer) -> Iterator[Reason]:
    """How the number on the scale asked for came about, where that scale is another than ours."""
    judgement, scale = evidence.judgement, question.scale if isinstance(question, Score) else None
    if judgement is None or scale is None or not isinstance(given.value, float) or question.topic.flaw.category:
        return
    if scale.ends or (scale.low, scale.high) == (1.0, 5.0):
        return
    numbers = {"low": scale.low, "high": scale.high, "number": given.value}
    told = {name: f"{number:g}" for name, number in numbers.items()}
    text = say("on_scale", question.reply.language, score=f"{judgement.score:.2f}", **told)
    yield Reason(text, "judgement", name=judgement.source, number=judgement.score)


def _beside(question: Question, evidence: Evidence, given: Answer) -> Iterator[Reason]:
    """The two measurements of a comparison of places, and that they are about equal where they are."""
    if not isinstance(question, Compare) or question.places is None or evidence.unlocated:
        return
    language, (one, other) = question.reply.language, question.places
    if told := side_by_side(question, evidence):
        yield Reason(sentence(told, language), "comparison", one, name=other)
    if abs(share_in(evidence.places[one], question) - share_in(evidence.places[other], question)) < EQUAL:
        yield Reason(say("about_equal", language), "comparison", one, name=other)


def _place(question: Question, evidence: Evidence, given: Answer) -> Iterator[Reason]:
    if text := place_in_words(question, evidence):
        yield Reason(text, "region", evidence.asked_place or GLOBAL)


def _who(question: Question, evidence: Evidence, given: Answer) -> Iterator[Reason]:
    """Which of several things was looked at; every one with its verdict, where these differ."""
    differ = given.why_not == "who_is_who"
    for meant in evidence.meant:
        text = who_is_who(meant, question) if differ else which_was_looked_at(meant, question.reply.language)
        yield Reason(text, "region", meant.name, number=meant.count)


def _parts(question: Question, evidence: Evidence, given: Answer) -> Iterator[Reason]:
    if evidence.parts is not None and rests_on_parts(question, evidence):
        language, parts = question.reply.language, evidence.parts
        text = sentence(parts_in_words(parts, language), language)
        yield Reason(text, "region", parts.softest.place, name="softest", number=parts.softest.softness)


def _findings(question: Question, evidence: Evidence, given: Answer) -> Iterator[Reason]:
    language, banding = question.reply.language, measured_banding(question.topic.flaw, evidence)
    if banding is not None:
        text = sentence(say("banding", language, value=f"{banding.value:.3g}"), language)
        yield Reason(text, "reading", name="banding", number=banding.value)
        return
    told = None if given.why_not == "who_is_who" else _findings_to_name(question, evidence)
    if told is None:
        return
    if not told and evidence.findings:
        yield _nothing_found(evidence, language)
    for item in told:
        is_of_whole = item.place == GLOBAL or item.place in evidence.unlocated
        yield Reason(finding_in_words(item, None if is_of_whole else item.place, language), "finding", item.place, item)


def _findings_to_name(question: Question, evidence: Evidence) -> list[Distortion] | None:
    """The findings an answer rests on, and those no answer may hide; None where other reasons tell them better."""
    flaw, categories = question.topic.flaw, categories_of(question)
    present = [
        item for item in evidence.findings if item.is_present and (not categories or item.category in categories)
    ]
    asked = [item for item in evidence.findings if item.category in categories]
    amount = amount_of(Flaw(flaw.attribute), evidence) if len(categories) == 1 and flaw.category else None
    if amount is not None and amount.item is not None:
        # Of two directions the one asked about; that a picture is not too dark is not told with how bright it is.
        asked = [amount.item] if amount.is_present else [item for item in asked if item not in present]
    # That the image as a whole shows no blur would contradict the place or the parts that do.
    by_place = place_in_words(question, evidence) or rests_on_parts(question, evidence)
    if (by_place or (isinstance(question, Compare) and question.places)) and not any(i in present for i in asked):
        return None
    told = (asked or present)[: 1 if isinstance(question, Declined) else MOST_FINDINGS]
    if any(item.category == "Blurs" for item in present):
        # After "blur (severe)" that the edges show no halos would only confuse.
        told = [item for item in told if item.category != "Sharpness" or item in present]
    if evidence.judgement and evidence.judgement.letter in ("A", "B"):
        # A level that reads good may not hide what disturbs, whatever was asked and however much there is.
        told = [*told, *(item for item in evidence.findings if item not in told and item.disturbs)]
    return told


def _nothing_found(evidence: Evidence, language: Language) -> Reason:
    likeliest = max(evidence.findings, key=lambda item: item.probability)
    if likeliest.probability == 0:  # of a picture that equals its reference
        return Reason(say("no_difference", language), "finding", distortion=likeliest)
    # What costs a picture its quality is then none of the flaws alone, and must not be called nothing.
    lost = evidence.judgement is not None and evidence.judgement.letter not in ("A", "B")
    return Reason(say("nothing_alone" if lost else "nothing", language), "finding", likeliest.place, likeliest)


def _judgement(question: Question, evidence: Evidence, given: Answer) -> Iterator[Reason]:
    judgement, language = evidence.judgement, question.reply.language
    if judgement is None:
        return
    is_of_whole = evidence.judged_place == GLOBAL or evidence.judged_place in evidence.unlocated
    place = phrase("words", "the_image", language)
    if not is_of_whole:
        place = say("the_place", language, place=place_name(evidence.judged_place, language))
    low, high = judgement.interval or (0.0, 0.0)
    name = "interval_wide" if high - low >= NEARLY_ALL else "interval"
    interval = say(name, language, low=f"{low:.1f}", high=f"{high:.1f}") if judgement.interval else ""
    text = say(
        "quality_fr" if evidence.has_reference else "quality",
        language,
        what=place,
        score=f"{judgement.score:.2f}",
        level=phrase("levels", judgement.letter, language),
        interval=interval,
    )
    yield Reason(text, "judgement", evidence.judged_place, name=judgement.source, number=judgement.score)
    if evidence.advantage is not None:
        text = say("advantage", language, difference=f"{evidence.advantage:+.1f}")
        yield Reason(text, "judgement", name="test minus reference", number=evidence.advantage)
    if judgement.disagreement is not None:
        yield _disagreement(judgement.disagreement, language)


def _disagreement(found: Disagreement, language: Language) -> Reason:
    text = say(
        "metrics_disagree",
        language,
        others=listed((f"{metric.name} ({metric.score:.1f})" for metric in found.contradicting), language),
        trusted=found.trusted.name,
        score=f"{found.trusted.score:.1f}",
        kind=phrase("kinds", found.kind, language) if found.kind else phrase("attributes", "overall", language),
        own=f"{found.trusted.spread:.2f}",
        worst=f"{max(metric.spread for metric in found.contradicting):.2f}",
    )
    others = tuple(Reading(metric.name, metric.score) for metric in found.contradicting)
    return Reason(text, "metrics", name=found.trusted.name, number=found.trusted.score, others=others)


def _tools(question: Question, evidence: Evidence, given: Answer) -> Iterator[Reason]:
    # The model's own judgement, run as a tool, would only repeat what has been said.
    own = evidence.judgement.source if evidence.judgement and not isinstance(question, Declined) else ""
    distinct = list({score.tool: score for score in reversed(evidence.tools) if score.tool != own}.values())[::-1]
    for score in distinct[:MOST_TOOLS]:
        yield _tool(score, evidence.judgement, question.reply.language)


def _tool(score: ToolScore, judgement: Judgement | None, language: Language) -> Reason:
    told = {"tool": score.tool, "score": f"{score.score:.1f}"}
    if judgement is not None and abs(score.score - judgement.score) >= DISAGREEMENT:
        text = say("disagreement", language, **told, model=f"{judgement.score:.1f}")
    else:
        overall = score.distortion == OVERALL
        name = phrase("words", "overall", language) if overall else phrase("categories", score.distortion, language)
        text = say("tool", language, **told, what=name.lower() if language == "en" else name)
    return Reason(text, "tool", score.place, name=score.tool, number=score.score)


def _doubts(question: Question, evidence: Evidence, given: Answer) -> Iterator[Reason]:
    language = question.reply.language
    # The analysis of such a place already begins with these words, but is not told where it answers nothing.
    said = {item.place for item in evidence.findings if item.words and given.why_not is None}
    for name in evidence.unlocated:
        if name not in said:
            text = sentence(unlocated(name, evidence.seen_instead, language), language)
            yield Reason(text, "region", name, name="not located")
    seen = say("seen_instead", language, things=evidence.seen_instead) if evidence.seen_instead else ""
    for name, confidence in evidence.doubtful.items():
        text = say("doubtful", language, name=place_name(name, language), sure=percent(confidence, language), seen=seen)
        yield Reason(text, "region", name, name="doubtful", number=confidence)
    if evidence.judgement is not None and evidence.judgement.out_of_domain:
        kind, _, measured = evidence.judgement.out_of_domain.partition(":")
        what = f"{known('domains', kind, language) or kind}{f':{measured}' if measured and language == 'en' else ''}"
        yield Reason(say("odd_image", language, what=what), "judgement", name=kind)
    if given.certainty is not None and given.certainty < CLOSE_CALL:
        text = say("close_call", language, sure=percent(given.certainty, language))
        yield Reason(text, "answer", number=given.certainty)


def _limit(question: Question, evidence: Evidence, given: Answer) -> Iterator[Reason]:
    """That a picture called good, or good for a use, is so technically, as far as anything here can tell."""
    is_wider = isinstance(question, YesNo | Score) and question.topic.flaw.attribute == "overall"
    is_rated = isinstance(question, Score) and (question.scale is None or question.scale.marks == "number")
    if given.why_not is None and (question.topic.use or (is_wider and not is_rated)):
        yield Reason(say("limit", question.reply.language), "question", name="limit")


_EXPLANATION = (
    _not_found, _why_not, _tool_value, _on_scale, _beside, _place, _who, _parts, _findings, _judgement,
    _tools, _doubts, _limit,
)  # fmt: skip
