"""The answer to a question: one case per intent, in the form that was asked for."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace

from agenticiqa.embedded.answers.amounts import (
    SURE_OF_BANDING,
    amount_of,
    is_too_much,
    measured_banding,
    quality_loss,
    relation_of,
    step,
    yes_likelihood,
)
from agenticiqa.embedded.answers.best_option import best_option
from agenticiqa.embedded.answers.evidence import Evidence
from agenticiqa.embedded.answers.flaw_words import (
    kind_name,
    named_flaw,
    no_flaw,
    none_of,
    strength_in_words,
)
from agenticiqa.embedded.answers.print_size import TOO_FEW, pixels_per_inch
from agenticiqa.embedded.answers.tint_answers import cast_of, cast_told, is_called
from agenticiqa.embedded.answers.where_answers import EQUAL, find_place, rests_on_parts, share_in
from agenticiqa.embedded.answers.who_is_meant import several_of, verdicts_differ
from agenticiqa.embedded.regions.focus_parts import FEWEST_PARTS, GRID, FocusParts
from agenticiqa.question.late_pattern import LatePattern
from agenticiqa.question.meaning import CATEGORY_OF, Question
from agenticiqa.question.object_words import object_called
from agenticiqa.question.scales import OWN_SCALE
from agenticiqa.question.text import Language
from agenticiqa.state import SEVERITIES, UNABLE
from agenticiqa.values import PRESENT, Distortion, Reading, level_of
from agenticiqa.wording import phrase, phrases_in, say

# With too few parts to judge by, a close call about the whole picture is no answer.
MORE_THAN_A_GUESS = 0.6
_FLAWS_TOLD = 3
# The measurement a question asks for by name, and the attribute it belongs to.
_MEASURED = (
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
_SUPERLATIVE = LatePattern(r"\b(?:\w+est|most|worst)\b|最", re.IGNORECASE)
_CLIPPING = LatePattern(
    r"(?P<dark>\b(?:shadows?|blacks?)\b.*\b(?:crush\w*|clip\w*|block\w*|lost)|\b(?:crush\w*|clip\w*|block\w*|lost) "
    r"(?:\w+ )?(?:shadows?|blacks?)\b|暗部(?:死黑|截断))"
    r"|(?P<bright>\b(?:highlights?|whites)\b.*\b(?:blown|clip\w*|burn\w*|lost)"
    r"|\b(?:blown(?:-| )?(?:out )?|clip\w* |burn\w* |lost )"
    r"(?:\w+ )?(?:highlights?|whites)\b|高光(?:溢出|截断))",
    re.IGNORECASE,
)
# From this share of pixels on, in percent, shadows or highlights are clipped; below the other they are not.
CLIPPED, HARDLY_CLIPPED = 2.0, 1.0
_AGREE = LatePattern(r"\bagree\W+(?:or )?disagree\b|同意还是不同意|同意或不同意", re.IGNORECASE)
_KEY = LatePattern(
    r"[\"'“]([A-Za-z_][\w -]{0,40})[\"'”]\s*:"
    r"|(?:key|field|键名?|字段|schlüssel|clave|clé|chave|キー)\s*:?\s*[\"'“]?([A-Za-z_]\w*)",
    re.IGNORECASE,
)
_BOOLEAN = LatePattern(r"\btrue\b|\bfalse\b|\bbool", re.IGNORECASE)


@dataclass(frozen=True)
class Answer:
    """The answer's text, how sure it is, and why there is none if there is none (the name of a sentence)."""

    text: str
    certainty: float | None = None
    why_not: str | None = None
    value: str | float | bool | None = None
    """The answer as a value, for questions that want JSON."""


def answer(question: Question, evidence: Evidence) -> Answer:
    """The answer in the form asked for; "Unable to determine" with the reason where there is none."""
    if (which := _which_of_them(question, evidence)) is not None:
        return which
    if verdicts_differ(question, evidence, lambda each: _by_intent(question, each).value) is not None:
        return _unable("who_is_who")
    given = _by_intent(question, evidence)
    return _as_json(question, given) if question.form == "json" and given.why_not is None else given


def _by_intent(question: Question, evidence: Evidence) -> Answer:
    match question.intent:
        case "decline":
            return _unable("unmeasured" if question.unmeasured else "content")
        case "unclear":
            return _unable("unclear")
        case "choose":
            return _choose(question, evidence)
        case "compare":
            return _compare(question, evidence)
        case "yesno":
            return _yes_or_no(question, evidence)
        case "degree":
            return _degree(question, evidence)
        case "score":
            return _score(question, evidence)
        case "measure":
            return _measure(question, evidence)
        case "advice":
            return _advice(question, evidence)
        case "where":
            return _where(question, evidence)
        case "open":
            return _open(question, evidence)


def _which_of_them(question: Question, evidence: Evidence) -> Answer | None:
    """The one of several things that "which dog is sharpest?" or "which face is blurred?" asks for, by its place."""
    meant = next((meant for meant in evidence.meant if len(meant.looks) > 1), None)
    if meant is None or not question.asks_which or question.attribute not in CATEGORY_OF or question.choices:
        return None
    language, things, category = question.language, meant.things(question.language), CATEGORY_OF[question.attribute]
    placed = [found for look in meant.looks if (found := look.finding(category)) is not None]
    told = [named_flaw(item, question) if item.is_present else no_flaw(question) for item in placed]
    shares = [share_in(look, question) for look in meant.looks]
    best = (min if question.asks_for_least else max)(range(len(shares)), key=lambda number: shares[number])
    flawed = [number for number, item in enumerate(placed) if item.is_present]
    if not question.asks_for_least and not flawed:
        return Answer(say("none_of_them", language, of=len(shares), things=things, what=no_flaw(question)))
    if max(shares) - min(shares) < EQUAL:
        return Answer(say("alike_in_it", language, of=len(shares), things=things, what=told[best]))
    chosen = [best] if question.asks_for_least or _SUPERLATIVE.search(question.stem) else flawed
    texts = [
        say("number_from_left", language, number=number + 1, of=len(shares), things=things, what=told[number])
        for number in chosen
    ]
    return Answer(phrase("words", "and_more", language).join(texts))


def _unable(why_not: str) -> Answer:
    return Answer(UNABLE, why_not=why_not)


def _choose(question: Question, evidence: Evidence) -> Answer:
    if not question.options:
        return _open(question, evidence)
    relates = any(option.relation or option.side for option in question.options.values())
    if relates and (question.wants_reference or question.compares) and not evidence.has_reference:
        return _unable("no_reference")
    best = best_option(question, evidence)
    return _unable(best) if isinstance(best, str) else Answer(best[0], best[1], value=best[0])


def _yes_or_no(question: Question, evidence: Evidence) -> Answer:
    too_much = is_too_much(question.attribute, question.degree, evidence, question.kind)
    if too_much is None or question.yes_means is None:
        return _unable("no_evidence")
    if _is_a_guess_about_the_unfamiliar(question, evidence, too_much):
        return _unable("unfamiliar")
    if question.attribute == "colour" and (without := _without_colour(question, evidence)):
        return without
    if question.tints and (item := cast_of(evidence)) and (other := _of_another_color(question, item)):
        return other
    if question.reach and evidence.parts is not None:
        return _of_parts(question, evidence.parts, too_much, _remark(question, evidence))
    banding = measured_banding(question, evidence)
    if banding is not None:
        yes = SURE_OF_BANDING if question.yes_means == "flaw" else 1 - SURE_OF_BANDING
        return _said(question, yes, say("banding_share", question.language, value=f"{banding.value:.3g}"))
    if (clipped := _measured_clipping(question, evidence)) is not None:
        return clipped
    if few := _too_few_pixels(question, evidence):
        return replace(_said(question, float(question.yes_means == "flaw"), few), certainty=None)
    if _is_of_untold_kind(question, evidence):
        too_much = max(too_much, PRESENT)
    yes = too_much if question.yes_means == "flaw" else 1 - too_much
    return _said(question, yes, _for_all_of_them(_remark(question, evidence), question, evidence))


def _is_a_guess_about_the_unfamiliar(question: Question, evidence: Evidence, too_much: float) -> bool:
    """Whether a flaw would be told of a page or a drawing by a close call, or by a score with no finding behind it."""
    if evidence.judgement is None or not evidence.judgement.out_of_domain or too_much < PRESENT:
        return False
    asked = [CATEGORY_OF[question.attribute]] if question.attribute in CATEGORY_OF else []
    item = evidence.strongest(asked)
    return item is None or not item.is_present or item.probability < MORE_THAN_A_GUESS


def _for_all_of_them(remark: str, question: Question, evidence: Evidence) -> str:
    """The remark, and that it holds for each of the things that may be meant, where there are several."""
    several = next((meant for meant in evidence.meant if len(meant.looks) > 1), None)
    if remark and several is None and (found := next(iter(evidence.counts.items()), None)) and found[1] > 1:
        things = several_of(found[0], question.language)
        return say("of_those_found", question.language, remark=remark, count=found[1], things=things)
    if several is None or not remark:
        return remark
    things = several.things(question.language)
    sentence = "largest_of_them" if several.smaller else "each_of_them"
    return say(sentence, question.language, remark=remark, count=len(several.looks), things=things)


def _without_colour(question: Question, evidence: Evidence) -> Answer | None:
    """What is said of the colours of a grey picture, and of skin where no face is; None where there are colours."""
    if evidence.is_grey:
        if question.yes_means == "fine":
            return _unable("grey_picture")
        return replace(_said(question, 0.0, phrase("words", "grey", question.language)), certainty=None)
    skin = [name for name in evidence.unlocated if (called := object_called(name)) and called.kind == "face"]
    return _unable("no_face") if skin else None


def _of_another_color(question: Question, item: Distortion) -> Answer | None:
    """The answer about a cast that was found and is not of the color named; None where it is."""
    is_named = is_called(item, question.tints)
    if is_named is None:
        return _unable("color_untold")
    if is_named:
        return None
    other = item.probability
    return _said(question, 1 - other if question.yes_means == "flaw" else other, named_flaw(item, question))


def _of_parts(question: Question, parts: FocusParts, whole: float, remark: str) -> Answer:
    """The answer to "Is everything in focus?" and "Is anything blurry?", by the softest and the sharpest part."""
    of_all = (question.reach == "all") == (question.yes_means == "fine")
    if not of_all:  # "Is everything blurry?", "Is anything sharp?"
        soft = min(whole, parts.all_soft) if parts.some_soft >= PRESENT else whole
        return _said(question, soft if question.yes_means == "flaw" else 1 - soft, parts_told(parts, question.language))
    soft = max(whole, parts.some_soft)
    if soft < MORE_THAN_A_GUESS and parts.count < FEWEST_PARTS:
        return _unable("few_parts")
    if parts.some_soft >= PRESENT:
        remark = parts_told(parts, question.language)
    elif whole < PRESENT and parts.count < GRID**2:
        remark = say("in_those_parts", question.language, remark=remark, count=parts.count, of=GRID**2)
    return _said(question, soft if question.yes_means == "flaw" else 1 - soft, remark)


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


def _measured_clipping(question: Question, evidence: Evidence) -> Answer | None:
    """The answer to a question for crushed shadows or blown highlights, by the share of pixels that have no detail."""
    asked = _CLIPPING.search(question.stem)
    item = evidence.strongest(["Brightness change"])
    if asked is None or item is None or question.attribute not in ("dark", "bright", "exposure"):
        return None
    name = "clipped shadows" if asked["dark"] else "clipped highlights"
    share = next((each.value for each in item.readings if each.name == name), None)
    if share is None or HARDLY_CLIPPED <= share < CLIPPED:
        return None
    language = question.language
    remark = say("clipped", language, name=phrase("readings", name, language), value=f"{share:.2g}")
    is_flaw = question.yes_means == "flaw"
    return replace(_said(question, float((share >= CLIPPED) == is_flaw), remark), certainty=None)


def _is_of_untold_kind(question: Question, evidence: Evidence) -> bool:
    """Whether a kind was asked for, and what was found of its category is of no kind that could be told."""
    item = evidence.strongest([CATEGORY_OF[question.attribute]]) if question.attribute in CATEGORY_OF else None
    return question.kind is not None and item is not None and item.is_present and item.kind is None


def _too_few_pixels(question: Question, evidence: Evidence) -> str:
    """What is said where the print that is asked about would show the pixels; empty where it would not."""
    if evidence.size is None or question.attribute not in ("overall", "blur"):
        return ""
    density = pixels_per_inch(question.text, evidence.size)
    if density is None or density >= TOO_FEW:
        return ""
    width, height = evidence.size
    return say("too_few_pixels", question.language, width=width, height=height, density=round(density))


def _said(question: Question, yes: float, remark: str = "") -> Answer:
    is_yes = yes >= PRESENT
    pair = ("true", "false") if _TRUE.search(question.text) else ("yes", "no")
    pair = ("agree", "disagree") if _AGREE.search(question.text) else pair
    word = phrase("words", pair[0] if is_yes else pair[1], question.language)
    bare = not remark or _ONE_WORD.search(question.text)
    text = word if bare else say("with_remark", question.language, word=word, remark=remark)
    return Answer(text, max(yes, 1 - yes), value=is_yes)


def _remark(question: Question, evidence: Evidence) -> str:
    """The degree behind a yes or no: "severe blur", "no visible noise"."""
    amount = amount_of(question.attribute, evidence, question.kind)
    if amount is None:
        return ""
    if question.attribute not in CATEGORY_OF:
        loss = quality_loss(evidence)
        level = None if loss is None else level_of(5 - 4 * loss)
        named = [item for item in evidence.findings if item.is_present][:1]
        if named and (amount.strength >= 1.5 or question.excepted):
            return named_flaw(named[0], question)
        if question.excepted:
            return no_flaw(question)
        return (
            say("quality_is", question.language, level=phrase("levels", level, question.language).lower())
            if level
            else ""
        )
    if _is_of_untold_kind(question, evidence):
        found = named_flaw(amount.item, question) if amount.item else ""
        return say("kind_untold", question.language, named=found)
    is_told_finer = question.tints or (amount.item and amount.item.kind != question.kind)
    if amount.is_present and question.kind and amount.item and is_told_finer:
        return named_flaw(amount.item, question)
    return strength_in_words(question.attribute, amount, question) if amount.is_present else none_of(question, evidence)


def _degree(question: Question, evidence: Evidence) -> Answer:
    amount = amount_of(question.attribute, evidence, question.kind)
    if amount is None:
        return _unable("no_evidence")
    if question.scale is not None and question.form == "number":
        return _score(question, evidence)
    if question.tints and (item := cast_of(evidence)) and (other := _of_another_color(question, item)):
        none = phrase("severities", "none", question.language)
        told = say("with_remark", question.language, word=none, remark=named_flaw(item, question))
        return other if other.why_not else Answer(told, value=none)
    if question.attribute not in CATEGORY_OF and evidence.judgement is not None:
        word = phrase("levels", level_of(5 - 4 * (quality_loss(evidence) or 0.0)), question.language)
    elif question.yes_means == "fine":
        word = phrases_in("merits", question.attribute, question.language)[amount.severity]
    else:
        word = phrase("severities", SEVERITIES[amount.severity], question.language)
    certainty = amount.probability if amount.is_present else 1 - amount.probability
    if not amount.is_present and amount.item is not None and amount.item.is_present and question.kind:
        text = say("with_remark", question.language, word=word, remark=named_flaw(amount.item, question))
        return Answer(text, certainty, value=word)
    return Answer(word, certainty, value=word)


def _score(question: Question, evidence: Evidence) -> Answer:
    amount = amount_of(question.attribute, evidence, question.kind)
    if amount is None or (question.attribute not in CATEGORY_OF and evidence.judgement is None):
        return _unable("no_evidence")
    loss = amount.strength / 4 if amount.is_present else 0.0
    if question.attribute not in CATEGORY_OF:
        loss = quality_loss(evidence) or 0.0
    scale = question.scale or OWN_SCALE
    share = share_of_scale(question, loss)
    return Answer(scale.written(share), value=scale.at(share))


def share_of_scale(question: Question, loss: float) -> float:
    """How far up the scale asked for a loss of quality lies: far down, unless the scale counts what is bad."""
    counts_flaws = question.yes_means == "flaw" or (question.scale is not None and question.scale.best_is_low)
    return loss if counts_flaws else 1 - loss


def _measure(question: Question, evidence: Evidence) -> Answer:
    if question.fact:
        return _fact(question, evidence)
    if question.tool:
        value = evidence.values.get(question.tool)
        return _unable("not_measured") if value is None else Answer(f"{value:.4g}", value=value)
    found = _reading(question, evidence)
    if found is None:
        return _unable("not_measured")
    return Answer(f"{found.value:.3g} {phrase('units', found.unit, question.language)}".rstrip(), value=found.value)


def _fact(question: Question, evidence: Evidence) -> Answer:
    if question.fact == "size" and evidence.size is not None:
        text = say("pixels", question.language, width=evidence.size[0], height=evidence.size[1])
        return Answer(text, value=text)
    if question.fact == "tint":
        told = cast_told(question, evidence)
        return _unable("color_untold") if told is None else Answer(told, value=told)
    if evidence.is_grey is None:
        return _unable("no_evidence")
    word = phrase("words", "grey" if evidence.is_grey else "in_colour", question.language)
    if question.yes_means is None:
        return Answer(word, value=word)
    return replace(_said(question, float(evidence.is_grey == (question.yes_means == "flaw")), word), certainty=None)


def _reading(question: Question, evidence: Evidence) -> Reading | None:
    for pattern, attribute, name in _MEASURED:
        if re.search(pattern, question.stem, re.IGNORECASE):
            item = evidence.strongest([CATEGORY_OF[attribute]])  # type: ignore[index]
            readings = item.readings if item else ()
            if found := next((reading for reading in readings if reading.name == name), None):
                return found
    return None


def _advice(question: Question, evidence: Evidence) -> Answer:
    flaws = _asked_flaws(question, evidence)
    if not flaws:
        return Answer(say("nothing_to_do", question.language, what=none_of(question, evidence)))
    parts = [
        say(
            "advice",
            question.language,
            flaw=_capitalised(named_flaw(item, question)),
            advice=_what_to_do(item, question),
        )
        for item in flaws[:2]
    ]
    return Answer(("" if question.language in ("zh", "ja") else " ").join(parts))


def _what_to_do(item: Distortion, question: Question) -> str:
    kinds = phrases_in("advice", item.kind or "", question.language)
    return " ".join(kinds or phrases_in("advice", item.category, question.language))


def _where(question: Question, evidence: Evidence) -> Answer:
    place = find_place(question, evidence)
    if place == "" and evidence.parts is not None and rests_on_parts(question, evidence):
        return Answer(parts_told(evidence.parts, question.language))
    if place is None:
        return _unable("no_evidence")
    return Answer(none_of(question, evidence) if place == "" else phrase("places", place, question.language))


def _open(question: Question, evidence: Evidence) -> Answer:
    flaws = _asked_flaws(question, evidence)
    if not flaws:
        return Answer(none_of(question, evidence), value=none_of(question, evidence))
    told = flaws[:1] if question.form == "word" else flaws[:_FLAWS_TOLD]
    if question.form == "word":
        return Answer(kind_name(told[0], question), value=kind_name(told[0], question))
    text = phrase("words", "and_more", question.language).join(named_flaw(item, question) for item in told)
    return Answer(text, value=text)


def _compare(question: Question, evidence: Evidence) -> Answer:
    if question.places:
        return _compare_places(question, evidence)
    if not evidence.has_reference:
        return _unable("no_reference")
    if question.form in ("yesno", "json") and question.compares != "what" and not question.asks_which:
        yes = yes_likelihood(question, evidence)
        return _unable("no_evidence") if yes is None else _said(question, yes)
    relation = relation_of(question.attribute, evidence)
    if relation is None:
        return _unable("no_evidence")
    if question.compares == "what" and relation == "worse" and (flaws := _asked_flaws(question, evidence)):
        told = (named_flaw(item, question) for item in flaws[:_FLAWS_TOLD])
        return Answer(phrase("words", "and_more", question.language).join(told))
    if question.asks_which:
        wanted = "worse" if question.yes_means == "flaw" else "better"
        side = "neither" if relation == "same" else "the_test" if relation == wanted else "the_reference"
        return Answer(phrase("words", side, question.language))
    return Answer(phrase("words", relation, question.language))


def _compare_places(question: Question, evidence: Evidence) -> Answer:
    if evidence.unlocated or question.places is None:
        return _unable("not_located")
    first_called, second_called = map(object_called, question.places)
    if (
        first_called
        and second_called
        and (first_called.kinds, first_called.side)
        == (
            second_called.kinds,
            second_called.side,
        )
    ):
        return _unable("not_told_apart")
    first, second = (share_in(evidence.places[name], question) for name in question.places)
    lead = first - second if question.yes_means == "flaw" else second - first
    return replace(_said(question, step(lead, EQUAL, 0.02)), certainty=None)


def _asked_flaws(question: Question, evidence: Evidence) -> list[Distortion]:
    """The findings that are there and asked about, strongest first."""
    if question.attribute in CATEGORY_OF:
        amount = amount_of(question.attribute, evidence)
        return [amount.item] if amount and amount.is_present and amount.item else []
    return [item for item in evidence.findings if item.is_present]


def _as_json(question: Question, given: Answer) -> Answer:
    """The answer as a JSON object, under the key the question names."""
    named = _KEY.search(question.text)
    key = (named.group(1) or named.group(2)) if named else "answer"
    value = given.value if given.value is not None else given.text
    if isinstance(value, bool) and not _BOOLEAN.search(question.text):
        value = "yes" if value else "no"
    return replace(given, text=json.dumps({key: value}, ensure_ascii=False))


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]
