"""Multiple-choice questions: how many are answered rightly, and whether the order of the choices matters."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agenticiqa.assessor import Assessor
from agenticiqa.errors import AgenticIQAError
from agenticiqa.evaluation.samples import KnownQuestion
from agenticiqa.evaluation.statistics import USUAL, Interval, Resampling, mean
from agenticiqa.state import UNABLE

Ask = Callable[[KnownQuestion, dict[str, str]], str]
"""The letter given to a question with these choices, or "Unable to determine"."""


@dataclass(frozen=True)
class Answered:
    """One question and what was answered, in the letters of its own order; the first is for the order as given."""

    question: KnownQuestion
    given: tuple[str, ...]
    right: tuple[bool, ...]

    @property
    def answer(self) -> str:
        return self.given[0]


@dataclass(frozen=True)
class Accuracy:
    """Share of right answers, an unanswered question counting as wrong, with the share that was answered."""

    name: str
    questions: int
    accuracy: Interval
    answered: float


@dataclass(frozen=True)
class Choices:
    """The figures of a set of questions.

    `confusion` counts (right letter, given letter). With rotated choices `sensitive` is the share of questions whose
    answer changes with the order, and `over_orders` the accuracy over all orders.
    """

    overall: Accuracy
    parts: dict[str, list[Accuracy]]
    confusion: dict[tuple[str, str], int]
    unable: float
    sensitive: float | None
    over_orders: float | None


def ask_with(assessor: Assessor) -> Ask:
    """Questions put to the agent; a question that fails is one without an answer."""

    def ask(question: KnownQuestion, choices: dict[str, str]) -> str:
        try:
            said = assessor.assess(question.image, question.query, reference=question.reference, choices=choices)
        except AgenticIQAError:
            return UNABLE
        return said.answer if said.answered and said.answer in choices else UNABLE

    return ask


def answer_all(
    questions: Sequence[KnownQuestion],
    ask: Ask,
    *,
    rotate: bool = False,
    on_question: Callable[[int, int], None] | None = None,
) -> list[Answered]:
    """Every question answered, in all rotations of its choices if asked for."""
    found = []
    for place, question in enumerate(questions, 1):
        turns = len(question.choices) if rotate else 1
        given = tuple(_asked(question, turn, ask) for turn in range(turns))
        found.append(Answered(question, given, tuple(letter == question.answer for letter in given)))
        if on_question:
            on_question(place, len(questions))
    return found


def rotated(choices: dict[str, str], turn: int) -> dict[str, str]:
    """The choices moved on by so many places, under the same letters."""
    texts = list(choices.values())
    return dict(zip(choices, texts[turn:] + texts[:turn], strict=True))


def tally(answers: Sequence[Answered], sampling: Resampling = USUAL) -> Choices:
    """All figures; whole pictures are resampled, because several questions may be about one."""
    keys = {"task": "task", "question kind": "kind", "category": "category"}
    parts = {title: _parts(answers, key, sampling) for title, key in keys.items()}
    turned = [one for one in answers if len(one.given) > 1]
    right = [is_right for one in turned for is_right in one.right]
    return Choices(
        overall=_accuracy("all", answers, sampling),
        parts={title: found for title, found in parts.items() if found},
        confusion=dict(Counter((one.question.answer, one.answer) for one in answers)),
        unable=sum(one.answer == UNABLE for one in answers) / len(answers),
        sensitive=sum(len(set(one.given)) > 1 for one in turned) / len(turned) if turned else None,
        over_orders=sum(right) / len(right) if right else None,
    )


def _asked(question: KnownQuestion, turn: int, ask: Ask) -> str:
    """The answer under a rotation, in the letters of the question's own order."""
    letters = list(question.choices)
    given = ask(question, rotated(question.choices, turn))
    return letters[(letters.index(given) + turn) % len(letters)] if given in letters else UNABLE


def _parts(answers: Sequence[Answered], key: str, sampling: Resampling) -> list[Accuracy]:
    groups: dict[str, list[Answered]] = defaultdict(list)
    for one in answers:
        label = getattr(one.question, key)
        if label is not None:
            groups[label].append(one)
    return [_accuracy(name, group, sampling) for name, group in sorted(groups.items())]


def _accuracy(name: str, answers: Sequence[Answered], sampling: Resampling) -> Accuracy:
    right = [float(one.right[0]) for one in answers]
    pictures = [str(one.question.image) for one in answers]
    found = sampling.interval(mean, right, right, pictures)
    answered = sum(one.answer != UNABLE for one in answers) / len(answers)
    return Accuracy(name, len(answers), found, answered)
