"""The report of a set of multiple-choice questions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from agenticiqa.evaluation.multiple_choice import Answered, Choices
from agenticiqa.evaluation.report.markdown_and_latex import markdown_table
from agenticiqa.evaluation.report.published import published
from agenticiqa.evaluation.samples import QuestionSet
from agenticiqa.evaluation.summary import accuracy_lines


def choices_json(questions: QuestionSet, answers: Sequence[Answered], found: Choices) -> dict[str, Any]:
    """Every answer and all figures as JSON values."""
    return {
        "dataset": questions.name,
        "questions": len(questions.questions),
        "missing": list(questions.missing),
        "accuracy": [dict(zip(("part", "questions", "accuracy", "answered"), line, strict=True))
                     for line in accuracy_lines(found)],
        "value": found.overall.accuracy.value,
        "unable": found.unable,
        "order_sensitivity": found.sensitive,
        "accuracy_over_orders": found.over_orders,
        "confusion": [
            {"right": right, "given": given, "count": count} for (right, given), count in found.confusion.items()
        ],
        "answers": {one.question.name: {"right": one.question.answer, "given": list(one.given)} for one in answers},
    }  # fmt: skip


def choices_markdown(questions: QuestionSet, found: Choices, provenance: Mapping[str, Any]) -> str:
    """The report as Markdown; an unanswered question counts as wrong."""
    theirs = [[one["method"], one.get("accuracy", ""), one["source"]] for one in published(questions.name)]
    order = "The order of the choices was not varied."
    if found.sensitive is not None:
        order = (
            f"The order of the choices changes {found.sensitive:.1%} of answers; "
            f"accuracy over all orders {found.over_orders:.3f}."
        )
    blocks = [
        f"# Evaluation on {questions.name}",
        f"{len(questions.questions)} questions; {len(questions.missing)} more lack their picture.",
        markdown_table(("part", "questions", "accuracy", "answered"), accuracy_lines(found)),
        f'"Unable to determine": {found.unable:.1%}, counted as wrong. {order}',
        "## Right and given answers",
        _confusion(found),
        *(["## Beside published figures", markdown_table(("method", "accuracy", "source"), theirs)] if theirs else []),
        "## Provenance",
        f"```\n{json.dumps(provenance, indent=2, ensure_ascii=False)}\n```",
    ]
    return "\n\n".join(blocks) + "\n"


def _confusion(found: Choices) -> str:
    right = sorted({pair[0] for pair in found.confusion})
    given = sorted({pair[1] for pair in found.confusion})
    lines = [[letter, *(str(found.confusion.get((letter, other), 0)) for other in given)] for letter in right]
    return markdown_table(("right answer", *given), lines)
