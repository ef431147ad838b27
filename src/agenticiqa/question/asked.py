"""What is asked, as values: a question is one of ten kinds, and nothing after the reader looks at its text again."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from agenticiqa.question.scales import Scale
from agenticiqa.state import DistortionCategory
from agenticiqa.values import CATEGORY_OF, Attribute, Kept, Language, Polarity

DEFAULT_QUERY = "Rate the perceptual quality of this image."
"""The question of whoever asks none."""

Form = Literal["yesno", "letter", "word", "number", "sentence", "json"]
Doubt = Literal["intent", "attribute", "polarity", "options"]
# The colors a cast is called by; "warm" and "cold" are several of them.
Tint = Literal["red", "orange", "yellow", "green", "cyan", "blue", "violet", "magenta", "warm", "cold"]
Allowed = Literal["any", "visible", "acceptable", "severe"]
"""How much of a flaw a yes/no question puts up with: "any" asks for the slightest, "severe" for more than moderate."""
Combined = Literal["both", "either", "neither", "at_least_one", "except"]
Fact = Literal[
    "size", "grey", "tint", "print", "dpi", "colour_space", "bit_depth", "rotation", "alpha", "format", "file_size"
]
"""What may be asked of the file: `print` is the largest print, `dpi` the pixels per inch at the size of the use."""
Purpose = Literal["print", "web", "passport"]
# How likely a polarity must be for a yes or a no to rest on it.
SURE_OF_POLARITY = 0.8


@dataclass(frozen=True)
class OptionMeaning(Kept):
    """What one option says; the fields it says nothing about are None.

    `attribute` with `says` "flaw" claims the flaw, with "fine" its absence; `severity` (0 none … 4 extreme) says how
    strong it is claimed to be, `level` (1 bad … 5 excellent) how good; `truth` is a yes or a no to the question.
    """

    attribute: Attribute | None = None
    says: Polarity | None = None
    kind: str | None = None
    severity: float | None = None
    level: float | None = None
    amount: Literal["low", "medium", "high"] | None = None
    truth: bool | None = None
    place: str | None = None
    relation: Literal["better", "worse", "same"] | None = None
    side: Literal["test", "reference"] | None = None
    """The image of a pair that the option names."""
    nothing: bool = False
    all_of_them: bool = False
    tints: tuple[Tint, ...] = ()
    """The color of a cast, where an option is one."""
    attributes: tuple[tuple[Attribute, Polarity], ...] = ()
    """Every attribute claimed, where an option names several ("sharp but noisy")."""


@dataclass(frozen=True)
class Flaw(Kept):
    """What a question asks about: an attribute, the finer kind it names, and of a cast the colours it names."""

    attribute: Attribute = "overall"
    kind: str | None = None
    colours: tuple[Tint, ...] = ()

    @property
    def category(self) -> DistortionCategory | None:
        """The category it is found under; None for the quality as a whole."""
        return CATEGORY_OF.get(self.attribute)


@dataclass(frozen=True)
class Conditions(Kept):
    """Several flaws asked about at once, and how many of them a yes speaks of.

    With the polarity "flaw" a yes says that the flaw is there of both (all of them), of either or at least one; with
    "fine" that all is well with them. "Neither sharp nor clean" (flaw) and "neither soft nor noisy" (fine) speak of all
    of them as "both" does. "except" is about everything but these.
    """

    combined: Combined
    flaws: tuple[Flaw, ...]


@dataclass(frozen=True)
class Use(Kept):
    """What a picture is wanted for; of a print the longer side in inches and the pixels per inch, where named."""

    purpose: Purpose = "print"
    inches: float | None = None
    per_inch: float | None = None


@dataclass(frozen=True)
class Topic(Kept):
    """What a question is about, and where: names of places and things, the whole image without any.

    `excepted` is left out of a question about everything; `tool` is a metric named; `reference` says whether the
    question wants the reference heard or left aside; `as_fault` whether softness is asked about as a fault only; `use`
    is what the picture is wanted for.
    """

    flaw: Flaw = Flaw()
    scope: tuple[str, ...] = ()
    excepted: tuple[DistortionCategory, ...] = ()
    tool: str | None = None
    reference: Literal["wanted", "refused"] | None = None
    as_fault: bool = False
    use: Use | None = None


@dataclass(frozen=True)
class Reply(Kept):
    """How the answer is wanted: its language and form, the words for yes and no, without a reason, as JSON.

    `which` is set where one of several things is to be named: any that has the flaw, or the one with the most or least.
    `choices` are the answers offered with labels, as they were written.
    """

    language: Language = "en"
    form: Form = "sentence"
    words: Literal["yes", "true", "agree"] = "yes"
    bare: bool = False
    json: JsonReply | None = None
    which: Literal["any", "most", "least"] | None = None
    choices: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class JsonReply(Kept):
    """The key under which a JSON answer is wanted, and whether a yes is written as true."""

    key: str = "answer"
    boolean: bool = False


@dataclass(frozen=True)
class YesNo(Kept):
    """ "Is it blurry?": `polarity` is what a yes says, None where that is not sure.

    `part` asks about every part or any part of the picture. `limit` is the reading that decides ("clipped highlights"),
    or the longer side of a print in inches. Where `conditions` are given they are what is asked, and the topic's flaw
    is one of them.
    """

    topic: Topic
    reply: Reply
    polarity: Polarity | None
    allowed: Allowed = "visible"
    part: Literal["all", "any"] | None = None
    limit: str | float | None = None
    polarity_probability: float | None = None
    conditions: Conditions | None = None

    @property
    def sure_polarity(self) -> Polarity | None:
        """What a yes says, where that is sure enough to say yes or no; None: a statement has to do."""
        is_sure = self.polarity_probability is None or self.polarity_probability >= SURE_OF_POLARITY
        return self.polarity if is_sure else None


@dataclass(frozen=True)
class Degree(Kept):
    """ "How blurry is it?", in words or on a scale."""

    topic: Topic
    reply: Reply
    polarity: Polarity | None
    scale: Scale | None = None


@dataclass(frozen=True)
class Score(Kept):
    """ "Rate the quality", on our scale or the one named."""

    topic: Topic
    reply: Reply
    polarity: Polarity | None = "fine"
    scale: Scale | None = None


@dataclass(frozen=True)
class Choose(Kept):
    """ "Blur or noise?": the option that holds is wanted, or the one that does not (`absent`)."""

    topic: Topic
    reply: Reply
    polarity: Polarity | None
    options: dict[str, OptionMeaning]
    allowed: Allowed = "visible"
    absent: bool = False


@dataclass(frozen=True)
class Compare(Kept):
    """ "Is it sharper than the reference?", "Is the face sharper than the background?".

    `by` is more of something, sameness, difference, or what has changed. `between` is the image of the pair that is
    spoken of, or the two places that are put side by side. `which` asks for one of the two by name.
    """

    topic: Topic
    reply: Reply
    polarity: Polarity | None
    by: Literal["more", "same", "different", "what"] | None = "more"
    between: Literal["test", "reference"] | tuple[str, str] = "test"
    which: bool = False

    @property
    def places(self) -> tuple[str, str] | None:
        """The two places that are compared; None for a comparison with the reference."""
        return self.between if isinstance(self.between, tuple) else None


@dataclass(frozen=True)
class Where(Kept):
    """ "Where is it blurred?", "Which part is sharpest?" (`least`)."""

    topic: Topic
    reply: Reply
    least: bool = False


@dataclass(frozen=True)
class Measure(Kept):
    """A fact of the picture, or a number: by its tool, or by the readings that may be meant, the likeliest first."""

    topic: Topic
    reply: Reply
    polarity: Polarity | None = None
    fact: Fact | None = None
    readings: tuple[tuple[DistortionCategory, str], ...] = ()


@dataclass(frozen=True)
class Advice(Kept):
    """ "How can I fix it?"."""

    topic: Topic
    reply: Reply


@dataclass(frozen=True)
class Open(Kept):
    """ "What is wrong with it?"; a sentence with several questions has each of them under `parts`."""

    topic: Topic
    reply: Reply
    parts: tuple[Question, ...] = ()


@dataclass(frozen=True)
class Declined(Kept):
    """A question the embedded backend cannot answer: about the content, for what nothing measures, or not understood.

    `what` names the unmeasured thing; `doubts` are the parts of the meaning that were not understood.
    """

    topic: Topic
    reply: Reply
    why: Literal["content", "unmeasured", "unclear"]
    what: str | None = None
    doubts: tuple[Doubt, ...] = ()


KINDS = (YesNo, Degree, Score, Choose, Compare, Where, Measure, Advice, Open, Declined)
Question = YesNo | Degree | Score | Choose | Compare | Where | Measure | Advice | Open | Declined


def categories_of(question: Question) -> list[DistortionCategory]:
    """The categories to look at; empty means all."""
    if isinstance(question, Declined):
        return []
    offered = question.options.values() if isinstance(question, Choose) else ()
    several = question.conditions if isinstance(question, YesNo) else None
    if several is not None and several.combined == "except":
        return []
    # Of "blurry or noisy?" both are looked at, whichever of the two the question seems to be about.
    joined = [flaw.attribute for flaw in several.flaws] if several else []
    asked = [question.topic.flaw.attribute, *joined, *(option.attribute for option in offered)]
    return list(dict.fromkeys(CATEGORY_OF[name] for name in asked if name in CATEGORY_OF))
