"""Why an answer was given: short sentences, each made from one item of evidence and carrying it along."""

from __future__ import annotations

from dataclasses import dataclass, replace

from agenticiqa.embedded.answers.amounts import amount_of, measured_banding
from agenticiqa.embedded.answers.answering import Answer, parts_told, share_of_scale
from agenticiqa.embedded.answers.evidence import Evidence, ToolScore
from agenticiqa.embedded.answers.flaw_words import is_asked_and_there, named_flaw, no_flaw
from agenticiqa.embedded.answers.where_answers import (
    EQUAL,
    describe_place,
    is_soft,
    measured_in,
    rests_on_parts,
    share_in,
)
from agenticiqa.embedded.answers.who_is_meant import each_told, which_was_looked_at
from agenticiqa.question.meaning import CATEGORY_OF, Question
from agenticiqa.question.object_words import object_called
from agenticiqa.question.text import Language
from agenticiqa.state import GLOBAL, OVERALL, UNABLE
from agenticiqa.values import MIDDLE_GREY, PRESENT, Disagreement, Distortion, Judgement, Reading
from agenticiqa.wording import phrase, say

# A tool this far from the model's score contradicts it.
DISAGREEMENT = 1.0
# An answer less certain than this is called a close call.
CLOSE_CALL = 0.65
# From this JPEG quality on a file shows no trace of JPEG that could explain its compression.
NEARLY_LOSSLESS = 99
# Below this many grey levels a measured noise is none that a person sees.
VISIBLE_SIGMA = 3.0
# An interval this wide, of the four points of the scale, says hardly anything.
NEARLY_ALL = 3.5
_FINDINGS_TOLD, _TOOLS_TOLD, _READINGS_TOLD = 3, 2, 2


@dataclass(frozen=True)
class Sentence:
    """A sentence and the item of evidence it is made from, as a few words for the record."""

    text: str
    item: str


def explain(question: Question, evidence: Evidence, given: Answer) -> list[Sentence]:
    """The sentences behind an answer, the decisive ones first."""
    language: Language = "zh" if question.language == "zh" else "en"
    if question.language != language:
        evidence = _with_english_places(evidence)
    question = replace(question, language=language)
    if given.why_not == "unclear":
        return [Sentence(_not_understood(question), f"question: unclear {', '.join(question.doubts)}")]
    if question.fact:
        return _fact(question, evidence)
    if given.why_not == "unmeasured":
        return [Sentence(say("unmeasured", language, what=_unmeasured(question)), f"question: {question.unmeasured}")]
    if given.why_not == "who_is_who":
        return _each_that_may_be_meant(question, evidence)
    if given.why_not == "grey_picture":
        return [Sentence(say("grey_picture", language), "fact: no color")]
    if given.why_not in ("content", "no_reference", "not_measured"):
        return [Sentence(say(given.why_not, language), f"question: {question.intent}")]
    sentences = [Sentence(say(given.why_not, language), "question: options")] if given.why_not else []
    sentences += (
        _value(question, evidence)
        + _on_scale(question, evidence)
        + _beside(question, evidence)
        + _places(question, evidence)
    )
    sentences += _which_was_meant(evidence, language) + _of_parts(question, evidence)
    sentences += _findings(question, evidence)
    sentences += _judgement(evidence, language)
    sentences += _tools(evidence, language)
    return sentences + _doubts(evidence, given, language)


def _each_that_may_be_meant(question: Question, evidence: Evidence) -> list[Sentence]:
    """Every thing that may be meant with its own verdict, where they differ."""
    category, told = CATEGORY_OF[question.attribute], []
    for meant in evidence.meant:
        each = each_told(meant, question, lambda found: _in_short(found, question))
        things = meant.things(question.language)
        text = say("who_is_who", question.language, count=meant.count, things=things, each=each)
        told.append(Sentence(text, f"region: {meant.name}, {len(meant.looks)} that differ in {category}"))
    return told


def _in_short(found: Distortion, question: Question) -> str:
    return named_flaw(found, question) if found.is_present else no_flaw(question)


def _which_was_meant(evidence: Evidence, language: Language) -> list[Sentence]:
    return [
        Sentence(which_was_looked_at(meant, language), f"region: {meant.name}, one of {meant.count}")
        for meant in evidence.meant
    ]


def _of_parts(question: Question, evidence: Evidence) -> list[Sentence]:
    if evidence.parts is None or not rests_on_parts(question, evidence):
        return []
    text = _capitalised(parts_told(evidence.parts, question.language)) + say("full_stop", question.language)
    return [Sentence(text, f"region: softest {evidence.parts.softest.place}, sharpest {evidence.parts.sharpest.place}")]


def _with_english_places(evidence: Evidence) -> Evidence:
    """The evidence with things named in another language called by their English names, as the sentences are."""

    def named(place: str) -> str:
        called = None if place in evidence.unlocated else object_called(place)
        return called.kind if called else place

    findings = tuple(replace(item, place=named(item.place)) for item in evidence.findings)
    return replace(evidence, findings=findings, judged_place=named(evidence.judged_place))


def describe_finding(finding: Distortion, language: Language) -> str:
    """What a finding looks like, with its measurements in human units and how sure it is."""
    readings = "".join(_reading(reading, language) for reading in _telling(finding)[:_READINGS_TOLD])
    if not finding.is_present:
        return say("absent", language, readings=readings, sure=_percent(1 - finding.probability, language))
    what = phrase("kinds", finding.kind, language) if finding.kind else ""
    seen = (what + readings).lstrip(",， ")
    effect = _effect(finding, language)
    sure = _percent(finding.probability, language)
    return _capitalised(say("present" if seen else "effect_only", language, seen=seen, effect=effect, sure=sure))


def _telling(finding: Distortion) -> list[Reading]:
    """The readings that speak for the finding: of the two ends that may be clipped, only the one that is."""
    values = {reading.name: reading.value for reading in finding.readings}
    bright = values.get("mean brightness", 0.0) > MIDDLE_GREY
    shadows, highlights = (values.get(name, 0.0) for name in ("clipped shadows", "clipped highlights"))
    measured = (highlights, bright) > (shadows, not bright)
    too_bright = {"brighten": True, "darken": False}.get(finding.kind or "", measured)
    untold = {"clipped shadows" if too_bright else "clipped highlights"}
    if finding.category == "Sharpness":
        untold.add("blur radius")  # it speaks for blur, not for halos
    if values.get("JPEG quality", 0.0) >= NEARLY_LOSSLESS and finding.severity != "none":
        untold.add("JPEG quality")
    if values.get("noise sigma", 0.0) < VISIBLE_SIGMA and finding.severity != "none":
        untold.add("noise sigma")  # blotches and grain in the dark are not in the even parts it is measured at
    return [reading for reading in finding.readings if reading.name not in untold]


def in_one_text(sentences: list[Sentence], language: Language) -> str:
    """The sentences as one paragraph."""
    return ("" if language == "zh" else " ").join(sentence.text for sentence in sentences)


def _findings(question: Question, evidence: Evidence) -> list[Sentence]:
    if banding := measured_banding(question, evidence):
        text = say("banding_told", question.language, value=f"{banding.value:.3g}")
        return [Sentence(text, f"reading: banding {banding.value:.3g} %")]
    asked = [item for item in evidence.findings if item.category in question.categories]
    amount = amount_of(question.attribute, evidence) if question.attribute in CATEGORY_OF else None
    if amount is not None and amount.item is not None and amount.is_present and amount.item not in asked:
        asked = [amount.item]  # of two directions the one asked about
    # Of a picture that is too bright, that it is not too dark would be told with a finding that says the opposite.
    if amount is not None and asked and is_asked_and_there(asked[0], question) and not amount.is_present:
        asked = []
    if is_soft(question, evidence) and not any(is_asked_and_there(item, question) for item in asked):
        return []  # that the image as a whole shows no blur would contradict the place that does
    measured = question.places or rests_on_parts(question, evidence)
    if measured and not any(is_asked_and_there(item, question) for item in asked):
        return []  # the two measurements say it
    present = [item for item in evidence.findings if is_asked_and_there(item, question)]
    told = asked or present
    # After "blur (severe)" that the edges show no halos would only confuse.
    if any(item.category == "Blurs" for item in present):
        told = [item for item in told if item.category != "Sharpness" or item in present]
    told = told[:_FINDINGS_TOLD]
    if evidence.judgement and evidence.judgement.letter in ("A", "B"):
        # A level that reads good may not hide what disturbs, whatever was asked and however much there is.
        told = [*told, *(item for item in evidence.findings if item not in told and item.disturbs)]
    if not told and evidence.findings:
        return [_nothing_found(evidence, question.language)]
    return [_finding(item, evidence, question.language) for item in told]


def _finding(item: Distortion, evidence: Evidence, language: Language) -> Sentence:
    finding, is_of_whole = item, item.place == GLOBAL or item.place in evidence.unlocated
    text = say(
        "finding" if is_of_whole else "finding_in",
        language,
        category=phrase("categories", finding.category, language),
        severity=phrase("severities", finding.severity, language),
        place=phrase("places", item.place, language),
        explanation=item.words or describe_finding(finding, language),
    )
    return Sentence(text, f"finding: {finding.category}, {finding.severity}, {item.place}")


def _nothing_found(evidence: Evidence, language: Language) -> Sentence:
    likeliest = max(evidence.findings, key=lambda item: item.probability)
    if likeliest.probability == 0:  # of a picture that equals its reference
        return Sentence(say("no_difference", language), "finding: none")
    bound = _percent(max(PRESENT, likeliest.probability), language)
    text = say("nothing", language, sure=bound, category=phrase("categories", likeliest.category, language))
    return Sentence(text, f"finding: none, likeliest {likeliest.category} {likeliest.probability:.2f}")


def _fact(question: Question, evidence: Evidence) -> list[Sentence]:
    """What a fact of the picture was read from."""
    if question.fact == "size" and evidence.size is not None:
        return [Sentence(say("size_of_file", question.language), f"fact: size {evidence.size[0]}x{evidence.size[1]}")]
    name = "no_colour" if evidence.is_grey else "has_colour"
    return [Sentence(say(name, question.language), f"fact: grey {evidence.is_grey}")]


def _unmeasured(question: Question) -> str:
    name = question.unmeasured or ""
    return _capitalised(phrase("unmeasured", name, question.language))


def _not_understood(question: Question) -> str:
    """What was understood of the question and what was not."""
    language = question.language
    name = phrase("attributes", question.attribute, language)
    if question.doubts == ("polarity",):
        return say("unclear_polarity", language, attribute=name)
    if "attribute" in question.doubts or not question.doubts:
        return say("unclear", language)
    return say("unclear_intent", language, attribute=name)


def _value(question: Question, evidence: Evidence) -> list[Sentence]:
    """What the tool asked for measured, on its own scale."""
    tool = question.tool
    if question.intent != "measure" or tool is None or tool not in evidence.values:
        return []
    value = f"{evidence.values[tool]:.4g}"
    return [Sentence(say("tool_value", question.language, tool=tool, value=value), f"tool: {tool} {value}")]


def _on_scale(question: Question, evidence: Evidence) -> list[Sentence]:
    """How the number on the scale asked for came about, where that scale is another than ours."""
    scale, judgement = question.scale, evidence.judgement
    if question.intent != "score" or judgement is None or scale is None or question.attribute in CATEGORY_OF:
        return []
    if (scale.low, scale.high, scale.marks) == (1.0, 5.0, "number"):
        return []
    number = f"{scale.at(share_of_scale(question, (5 - judgement.score) / 4)):g}"
    score = f"{judgement.score:.2f}"
    text = say("on_scale", question.language, low=f"{scale.low:g}", high=f"{scale.high:g}", score=score, number=number)
    return [Sentence(text, f"judgement: {judgement.source} {judgement.score:.2f}")]


def _beside(question: Question, evidence: Evidence) -> list[Sentence]:
    """The two measurements of a comparison of places, and that they are about equal where they are."""
    names, language = question.places, question.language
    if names is None or evidence.unlocated:
        return []
    first, second = (evidence.places[name] for name in names)
    equal = abs(share_in(first, question) - share_in(second, question)) < EQUAL
    told = [Sentence(say("about_equal", language), "comparison: equal")] if equal else []
    readings = [measured_in(look, question) for look in (first, second)]
    if None in readings:
        return told
    one, other = (_reading(reading, language).lstrip(",， ") for reading in readings if reading)
    labels = [_capitalised(phrase("places", name, language)) for name in names]
    text = say("side_by_side", language, first=labels[0], amount=one, second=labels[1], other=other)
    return [Sentence(text, f"region: {names[0]} beside {names[1]}"), *told]


def _places(question: Question, evidence: Evidence) -> list[Sentence]:
    text = describe_place(question, evidence)
    return [Sentence(text, f"region: {evidence.asked_place}")] if text else []


def _judgement(evidence: Evidence, language: Language) -> list[Sentence]:
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
    told = [Sentence(text, f"judgement: {judgement.source} {judgement.score:.2f}")]
    if evidence.advantage is not None:
        text = say("advantage", language, difference=f"{evidence.advantage:+.1f}")
        told.append(Sentence(text, f"judgement: test minus reference {evidence.advantage:+.2f}"))
    if judgement.disagreement is not None:
        told.append(_disagreement(judgement.disagreement, language))
    return told


def _judged(evidence: Evidence, language: Language) -> str:
    place = evidence.judged_place
    if place == GLOBAL or place in evidence.unlocated:
        return phrase("words", "the_image", language)
    return say("the_place", language, place=phrase("places", place, language))


def _disagreement(found: Disagreement, language: Language) -> Sentence:
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
    return Sentence(text, f"metrics: {found.trusted.name} trusted")


def _interval(judgement: Judgement, language: Language) -> str:
    if judgement.interval is None:
        return ""
    low, high = judgement.interval
    return say(
        "interval_wide" if high - low >= NEARLY_ALL else "interval", language, low=f"{low:.1f}", high=f"{high:.1f}"
    )


def _tools(evidence: Evidence, language: Language) -> list[Sentence]:
    # The model's own judgement, run as a tool, would only repeat what has been said.
    own = evidence.judgement.source if evidence.judgement else ""
    distinct = list({score.tool: score for score in reversed(evidence.tools) if score.tool != own}.values())[::-1]
    return [_tool(score, evidence.judgement, language) for score in distinct[:_TOOLS_TOLD]]


def _tool(score: ToolScore, judgement: Judgement | None, language: Language) -> Sentence:
    item = f"tool: {score.tool} {score.score:.2f}, {score.distortion}, {score.place}"
    if judgement is not None and abs(score.score - judgement.score) >= DISAGREEMENT:
        model = f"{judgement.score:.1f}"
        return Sentence(say("disagreement", language, tool=score.tool, score=f"{score.score:.1f}", model=model), item)
    what = (
        phrase("words", "overall", language)
        if score.distortion == OVERALL
        else phrase("categories", score.distortion, language).lower()
    )
    return Sentence(say("tool", language, tool=score.tool, score=f"{score.score:.1f}", what=what), item)


def _doubts(evidence: Evidence, given: Answer, language: Language) -> list[Sentence]:
    # The analysis of such a place already begins with these words, but is not told where it answers nothing.
    said = {item.place for item in evidence.findings if item.words and given.text != UNABLE}
    unlocated = [name for name in evidence.unlocated if name not in said]
    seen = _seen(evidence, language)
    doubts = [
        Sentence(say("unlocated", language, name=name, seen=seen), f"region: {name} not located") for name in unlocated
    ]
    for name, confidence in evidence.doubtful.items():
        text = say("doubtful", language, name=name, sure=_percent(confidence, language), seen=_seen(evidence, language))
        doubts.append(Sentence(text, f"region: {name} doubtful, confidence {confidence:.3f}"))
    if evidence.judgement is not None and evidence.judgement.out_of_domain:
        what = evidence.judgement.out_of_domain
        doubts.append(Sentence(say("odd_image", language, what=what), f"judgement: out of domain, {what}"))
    if given.certainty is not None and given.certainty < CLOSE_CALL:
        sure = _percent(given.certainty, language)
        doubts.append(Sentence(say("close_call", language, sure=sure), f"answer: probability {given.certainty:.2f}"))
    return doubts


def _seen(evidence: Evidence, language: Language) -> str:
    return say("seen_instead", language, things=evidence.seen_instead) if evidence.seen_instead else ""


def _effect(finding: Distortion, language: Language) -> str:
    by_kind = phrase("effects", finding.kind or "", language)
    return (
        by_kind if by_kind != (finding.kind or "").replace("_", " ") else phrase("effects", finding.category, language)
    )


def _reading(reading: Reading, language: Language) -> str:
    name = phrase("readings", reading.name, language)
    unit = phrase("units", reading.unit, language)
    value = f"{reading.value:.3g}"
    gap = "" if unit in ("", "%") and language == "zh" else " " if unit else ""
    return f"，{name} {value}{gap}{unit}" if language == "zh" else f", {name} {value}{gap}{unit}"


def _percent(share: float, language: Language) -> str:
    return f"{100 * share:.0f}%" if language == "zh" else f"{100 * share:.0f} %"


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]
