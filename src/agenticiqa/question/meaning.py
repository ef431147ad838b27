"""What a question means: the typed result of reading it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from agenticiqa.question.scales import Scale
from agenticiqa.question.text import Language
from agenticiqa.state import DistortionCategory
from agenticiqa.values import CATEGORY_OF as CATEGORY_OF
from agenticiqa.values import DIRECTION_OF as DIRECTION_OF
from agenticiqa.values import Attribute as Attribute
from agenticiqa.values import Kept

Intent = Literal[
    "yesno", "degree", "open", "score", "advice", "where", "decline", "choose", "compare", "measure", "unclear"
]
Meant = Literal["flaw", "fine"]
Degree = Literal["any", "visible", "acceptable", "severe"]
Form = Literal["yesno", "letter", "word", "number", "sentence", "json"]
Doubt = Literal["intent", "attribute", "polarity", "options"]
# The colors a cast is called by; "warm" and "cold" are several of them.
Tint = Literal["red", "orange", "yellow", "green", "cyan", "blue", "violet", "magenta", "warm", "cold"]

# The intents that are not answered from the image.
DECLINED: tuple[Intent, ...] = ("decline", "unclear")


@dataclass(frozen=True)
class OptionMeaning(Kept):
    """What one option says; the fields it says nothing about are None.

    `attribute` with `says` "flaw" claims the flaw, with "fine" its absence; `severity` (0 none … 4 extreme) says how
    strong it is claimed to be, `level` (1 bad … 5 excellent) how good; `truth` is a yes or a no to the question.
    """

    attribute: Attribute | None = None
    says: Meant | None = None
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
    attributes: tuple[tuple[Attribute, Meant], ...] = ()
    """Every attribute claimed, where an option names several ("sharp but noisy")."""


@dataclass(frozen=True)
class Draft:
    """A question understood; `confidence` is the probability that it was, `doubts` are the parts that were not."""

    text: str
    stem: str
    language: Language
    intent: Intent
    attribute: Attribute = "overall"
    yes_means: Meant | None = None
    degree: Degree = "visible"
    form: Form = "sentence"
    scale: Scale | None = None
    choices: dict[str, str] = field(default_factory=dict)
    options: dict[str, OptionMeaning] = field(default_factory=dict)
    scope: tuple[str, ...] = ()
    """Object and place words the question is about, in its own words; empty means the whole image."""
    kind: str | None = None
    """The finer kind named, for example "motion_blur"."""
    tool: str | None = None
    reach: Literal["all", "any"] | None = None
    """Whether every part of the picture is asked about ("everything in focus"), or any part ("anything blurry")."""
    tints: tuple[Tint, ...] = ()
    """The colors of a cast, where any is named: "Is it too blue?"."""
    fact: Literal["size", "grey", "tint"] | None = None
    """A fact of the picture that is asked for: its size in pixels, whether it has colour, the color of its cast."""
    unmeasured: str | None = None
    """What is asked for that nothing here measures, as it is called in the reply."""
    asks_for_least: bool = False
    """Whether the least of something is wanted: "where is it sharpest?", "which is least noisy?"."""
    asks_for_absent: bool = False
    """Whether the option that does not hold is wanted: "which problem does not exist?"."""
    compares: Literal["more", "same", "different", "what"] | None = None
    """How the image is put beside its reference: by an attribute, as the same, as different, or by what changed."""
    subject: Literal["test", "reference"] = "test"
    """Of a comparison, the image it is about."""
    places: tuple[str, str] | None = None
    """The two places of the image that are compared."""
    excepted: tuple[DistortionCategory, ...] = ()
    """What is left out of a question about everything: "what is wrong except the exposure?"."""
    asks_which: bool = False
    """Whether one of several is to be named: "which one is sharper?"."""
    wants_reference: bool = False
    refuses_reference: bool = False
    confidence: float = 1.0
    doubts: tuple[Doubt, ...] = ()

    @property
    def categories(self) -> list[DistortionCategory]:
        """The categories to look at; empty means all."""
        if self.intent in DECLINED:
            return []
        named = [option.attribute for option in self.options.values() if option.attribute]
        # Of "blurry or noisy?" both are looked at, whichever of the two the question seems to be about.
        asked = [self.attribute, *named]
        return list(dict.fromkeys(CATEGORY_OF[name] for name in asked if name in CATEGORY_OF))

    @property
    def is_scoring(self) -> bool:
        """Whether a level of overall quality is wanted."""
        return self.intent == "score" and self.attribute == "overall" and not self.choices

    @property
    def is_declined(self) -> bool:
        """Whether the question is not about quality, or was not understood."""
        return self.intent in DECLINED
