"""An evaluation in text: Markdown, a table for a paper in LaTeX, figures others have published, multiple choice."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib import resources
from itertools import chain
from typing import Any

import yaml

from agenticiqa.evaluation.evaluating import Evaluation
from agenticiqa.evaluation.multiple_choice import Answered, Choices
from agenticiqa.evaluation.ratings import Part
from agenticiqa.evaluation.samples import QuestionSet
from agenticiqa.evaluation.summary import HEADINGS, accuracy_lines, headline, interval, remarks, table, worst_pictures
from agenticiqa.outputs import csv_text

PUBLISHED_HEADINGS = ("method", "published SRCC", "PLCC", "measured here", "source")
NOTE = "Published figures are of the whole set; where ours is of a part of it, the two are not the same pictures."
SOURCES = {
    "paper": "arXiv 2509.26006v2",
    "pyiqa": "benchmark table of IQA-PyTorch",
    "field": "the metric's own or comparative papers",
}


def published(dataset: str) -> list[dict[str, Any]]:
    """Method, SRCC, PLCC or accuracy as printed, and source, for a data set; empty when nothing is known."""
    text = resources.files("agenticiqa.evaluation.report").joinpath("published.yaml").read_text(encoding="utf-8")
    entries: list[dict[str, Any]] = (yaml.safe_load(text) or {}).get(dataset, [])
    return [{**entry, "source": SOURCES[entry["source"]]} for entry in entries]


def beside_ours(found: Evaluation) -> list[list[str]]:
    """Lines under PUBLISHED_HEADINGS, ours on top and marked if not held out; none when nothing is published."""
    measured = {row.method.name: f"{row.srcc.value:.3f}" for row in found.tools if row.srcc is not None}
    source = "this evaluation, not held out" if found.seen else "this evaluation"
    ours = [[row.method.title, "", "", f"{row.srcc.value:.3f}", source] for row in found.rows[:1] if row.srcc]
    theirs = [
        [
            entry["method"],
            entry.get("srcc", ""),
            entry.get("plcc", ""),
            measured.get(str(entry.get("tool")), ""),
            entry["source"],
        ]
        for entry in published(found.rated.name)
    ]
    return ours + theirs if theirs else []


_SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "η": r"$\eta$", "–": "--", "−": "$-$", "±": r"$\pm$",
    "×": r"$\times$", "→": r"$\rightarrow$",
}  # fmt: skip
# The figures of agreement; costs are left to the full report.
_COLUMNS = 6


def render_markdown(found: Evaluation) -> str:
    """The whole report without pictures."""
    rows = found.recorded.rows if found.recorded else found.rows
    blocks = [
        f"# Evaluation on {found.rated.name}",
        *headline(found),
        "## Methods",
        markdown_table(HEADINGS, table(rows)),
        _listed([*remarks(rows), *recorded_lines(found)]),
        "Cost columns are means per picture. Intervals are 95 % percentile bootstraps; those of PLCC and RMSE hold the "
        "fitted curve fixed.",
        coverage_line(found),
        faithfulness_line(found),
        *_section("Tools alone", markdown_table(("tool", *HEADINGS[1:6]), [line[:6] for line in table(found.tools)])),
        *_parts("By distortion type", found.kinds),
        *_parts("By level", found.levels),
        *_section("Largest disagreements", _worst(found)),
        *_section("Beside published figures", _published(found)),
        *_section("Failures", _listed([f"{count} × {failure}" for failure, count in found.failures.items()])),
        "## Provenance",
        f"```\n{json.dumps(found.provenance, indent=2, ensure_ascii=False)}\n```",
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def markdown_table(headings: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A table; empty text without lines."""
    if not lines:
        return ""
    rows = [headings, ["---"] * len(headings), *lines]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows)


def coverage_line(found: Evaluation) -> str:
    """Coverage and width of the intervals; empty when there are none."""
    if found.coverage is None:
        return ""
    one = found.coverage
    return (
        f"The score's 95 % interval holds {one.share:.1%} of {one.pictures} opinions with a mean width of "
        f"{one.width:.2f} points; a constant interval that holds 95 % of these opinions is {one.constant:.2f} wide."
    )


def faithfulness_line(found: Evaluation) -> str:
    """How the explanations' claims stand to the evidence; empty when there are none."""
    one = found.faithfulness
    if one is None:
        return ""
    return (
        f"Of {one.claims} claims in {one.explanations} explanations {one.share('tied'):.1%} are tied to the agent's "
        f"own evidence, {one.share('contradicting'):.1%} contradict it and {one.share('unsupported'):.1%} are "
        f"unsupported; {one.without_claims} explanations claim nothing that can be checked."
    )


def recorded_lines(found: Evaluation) -> list[str]:
    """What was chosen on which half, for recorded outputs."""
    if found.recorded is None:
        return []
    study, choice = found.recorded, found.recorded.choice
    groups = ", ".join(choice.fitted_groups[:20]) + (" …" if len(choice.fitted_groups) > 20 else "")
    return [
        f"Recorded outputs ({study.form}) of {study.joined} pictures; temperature {choice.temperature:.4g} and η "
        f"{choice.eta:g} were chosen on {choice.fitted_on} pictures (contents {groups}); figures are of the other "
        f"{study.held_out}"
    ]


def _parts(title: str, parts: Sequence[Part]) -> list[str]:
    lines = [[part.name, str(part.pictures), interval(part.srcc)] for part in parts]
    return _section(title, markdown_table((title.rpartition(" ")[2], "pictures", "SRCC"), lines))


def _worst(found: Evaluation) -> str:
    lines = [[one.name, f"{one.opinion:.3g}", f"{one.fitted:.3g}", one.why] for one in worst_pictures(found)]
    return markdown_table(("picture", "opinion", "score after the fit", "what the agent said"), lines)


def _published(found: Evaluation) -> str:
    lines = beside_ours(found)
    return markdown_table(PUBLISHED_HEADINGS, lines) + "\n\n" + NOTE if lines else ""


def _section(title: str, body: str) -> list[str]:
    return [f"## {title}", body] if body else []


def _listed(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def render_latex(found: Evaluation) -> str:
    """The methods and the single tools as one table (booktabs), with its caption."""
    rows = found.recorded.rows if found.recorded else found.rows
    methods = [line[:_COLUMNS] for line in table(rows)]
    tools = [line[:_COLUMNS] for line in table(found.tools)]
    caption = f"Agreement with the mean opinions of {found.rated.name}, with 95 % bootstrap intervals."
    return latex_table(HEADINGS[:_COLUMNS], [methods, tools], caption)


def render_csv(found: Evaluation) -> str:
    """A line per method and tool, with each figure and the ends of its interval in columns of their own."""
    rows = found.recorded.rows if found.recorded else found.rows
    figures = ("srcc", "krcc", "plcc", "rmse")
    ends = [column for name in figures for column in (name, f"{name}_low", f"{name}_high")]
    columns = ("method", "answered", *ends, "lead_srcc", "lead_low", "lead_high", "lead_p")
    lines = []
    for row in (*rows, *found.tools):
        values = [_numbers(getattr(row, name), "value", "low", "high") for name in figures]
        lead = _numbers(row.lead, "value", "low", "high", "p_value")
        lines.append(dict(zip(columns, (row.method.name, row.answered, *chain(*values), *lead), strict=True)))
    return csv_text(lines, columns)


def _numbers(found: Any, *names: str) -> list[float | None]:
    """Parts of a figure; empty where there is no figure or no interval."""
    values = [getattr(found, name, None) for name in names]
    return [None if value is None or value != value else value for value in values]


def latex_table(headings: Sequence[str], blocks: Sequence[Sequence[Sequence[str]]], caption: str) -> str:
    """A table with a rule between blocks; every cell is escaped."""
    rules = "\n\\midrule\n".join("\n".join(map(_line, block)) for block in blocks if block)
    return (
        "% needs \\usepackage{booktabs}\n\\begin{table}\n\\centering\n"
        f"\\caption{{{escaped(caption)}}}\n\\begin{{tabular}}{{l{'r' * (len(headings) - 1)}}}\n\\toprule\n"
        f"{_line(headings)}\n\\midrule\n{rules}\n\\bottomrule\n\\end{{tabular}}\n\\end{{table}}\n"
    )


def escaped(text: str) -> str:
    """Text that LaTeX prints as it stands."""
    return "".join(_SPECIAL.get(character, character) for character in text)


def _line(cells: Sequence[str]) -> str:
    return " & ".join(map(escaped, cells)) + r" \\"


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
        *questions.notes,
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
