"""Several things that one name may mean ("the bride's face" among three): which were looked at, and do they agree.

Nobody's face is known here. Where all that may be meant get the same verdict, it is the answer whoever is meant; where
they do not, there is none, and each is told by its place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agenticiqa.embedded.findings import Look
from agenticiqa.question.asked import Degree, Question, YesNo
from agenticiqa.question.object_words import object_called
from agenticiqa.question.text import Language
from agenticiqa.values import Distortion
from agenticiqa.wording import phrase, say

if TYPE_CHECKING:
    from agenticiqa.embedded.answers.evidence import Evidence


@dataclass(frozen=True)
class Meant:
    """The things a name may mean, from the left: a look at each, which of them is the largest, and how many are small.

    `smaller` counts those too small beside the largest to be meant; they were not looked at.
    """

    name: str
    looks: tuple[Look, ...]
    largest: int
    smaller: int = 0

    @property
    def count(self) -> int:
        """How many things of that name there are."""
        return len(self.looks) + self.smaller

    def things(self, language: Language) -> str:
        """What they are called when there are several."""
        return several_of(self.name, language)


def several_of(name: str, language: Language) -> str:
    """What several of the things a name stands for are called."""
    called = object_called(name)
    kind = called.kind if called else name
    named = phrase("several", kind, language)
    return named if named != kind or kind.endswith("s") else f"{kind}s"


def verdicts_differ(question: Question, evidence: Evidence, judge: Callable[[Evidence], object]) -> Meant | None:
    """The things a name may mean whose verdicts differ; None where whoever is meant gets the same."""
    if not isinstance(question, YesNo | Degree) or question.topic.flaw.category is None:
        return None
    for meant in evidence.meant:
        verdicts = {judge(with_look(evidence, meant.name, look)) for look in meant.looks}
        if len(verdicts) > 1:
            return meant
    return None


def with_look(evidence: Evidence, name: str, look: Look) -> Evidence:
    """The evidence with another thing in the place of the one that was looked at."""
    found = {finding.category: finding for finding in look.findings}
    findings = [
        replace(found.get(item.category, item), place=name, words="") if item.place == name else item
        for item in evidence.findings
    ]
    findings.sort(key=lambda item: (-item.weight, -item.probability))
    return replace(evidence, findings=tuple(findings), meant=())


def each_told(meant: Meant, question: Question, in_words: Callable[[Distortion], str]) -> str:
    """Every one of the things with its verdict, from the left: "1: no visible blur; 2: moderate blur"."""
    category = question.topic.flaw.category or ""
    told = [(number, look.finding(category)) for number, look in enumerate(meant.looks, 1)]
    return "; ".join(f"{number}: {in_words(finding)}" for number, finding in told if finding is not None)


def which_was_looked_at(meant: Meant, language: Language) -> str:
    """That there are several, which of them the findings are about, and that nobody is known."""
    things = meant.things(language)
    text = say("one_of_several", language, count=meant.count, things=things, place=_place(meant, language))
    return text + (say("smaller_ones", language, count=meant.smaller) if meant.smaller else "")


def _place(meant: Meant, language: Language) -> str:
    if len(meant.looks) == 1:
        return ""
    return say("from_the_left", language, number=meant.largest + 1, of=len(meant.looks))
