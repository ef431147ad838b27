"""Why an answer was given: short sentences, each made from one item of evidence and carrying it along."""

from __future__ import annotations

from dataclasses import dataclass

from agenticiqa.perception.answers import PRESENT, Answer, is_present
from agenticiqa.perception.beside import pair_of, reading_of
from agenticiqa.perception.evidence import MIDDLE_GREY, Evidence, PlacedFinding, ToolScore
from agenticiqa.perception.eyes import Finding, Judgement, Reading
from agenticiqa.perception.full_reference_disagreement import Disagreement
from agenticiqa.perception.language import Question
from agenticiqa.perception.lexicon import Language
from agenticiqa.perception.phrases import phrase, say
from agenticiqa.perception.placing import describe_place, is_soft
from agenticiqa.state import GLOBAL, OVERALL

# A tool this far from the model's score contradicts it.
DISAGREEMENT = 1.0
# An answer less certain than this is called a close call.
CLOSE_CALL = 0.65
# From this JPEG quality on a file shows no trace of JPEG that could explain its compression.
NEARLY_LOSSLESS = 99
_FINDINGS_TOLD, _TOOLS_TOLD, _READINGS_TOLD = 3, 2, 2


@dataclass(frozen=True)
class Sentence:
    """A sentence and the item of evidence it is made from, as a few words for the record."""

    text: str
    item: str


def explain(question: Question, evidence: Evidence, given: Answer) -> list[Sentence]:
    """The sentences behind an answer, the decisive ones first."""
    language = question.language
    if given.why_not in ("content", "unclear", "no_reference"):
        return [Sentence(say(given.why_not, language), f"question: {question.shape}")]
    sentences = [Sentence(say(given.why_not, language), "question: options")] if given.why_not else []
    sentences += _on_scale(question, evidence)
    sentences += _beside(question, evidence) + _places(question, evidence)
    sentences += _findings(question, evidence)
    sentences += _judgement(evidence, language)
    sentences += _tools(evidence, language)
    return sentences + _doubts(evidence, given, language)


def describe_finding(finding: Finding, language: Language) -> str:
    """What a finding looks like, with its measurements in human units and how sure it is."""
    readings = "".join(_reading(reading, language) for reading in _telling(finding)[:_READINGS_TOLD])
    if finding.severity == "none" or finding.probability < PRESENT:
        return say("absent", language, readings=readings, sure=_percent(1 - finding.probability, language))
    what = phrase("kinds", finding.kind, language) if finding.kind else ""
    seen = (what + readings).lstrip(",， ")
    effect = _effect(finding, language)
    sure = _percent(finding.probability, language)
    return _capitalised(say("present" if seen else "effect_only", language, seen=seen, effect=effect, sure=sure))


def _telling(finding: Finding) -> list[Reading]:
    """The readings that speak for the finding: of the two ends that may be clipped, only the one that is."""
    values = {reading.name: reading.value for reading in finding.readings}
    bright = values.get("mean brightness", 0.0) > MIDDLE_GREY
    shadows, highlights = (values.get(name, 0.0) for name in ("clipped shadows", "clipped highlights"))
    untold = {"clipped shadows" if (highlights, bright) > (shadows, not bright) else "clipped highlights"}
    if finding.category == "Sharpness":
        untold.add("blur radius")  # it speaks for blur, not for halos
    if values.get("JPEG quality", 0.0) >= NEARLY_LOSSLESS and finding.severity != "none":
        untold.add("JPEG quality")
    return [reading for reading in finding.readings if reading.name not in untold]


def in_one_text(sentences: list[Sentence], language: Language) -> str:
    """The sentences as one paragraph."""
    return ("" if language == "zh" else " ").join(sentence.text for sentence in sentences)


def _findings(question: Question, evidence: Evidence) -> list[Sentence]:
    asked = [item for item in evidence.findings if item.finding.category in question.categories]
    if is_soft(question, evidence) and not any(is_present(item, question) for item in asked):
        return []  # that the image as a whole shows no blur would contradict the place that does
    if question.versus and question.versus.places and pair_of(question, evidence):
        asked = [item for item in asked if is_present(item, question)]  # the two measurements say the rest
        if not asked:
            return []
    present = [item for item in evidence.findings if is_present(item, question)]
    told = asked or present
    # After "blur (severe)" that the edges show no halos would only confuse.
    if any(item.finding.category == "Blurs" for item in present):
        told = [item for item in told if item.finding.category != "Sharpness" or item in present]
    if not told and evidence.findings:
        return [_nothing_found(evidence, question.language)]
    return [_finding(item, question.language) for item in told[:_FINDINGS_TOLD]]


def _finding(item: PlacedFinding, language: Language) -> Sentence:
    finding = item.finding
    text = say(
        "finding" if item.place == GLOBAL else "finding_in",
        language,
        category=phrase("categories", finding.category, language),
        severity=phrase("severities", finding.severity, language),
        place=phrase("places", item.place, language),
        explanation=item.explanation or describe_finding(finding, language),
    )
    return Sentence(text, f"finding: {finding.category}, {finding.severity}, {item.place}")


def _nothing_found(evidence: Evidence, language: Language) -> Sentence:
    likeliest = max(evidence.findings, key=lambda item: item.finding.probability).finding
    if likeliest.probability == 0:  # of a picture that equals its reference
        return Sentence(say("no_difference", language), "finding: none")
    bound = _percent(max(PRESENT, likeliest.probability), language)
    text = say("nothing", language, sure=bound, category=phrase("categories", likeliest.category, language))
    return Sentence(text, f"finding: none, likeliest {likeliest.category} {likeliest.probability:.2f}")


def _on_scale(question: Question, evidence: Evidence) -> list[Sentence]:
    """The score on the scale the question asks for, where it is another than ours."""
    scale, judgement = question.claim.scale, evidence.judgement
    if question.shape != "score" or judgement is None or scale is None or scale == (1.0, 5.0):
        return []
    low, high = scale
    number = f"{low + (judgement.score - 1) / 4 * (high - low):.{0 if high >= 50 else 1}f}"
    score = f"{judgement.score:.2f}"
    text = say("on_scale", question.language, low=f"{low:g}", high=f"{high:g}", score=score, number=number)
    return [Sentence(text, f"judgement: {judgement.source} {judgement.score:.2f}")]


def _beside(question: Question, evidence: Evidence) -> list[Sentence]:
    """The two measurements of a comparison, and that they are about equal where they are."""
    pair, language = pair_of(question, evidence), question.language
    if pair is None or question.versus is None:
        return []
    told = [Sentence(say("about_equal", language), "comparison: equal")] if pair.is_tie else []
    names = question.versus.places or ()
    readings = [reading_of(question, evidence.places[name]) for name in names]
    if not names or None in readings:
        return told
    first, second = (_capitalised(phrase("places", name, language)) for name in names)
    amount, other = (_reading(reading, language).lstrip(",， ") for reading in readings if reading)
    text = say("side_by_side", language, first=first, amount=amount, second=second, other=other)
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
    return Sentence(text, f"metrics: {found.statement}")


def _interval(judgement: Judgement, language: Language) -> str:
    if judgement.interval is None:
        return ""
    low, high = judgement.interval
    return say("interval", language, low=f"{low:.1f}", high=f"{high:.1f}")


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
    # The analysis of such a place already begins with these words.
    said = {item.place for item in evidence.findings if item.explanation}
    unlocated = [name for name in evidence.unlocated if name not in said]
    doubts = [Sentence(say("unlocated", language, name=name), f"region: {name} not located") for name in unlocated]
    if evidence.judgement is not None and evidence.judgement.out_of_domain:
        what = evidence.judgement.out_of_domain
        doubts.append(Sentence(say("odd_image", language, what=what), f"judgement: out of domain, {what}"))
    if given.certainty is not None and given.certainty < CLOSE_CALL:
        sure = _percent(given.certainty, language)
        doubts.append(Sentence(say("close_call", language, sure=sure), f"answer: probability {given.certainty:.2f}"))
    return doubts


def _effect(finding: Finding, language: Language) -> str:
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
