"""Several things that one name may mean ("the bride's face" among three): which were looked at, and do they agree.

Nobody's face is known here. Where all that may be meant get the same verdict, it is the answer whoever is meant; where
they do not, there is none, and each is told by its place.
"""

from __future__ import annotations

from collections.abc import Callable

from agenticiqa.embedded.answers.evidence import Evidence, Meant, with_look
from agenticiqa.question.asked import Degree, Question, YesNo
from agenticiqa.question.object_words import object_called, word_for
from agenticiqa.values import Language
from agenticiqa.wording import known, say
from agenticiqa.wording.findings import named


def several_of(name: str, language: Language) -> str:
    """What several of the things a name stands for are called."""
    called = object_called(name)
    kind = called.kind if called else name
    told = known("several", kind, language)
    if told is None and language == "en":
        return kind if kind.endswith("s") else f"{kind}s"
    return told or word_for(kind, language)


def one_of(evidence: Evidence) -> Meant | None:
    """The name that may mean one of several things, where there is one."""
    return next((meant for meant in evidence.meant if len(meant.looks) > 1), None)


def verdicts_differ(question: Question, evidence: Evidence, judge: Callable[[Evidence], object]) -> bool:
    """Whether the things a name may mean get different verdicts, so that it matters who is meant."""
    if not isinstance(question, YesNo | Degree) or question.topic.flaw.category is None:
        return False
    verdicts = ({judge(with_look(evidence, meant.name, look)) for look in meant.looks} for meant in evidence.meant)
    return any(len(different) > 1 for different in verdicts)


def for_all_of_them(remark: str, question: Question, evidence: Evidence) -> str:
    """The remark, and that it holds for each of the things that may be meant, or how many were found."""
    language, several = question.reply.language, one_of(evidence)
    if several is not None:
        things = several_of(several.name, language)
        return say("each_of_them", language, remark=remark, count=len(several.looks), things=things)
    name, count = next(iter(evidence.counts.items()), ("", 1))
    if count < 2:
        return remark
    return say("of_those_found", language, remark=remark, count=count, things=several_of(name, language))


def who_is_who(meant: Meant, question: Question) -> str:
    """Every one of the things with its verdict, from the left: "1: no visible blur; 2: moderate blur"."""
    language, category = question.reply.language, question.topic.flaw.category or ""
    told = [(number, look.finding(category)) for number, look in enumerate(meant.looks, 1)]
    each = "; ".join(f"{number}: {named(finding, language)}" for number, finding in told if finding is not None)
    return say("who_is_who", language, count=meant.count, things=several_of(meant.name, language), each=each)


def which_was_looked_at(meant: Meant, language: Language) -> str:
    """That there are several, that the findings are about the largest, and that nobody is known."""
    return say("one_of_several", language, count=meant.count, things=several_of(meant.name, language))
