"""What a question asks: its shape, its scope, the distortions it names, the tool and the reference it wants."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from agenticiqa.perception.answer_format import without_answer_format
from agenticiqa.perception.choices import split_choices
from agenticiqa.perception.claims import Claim, read_claim
from agenticiqa.perception.lexicon import (
    Language,
    Lexicon,
    Match,
    Mention,
    Shape,
    language_of,
    lexicon,
    masked,
    normalise,
)
from agenticiqa.perception.toolnames import named_tool
from agenticiqa.perception.versus import Versus, halves_of, two_distortions
from agenticiqa.state import DistortionCategory

QuestionShape = Literal["content", "compare", "where", "severity", "which", "yes_no", "open", "score", "unclear"]
DECLINED: tuple[QuestionShape, ...] = ("content", "unclear")
_UNKNOWN_NOUN = re.compile(r"\b(?:the|this|that|these|those|his|her|my) ([a-z]{3,})(?=[ ?.,]|$)", re.ASCII)
# What may stand around "this photo" and still say no more than "this photo".
_NO_MORE = re.compile(
    r"(?:[^a-z\u4e00-\u9fff]|\b(?:an?|and|at|about|check|here|how|is|look|my|of|please|see|the|what)\b|[请帮我看一下的吧呢])*",
    re.ASCII,
)


@dataclass(frozen=True)
class Question:
    """A question understood; `shape` "content" and "unclear" are those we cannot answer."""

    text: str
    language: Language
    shape: QuestionShape
    claim: Claim
    scope: tuple[str, ...] = ()
    choices: dict[str, str] = field(default_factory=dict)
    options: dict[str, Claim] = field(default_factory=dict)
    tool: str | None = None
    versus: Versus | None = None
    """The two things of one image that are compared, if two are."""
    asks_whether: bool = False
    asks_which_image: bool = False
    asks_what_changed: bool = False
    wants_reference: bool = False
    refuses_reference: bool = False

    @property
    def mentions(self) -> tuple[Mention, ...]:
        """Distortions named in the question, or else in its options."""
        in_options = (mention for claim in self.options.values() for mention in claim.mentions)
        return self.claim.mentions or tuple(dict.fromkeys(in_options))

    @property
    def categories(self) -> list[DistortionCategory]:
        """The categories to look at when the question or its options name some; empty means all."""
        if self.shape in DECLINED:
            return []
        names_all = self.claim.any_distortion and self.shape in ("open", "score", "yes_no")
        mentions = () if names_all and not self.claim.mentions else self.mentions
        found = dict.fromkeys(mention.category for mention in mentions)
        # Sharpness asks about both ends: too little of it is blur, and "sharper than" needs to know of sharpening.
        if Mention("Sharpness") in mentions:
            found.setdefault("Blurs")
        if self.shape == "compare" and Mention("Blurs", absent=True) in mentions:
            found.setdefault("Sharpness")
        return list(found)

    @property
    def is_scoring(self) -> bool:
        """Whether a level of overall quality is wanted."""
        return self.shape == "score" and not self.choices


def understand(query: str, choices: Mapping[str, str] | None = None, tools: Iterable[str] = ()) -> Question:
    """The question in a text; choices given as data win over those written in it."""
    words = lexicon()
    stem, written = split_choices(query)
    options = {label: normalise(option) for label, option in (choices or written).items()}
    lowered, wants_yes_or_no = without_answer_format(stem.lower())
    claims = {label: read_claim(option) for label, option in options.items()}
    claim = read_claim(lowered)
    refuses = refuses_reference(lowered)
    wants = words["reference_wish"].found_in(lowered) and not refuses
    tool = named_tool(stem, tools)
    fitting = [shape for shape, terms in words.shapes if terms.found_in(lowered)]
    if wants_yes_or_no and "yes_no" not in fitting:
        fitting.append("yes_no")
    shape = _shape(lowered, fitting, claim, claims, wants, words)
    if tool and not claim.mentions and (shape in (*DECLINED, "open") or _only_says_compare(shape, claim)):
        shape = "score"
    scope = () if shape in DECLINED else _scope(lowered, shape, words)
    if shape == "which" and not options and len(scope) > 1 and len({m.category for m in claim.mentions}) == 1:
        shape = "where"  # "Which is sharper, the face or the background?"
    return Question(
        text=stem,
        language=language_of(query),
        shape=shape,
        claim=claim,
        scope=scope,
        choices=options,
        options=claims,
        tool=tool,
        versus=_versus(lowered, shape, words),
        asks_whether="yes_no" in fitting,
        asks_which_image=_asks_which_image(lowered, claim, words),
        asks_what_changed=words["what_changed"].found_in(lowered),
        wants_reference=wants,
        refuses_reference=refuses,
    )


def refuses_reference(query: str) -> bool:
    """Whether the question wants the image judged by itself, although a reference may be given."""
    return lexicon()["reference_refused"].found_in(query.lower())


def _only_says_compare(shape: QuestionShape, claim: Claim) -> bool:
    """ "Compare the two images with PSNR" asks for the tool's score, "are they the same?" for an answer."""
    return shape == "compare" and not claim.relation and not claim.equal


def _versus(text: str, shape: QuestionShape, words: Lexicon) -> Versus | None:
    """What is compared with what inside the image; a comparison with the reference is none of these."""
    halves = halves_of(text) if shape == "yes_no" else None
    if halves is None:
        return None
    if distortions := two_distortions(halves):
        return Versus(halves.less, halves.falls_short, halves.at_least, distortions=distortions)
    first, second = (_scope(half, shape, words) for half in (halves.subject, halves.object))
    if not (first and second):
        return None
    return Versus(halves.less, halves.falls_short, halves.at_least, places=(first[-1], second[0]))


def _shape(
    text: str,
    fitting: list[Shape],
    claim: Claim,
    options: Mapping[str, Claim],
    wants: bool,
    words: Lexicon,
) -> QuestionShape:
    if "content" in fitting and not _mentions_quality_beside_content(text, words):
        return "content"
    if _compares(text, claim, options, wants, words):
        return "compare"
    if not (_is_about_quality(text, claim, options, words) or _is_about_the_picture(text, fitting, words)):
        return "unclear"
    if "yes_no" in fitting and not _is_alternative(claim, text):
        return "yes_no"
    return _first_sensible(text, fitting, claim, options)


def _first_sensible(text: str, fitting: list[Shape], claim: Claim, options: Mapping[str, Claim]) -> QuestionShape:
    named = bool(claim.mentions or claim.any_distortion)
    # "How is the color quality?" is about colors, "the quality of this noisy image" about all of it.
    beside = masked(text, (match.span for match in lexicon().matches(text, "distortions")))
    rates_one_aspect = bool(claim.mentions) and not re.search(r"qualit|质量|画质|品质", beside)
    in_options = any(option.mentions or option.nothing for option in options.values())
    for shape in fitting:
        if shape == "severity" and named:
            return "severity"
        if shape == "which" and (named or in_options):
            return "which"
        if shape == "open" and in_options:
            return "which"
        if shape == "score" and rates_one_aspect:
            return "severity"
        if shape in ("where", "open", "score"):
            return shape
        if shape == "yes_no" and named:
            return "which"
    return "which" if in_options or len(claim.mentions) > 1 else "open"


def _asks_which_image(text: str, claim: Claim, words: Lexicon) -> bool:
    names_both = {"test", "reference"} <= set(claim.sides) and re.search(r"\bwhich\b|哪", text)
    return bool(names_both) or words["which_image"].found_in(text)


def _is_alternative(claim: Claim, text: str) -> bool:
    """ "Is it noisy or blurry?" asks which, not whether."""
    alternatives = len({(mention.category, mention.kind, mention.absent) for mention in claim.mentions}) > 1
    ends = re.search(r"(?:high|low|good|bad) or (?:high|low|good|bad)", text)
    return (alternatives or bool(ends)) and bool(re.search(r"\bor\b|还是", text)) and not re.search(r"\bany\b", text)


def _compares(text: str, claim: Claim, options: Mapping[str, Claim], wants: bool, words: Lexicon) -> bool:
    if words["which_image"].found_in(text):
        return True
    rates = words["rating_words"].found_in(text) and not claim.mentions
    names_both = {"test", "reference"} <= set(claim.sides) or words["pair"].found_in(text)
    if words["comparatives"].found_in(text) and not rates and (wants or names_both):
        return True
    sides = {side for option in options.values() for side in option.sides}
    relations = {option.relation for option in options.values()} - {None}
    return {"test", "reference"} <= sides or (wants and bool(relations))


def _is_about_quality(text: str, claim: Claim, options: Mapping[str, Claim], words: Lexicon) -> bool:
    if claim.mentions or claim.any_distortion or claim.nothing or claim.level or claim.relation:
        return True
    if words["quality_words"].found_in(text):
        return True
    return any(option.mentions or option.level or option.severity or option.nothing for option in options.values())


def _is_about_the_picture(text: str, fitting: list[Shape], words: Lexicon) -> bool:
    """ "This photo?" and "How is this photo?" may be taken as a wish for its quality, "Is it raining?" may not."""
    named = words["image_words"].spans(text)
    if not named or "yes_no" in fitting:
        return False
    return "open" in fitting or "score" in fitting or bool(_NO_MORE.fullmatch(masked(text, named)))


def _mentions_quality_beside_content(text: str, words: Lexicon) -> bool:
    content = next(terms for shape, terms in words.shapes if shape == "content")
    return bool(words.matches(masked(text, content.spans(text)), "distortions", "any_distortion", "quality_words"))


def _scope(text: str, shape: QuestionShape, words: Lexicon) -> tuple[str, ...]:
    groups = ("distortions", "nothing", "equal", "sides", "places", "objects", "any_distortion", "image_words",
              "quality_words", "comparatives", "relations", "severities", "levels")  # fmt: skip
    found = words.matches(text, *groups)
    # Of "the man's shirt" only the shirt is asked about.
    things = [m for m in found if m.group in ("places", "objects") and not text[m.end :].startswith("'s ")]
    named = [_scope_name(match, text) for match in things]
    # "In which corner" asks for a place and names none; "left or right" of a pair are images.
    ignored = {"where": ("edges",), "compare": ("left", "right")}.get(shape, ())
    named = [name for name in named if name not in ignored]
    rest = masked(text, (match.span for match in found), "#")
    known = words.not_objects | {tool.lower() for tool in words.tools}
    unknown = [noun for noun in _UNKNOWN_NOUN.findall(rest) if noun not in known]
    return tuple(dict.fromkeys(named + unknown))


def _scope_name(match: Match, text: str) -> str:
    return str(match.meaning) if match.group == "places" else text[match.start : match.end]
