"""Why an answer was given: short sentences, each made from one item of evidence and carrying it along."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agenticiqa.embedded.answers.amounts import amount_of, measured_banding
from agenticiqa.embedded.answers.answering import as_answerable, is_about_what_is_absent, parts_told, share_of_scale
from agenticiqa.embedded.answers.evidence import Evidence, ToolScore
from agenticiqa.embedded.answers.where_answers import (
    EQUAL,
    describe_place,
    is_soft,
    measured_in,
    rests_on_parts,
    share_in,
)
from agenticiqa.embedded.answers.who_is_meant import each_told, which_was_looked_at
from agenticiqa.question.asked import Compare, Declined, Flaw, Measure, Question, Score, categories_of
from agenticiqa.question.object_words import object_called
from agenticiqa.state import GLOBAL, OVERALL
from agenticiqa.values import Answer, Disagreement, Distortion, Judgement, Language, Reading, Reason
from agenticiqa.wording import phrase, say
from agenticiqa.wording.findings import capitalised, described, named, not_found, percent, reading_in_words

# A tool this far from the model's score contradicts it.
DISAGREEMENT = 1.0
# An answer less certain than this is called a close call.
CLOSE_CALL = 0.65
# An interval this wide, of the four points of the scale, says hardly anything.
NEARLY_ALL = 3.5
_FINDINGS_TOLD, _TOOLS_TOLD = 3, 2


def explain(question: Question, evidence: Evidence, given: Answer) -> list[Reason]:
    """The reasons of an answer, the decisive ones first."""
    question = as_answerable(question)
    language: Language = "zh" if question.reply.language == "zh" else "en"
    if question.reply.language != language:
        evidence = _with_english_places(evidence)
        question = replace(question, reply=replace(question.reply, language=language))
    if isinstance(question, Declined):
        why = Reason(_why_declined(question, language), "question", name=question.what or question.why)
        # The score and the main finding are of use even to whoever asked for something else.
        return [why, *_findings(question, evidence), *_judgement(evidence, language)]
    if isinstance(question, Measure) and question.fact:
        return _fact(question, evidence)
    if given.why_not == "who_is_who":
        return _each_that_may_be_meant(question, evidence)
    if given.why_not in ("grey_picture", "no_reference", "not_measured"):
        return [Reason(say(given.why_not, language), "question", name=given.why_not)]
    reasons = _not_found(question, evidence)
    if given.why_not and given.why_not != "not_found":
        reasons.append(Reason(say(given.why_not, language), "question", name=given.why_not))
    reasons += _value(question, evidence)
    reasons += _on_scale(question, evidence)
    reasons += _beside(question, evidence)
    reasons += _places(question, evidence)
    reasons += _which_was_meant(evidence, language)
    reasons += _of_parts(question, evidence)
    reasons += _findings(question, evidence)
    reasons += _judgement(evidence, language)
    reasons += _tools(evidence, language)
    return reasons + _doubts(evidence, given, language)


def _not_found(question: Question, evidence: Evidence) -> list[Reason]:
    """Each thing that the question names and the picture does not show."""
    language, is_all = question.reply.language, is_about_what_is_absent(question, evidence)
    told = [(name, not_found(name, language, is_all=is_all, seen=evidence.seen_instead)) for name in evidence.absent]
    return [Reason(text, "region", name, name="not found") for name, text in told]


def _each_that_may_be_meant(question: Question, evidence: Evidence) -> list[Reason]:
    """Every thing that may be meant with its own verdict, where they differ."""
    language, told = question.reply.language, []
    for meant in evidence.meant:
        each = each_told(meant, question, lambda found: named(found, language))
        text = say("who_is_who", language, count=meant.count, things=meant.things(language), each=each)
        told.append(Reason(text, "region", meant.name, number=len(meant.looks)))
    return told


def _which_was_meant(evidence: Evidence, language: Language) -> list[Reason]:
    return [
        Reason(which_was_looked_at(meant, language), "region", meant.name, number=meant.count)
        for meant in evidence.meant
    ]


def _of_parts(question: Question, evidence: Evidence) -> list[Reason]:
    if evidence.parts is None or not rests_on_parts(question, evidence):
        return []
    language, parts = question.reply.language, evidence.parts
    text = capitalised(parts_told(parts, language)) + say("full_stop", language)
    return [Reason(text, "region", parts.softest.place, name="softest", number=parts.softest.softness)]


def _with_english_places(evidence: Evidence) -> Evidence:
    """The evidence with things named in another language called by their English names, as the sentences are."""

    def named(place: str) -> str:
        called = None if place in evidence.unlocated else object_called(place)
        return called.kind if called else place

    findings = tuple(replace(item, place=named(item.place)) for item in evidence.findings)
    return replace(evidence, findings=findings, judged_place=named(evidence.judged_place))


def in_one_text(reasons: Sequence[Reason], language: Language) -> str:
    """The reasons as one paragraph."""
    return ("" if language == "zh" else " ").join(reason.text for reason in reasons)


def _findings(question: Question, evidence: Evidence) -> list[Reason]:
    flaw, language, categories = question.topic.flaw, question.reply.language, categories_of(question)
    if banding := measured_banding(flaw, evidence):
        text = say("banding_told", language, value=f"{banding.value:.3g}")
        return [Reason(text, "reading", name="banding", number=banding.value)]
    asked = [item for item in evidence.findings if item.category in categories]
    amount = amount_of(Flaw(flaw.attribute), evidence) if flaw.category else None
    if amount is not None and amount.item is not None and amount.is_present and amount.item not in asked:
        asked = [amount.item]  # of two directions the one asked about
    present = [
        item for item in evidence.findings if item.is_present and (not categories or item.category in categories)
    ]
    # Of a picture that is too bright, that it is not too dark would be told with a finding that says the opposite.
    if amount is not None and asked and asked[0] in present and not amount.is_present:
        asked = []
    # That the image as a whole shows no blur would contradict the place or the parts that do.
    by_place = is_soft(question, evidence) or rests_on_parts(question, evidence)
    if (by_place or (isinstance(question, Compare) and question.places)) and not any(i in present for i in asked):
        return []
    told = asked or present
    # After "blur (severe)" that the edges show no halos would only confuse.
    if any(item.category == "Blurs" for item in present):
        told = [item for item in told if item.category != "Sharpness" or item in present]
    told = told[:_FINDINGS_TOLD]
    if evidence.judgement and evidence.judgement.letter in ("A", "B"):
        # A level that reads good may not hide what disturbs, whatever was asked and however much there is.
        told = [*told, *(item for item in evidence.findings if item not in told and item.disturbs)]
    if not told and evidence.findings:
        return [_nothing_found(evidence, language)]
    return [_finding(item, evidence, language) for item in told]


def _finding(item: Distortion, evidence: Evidence, language: Language) -> Reason:
    is_of_whole = item.place == GLOBAL or item.place in evidence.unlocated
    text = say(
        "finding" if is_of_whole else "finding_in",
        language,
        category=phrase("categories", item.category, language),
        severity=phrase("severities", item.severity, language),
        place=phrase("places", item.place, language),
        explanation=item.words or described(item, language),
    )
    return Reason(text, "finding", item.place, item)


def _nothing_found(evidence: Evidence, language: Language) -> Reason:
    likeliest = max(evidence.findings, key=lambda item: item.probability)
    if likeliest.probability == 0:  # of a picture that equals its reference
        return Reason(say("no_difference", language), "finding", distortion=likeliest)
    # What costs a picture its quality is then none of the flaws alone, and must not be called nothing.
    lost = evidence.judgement is not None and evidence.judgement.letter not in ("A", "B")
    return Reason(say("nothing_alone" if lost else "nothing", language), "finding", likeliest.place, likeliest)


def _fact(question: Measure, evidence: Evidence) -> list[Reason]:
    """What a fact of the picture was read from."""
    language = question.reply.language
    if question.fact == "size" and evidence.size is not None:
        return [Reason(say("size_of_file", language), "fact", name="size", number=evidence.size[0] * evidence.size[1])]
    name = "no_colour" if evidence.is_grey else "has_colour"
    return [Reason(say(name, language), "fact", name="colour", number=float(not evidence.is_grey))]


def _why_declined(question: Declined, language: Language) -> str:
    """That nothing here measures it, that it is about the content, or what of the question was not understood."""
    if question.why == "unmeasured":
        return say("unmeasured", language, what=capitalised(phrase("unmeasured", question.what or "", language)))
    if question.why == "content":
        return say("content", language)
    name = phrase("attributes", question.topic.flaw.attribute, language)
    if "attribute" in question.doubts or not question.doubts:
        return say("unclear", language)
    return say("unclear_intent", language, attribute=name)


def _value(question: Question, evidence: Evidence) -> list[Reason]:
    """What the tool asked for measured, on its own scale."""
    tool = question.topic.tool
    if not isinstance(question, Measure) or tool is None or tool not in evidence.values:
        return []
    value = evidence.values[tool]
    text = say("tool_value", question.reply.language, tool=tool, value=f"{value:.4g}")
    return [Reason(text, "tool", name=tool, number=value)]


def _on_scale(question: Question, evidence: Evidence) -> list[Reason]:
    """How the number on the scale asked for came about, where that scale is another than ours."""
    judgement = evidence.judgement
    if not isinstance(question, Score) or judgement is None or question.topic.flaw.category:
        return []
    scale = question.scale
    if scale is None or (scale.low, scale.high, scale.marks) == (1.0, 5.0, "number"):
        return []
    number = f"{scale.at(share_of_scale(question.polarity, scale, (5 - judgement.score) / 4)):g}"
    text = say(
        "on_scale",
        question.reply.language,
        low=f"{scale.low:g}",
        high=f"{scale.high:g}",
        score=f"{judgement.score:.2f}",
        number=number,
    )
    return [Reason(text, "judgement", name=judgement.source, number=judgement.score)]


def _beside(question: Question, evidence: Evidence) -> list[Reason]:
    """The two measurements of a comparison of places, and that they are about equal where they are."""
    names, language = question.places if isinstance(question, Compare) else None, question.reply.language
    if names is None or evidence.unlocated:
        return []
    first, second = (evidence.places[name] for name in names)
    equal = abs(share_in(first, question) - share_in(second, question)) < EQUAL
    told = [Reason(say("about_equal", language), "comparison", names[0], name=names[1])] if equal else []
    readings = [measured_in(look, question) for look in (first, second)]
    if None in readings:
        return told
    one, other = (reading_in_words(reading, language).lstrip(",， ") for reading in readings if reading)
    labels = [capitalised(phrase("places", name, language)) for name in names]
    text = say("side_by_side", language, first=labels[0], amount=one, second=labels[1], other=other)
    return [Reason(text, "comparison", names[0], name=names[1]), *told]


def _places(question: Question, evidence: Evidence) -> list[Reason]:
    text = describe_place(question, evidence)
    return [Reason(text, "region", evidence.asked_place or GLOBAL)] if text else []


def _judgement(evidence: Evidence, language: Language) -> list[Reason]:
    judgement = evidence.judgement
    if judgement is None:
        return []
    text = say(
        "quality_fr" if evidence.has_reference else "quality",
        language,
        what=_judged(evidence, language),
        score=f"{judgement.score:.2f}",
        level=phrase("levels", judgement.letter, language),
        interval=_interval(judgement, language),
    )
    told = [Reason(text, "judgement", evidence.judged_place, name=judgement.source, number=judgement.score)]
    if evidence.advantage is not None:
        text = say("advantage", language, difference=f"{evidence.advantage:+.1f}")
        told.append(Reason(text, "judgement", name="test minus reference", number=evidence.advantage))
    if judgement.disagreement is not None:
        told.append(_disagreement(judgement.disagreement, language))
    return told


def _judged(evidence: Evidence, language: Language) -> str:
    place = evidence.judged_place
    if place == GLOBAL or place in evidence.unlocated:
        return phrase("words", "the_image", language)
    return say("the_place", language, place=phrase("places", place, language))


def _disagreement(found: Disagreement, language: Language) -> Reason:
    text = say(
        "metrics_disagree",
        language,
        others=", ".join(f"{metric.name} ({metric.score:.1f})" for metric in found.contradicting),
        trusted=found.trusted.name,
        score=f"{found.trusted.score:.1f}",
        kind=phrase("kinds", found.kind or "damage", language),
        own=f"{found.trusted.spread:.2f}",
        worst=f"{max(metric.spread for metric in found.contradicting):.2f}",
    )
    others = tuple(Reading(metric.name, metric.score) for metric in found.contradicting)
    return Reason(text, "metrics", name=found.trusted.name, number=found.trusted.score, others=others)


def _interval(judgement: Judgement, language: Language) -> str:
    if judgement.interval is None:
        return ""
    low, high = judgement.interval
    return say(
        "interval_wide" if high - low >= NEARLY_ALL else "interval", language, low=f"{low:.1f}", high=f"{high:.1f}"
    )


def _tools(evidence: Evidence, language: Language) -> list[Reason]:
    # The model's own judgement, run as a tool, would only repeat what has been said.
    own = evidence.judgement.source if evidence.judgement else ""
    distinct = list({score.tool: score for score in reversed(evidence.tools) if score.tool != own}.values())[::-1]
    return [_tool(score, evidence.judgement, language) for score in distinct[:_TOOLS_TOLD]]


def _tool(score: ToolScore, judgement: Judgement | None, language: Language) -> Reason:
    told = {"tool": score.tool, "score": f"{score.score:.1f}"}
    if judgement is not None and abs(score.score - judgement.score) >= DISAGREEMENT:
        text = say("disagreement", language, **told, model=f"{judgement.score:.1f}")
    else:
        overall = score.distortion == OVERALL
        group, name = ("words", "overall") if overall else ("categories", score.distortion)
        what = phrase(group, name, language)
        text = say("tool", language, **told, what=what if overall else what.lower())
    return Reason(text, "tool", score.place, name=score.tool, number=score.score)


def _doubts(evidence: Evidence, given: Answer, language: Language) -> list[Reason]:
    # The analysis of such a place already begins with these words, but is not told where it answers nothing.
    said = {item.place for item in evidence.findings if item.words and given.why_not is None}
    seen = say("seen_instead", language, things=evidence.seen_instead) if evidence.seen_instead else ""
    doubts = [
        Reason(say("unlocated", language, name=name, seen=seen), "region", name, name="not located")
        for name in evidence.unlocated
        if name not in said
    ]
    for name, confidence in evidence.doubtful.items():
        text = say("doubtful", language, name=name, sure=percent(confidence, language), seen=seen)
        doubts.append(Reason(text, "region", name, name="doubtful", number=confidence))
    if evidence.judgement is not None and evidence.judgement.out_of_domain:
        what = evidence.judgement.out_of_domain
        doubts.append(Reason(say("odd_image", language, what=what), "judgement", name=what))
    if given.certainty is not None and given.certainty < CLOSE_CALL:
        text = say("close_call", language, sure=percent(given.certainty, language))
        doubts.append(Reason(text, "answer", number=given.certainty))
    return doubts
