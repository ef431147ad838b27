"""A report in Markdown, as a table for a paper in LaTeX, as CSV and as JSON; and all its forms written to a folder."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from agenticiqa.errors import cannot_write
from agenticiqa.evaluation.evaluating import Evaluation
from agenticiqa.evaluation.multiple_choice import Answered, Choices
from agenticiqa.evaluation.ratings import Row
from agenticiqa.evaluation.report.page import render_page
from agenticiqa.evaluation.report.sections import (
    FIGURES,
    HEADINGS,
    PARTS,
    ReportSection,
    accuracy_lines,
    choice_sections,
    headline,
    sections_of,
    table,
)
from agenticiqa.evaluation.samples import QuestionSet
from agenticiqa.outputs import csv_text, write_whole

RATING_FORMS = ("html", "md", "tex", "csv", "json")
_SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "η": r"$\eta$", "–": "--", "−": "$-$", "±": r"$\pm$",
    "×": r"$\times$", "→": r"$\rightarrow$",
}  # fmt: skip
_AGREEMENT = ("srcc", "krcc", "plcc", "rmse")
_HOW = (
    "Cost columns are means per picture. Intervals are 95 % percentile bootstraps; those of PLCC and RMSE hold the "
    "fitted curve fixed."
)


def write_report(found: Evaluation, folder: Path) -> None:
    """Writes report.html, .md, .tex, .csv and .json."""
    markdown = _markdown(found.rated.name, [*headline(found), _HOW], sections_of(found), found.provenance)
    forms = (render_page(found), markdown, render_latex(found), render_csv(found), json_text(as_json(found)))
    write_texts(folder, "report", dict(zip(RATING_FORMS, forms, strict=True)))


def write_choices(
    questions: QuestionSet, found: Choices, values: Mapping[str, Any], provenance: Mapping[str, Any], folder: Path
) -> None:
    """Writes report.md and report.json about questions."""
    markdown = choices_markdown(questions, found, provenance)
    write_texts(folder, "report", {"md": markdown, "json": json_text(values)})


def write_texts(folder: Path, name: str, texts: Mapping[str, str]) -> list[Path]:
    """Writes each text, whole or not at all, to NAME.KIND in the folder, which is made; raises OutputError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(folder, error) from error
    files = {folder / f"{name}.{kind}": text for kind, text in texts.items()}
    for file, text in files.items():
        write_whole(file, text)
    return list(files)


def json_text(values: Mapping[str, Any]) -> str:
    """The values as people may read them too."""
    return json.dumps(values, indent=2, ensure_ascii=False) + "\n"


def choices_markdown(questions: QuestionSet, found: Choices, provenance: Mapping[str, Any]) -> str:
    """The report on questions as Markdown."""
    count = f"{len(questions.questions)} questions; {len(questions.missing)} more lack their picture."
    return _markdown(questions.name, [count, *questions.notes], choice_sections(questions, found), provenance)


def _markdown(name: str, lines: Sequence[str], sections: Sequence[ReportSection], provenance: Mapping[str, Any]) -> str:
    blocks = [f"# Evaluation on {name}", *lines]
    for section in sections:
        listed = "\n".join(f"- {line}" for line in section.lines)
        blocks += [f"## {section.title}", markdown_table(section.headings, section.rows), listed]
    blocks += ["## Provenance", f"```\n{json_text(provenance)}```"]
    return "\n\n".join(block for block in blocks if block) + "\n"


def markdown_table(headings: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A table; empty text without lines."""
    if not lines:
        return ""
    rows = [headings, ["---"] * len(headings), *lines]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows)


def render_latex(found: Evaluation) -> str:
    """The methods and the single tools as one table (booktabs), with its caption."""
    blocks = [[line[:FIGURES] for line in table(rows)] for rows in (found.shown, found.tools)]
    caption = f"Agreement with the mean opinions of {found.rated.name}, with 95 % bootstrap intervals."
    return latex_table(HEADINGS[:FIGURES], blocks, caption)


def latex_table(headings: Sequence[str], blocks: Sequence[Sequence[Sequence[str]]], caption: str) -> str:
    """A table with a rule between blocks; every cell is escaped."""
    rules = "\n\\midrule\n".join("\n".join(map(_line, block)) for block in blocks if block)
    return (
        "% needs \\usepackage{booktabs}\n\\begin{table}\n\\centering\n"
        f"\\caption{{{_escaped(caption)}}}\n\\begin{{tabular}}{{l{'r' * (len(headings) - 1)}}}\n\\toprule\n"
        f"{_line(headings)}\n\\midrule\n{rules}\n\\bottomrule\n\\end{{tabular}}\n\\end{{table}}\n"
    )


def _escaped(text: str) -> str:
    return "".join(_SPECIAL.get(character, character) for character in text)


def _line(cells: Sequence[str]) -> str:
    return " & ".join(map(_escaped, cells)) + r" \\"


def render_csv(found: Evaluation) -> str:
    """A line per method and tool, with each figure and the ends of its interval in columns of their own."""
    ends = [column for name in _AGREEMENT for column in (name, f"{name}_low", f"{name}_high")]
    columns = ("method", "answered", *ends, "lead_srcc", "lead_low", "lead_high", "lead_p")
    lines = []
    for row in (*found.shown, *found.tools):
        values = [_numbers(getattr(row, name), "value", "low", "high") for name in _AGREEMENT]
        lead = _numbers(row.lead, "value", "low", "high", "p_value")
        lines.append(dict(zip(columns, (row.method.name, row.answered, *chain(*values), *lead), strict=True)))
    return csv_text(lines, columns)


def _numbers(found: Any, *names: str) -> list[float | None]:
    """Parts of a figure; empty where there is no figure or no interval."""
    return [plain(getattr(found, name, None)) for name in names]


def as_json(found: Evaluation) -> dict[str, Any]:
    """The evaluation as JSON values, every picture's scores included."""
    rows, samples, recorded = [*found.rows, *found.tools], found.rated.samples, found.recorded
    return {
        "dataset": found.rated.name,
        "pictures": len(samples),
        "missing": list(found.rated.missing),
        "scale": plain(found.rated.scale),
        "not_held_out": found.seen or None,
        "methods": [_row_values(row) for row in found.rows],
        "tools": [_row_values(row) for row in found.tools],
        "by_distortion": plain(found.kinds),
        "by_level": plain(found.levels),
        "coverage": plain(found.coverage),
        "faithfulness": plain(found.faithfulness),
        "recorded": recorded and {
            "form": recorded.form, "joined": recorded.joined, "held_out": recorded.held_out,
            "choice": plain(recorded.choice), "methods": [_row_values(row) for row in recorded.rows],
        },
        "failures": found.failures,
        "unlisted": list(found.unlisted),
        "groups": {sample.name: sample.cluster for sample in samples},
        "scores": {
            sample.name: {
                "opinion": sample.opinion,
                **{row.method.name: plain(float(row.method.scores[place])) for row in rows},
            }
            for place, sample in enumerate(samples)
        },
        "provenance": found.provenance,
    }  # fmt: skip


def _row_values(row: Row) -> dict[str, Any]:
    method = row.method
    named = {"name": method.name, "title": method.title, "note": method.note, "answered": row.answered}
    return {**named, **{name: plain(getattr(row, name)) for name in (*_AGREEMENT, "fit", "lead")},
            "cost": plain(method.cost)}  # fmt: skip


def plain(value: Any) -> Any:
    """The value as JSON has it, which knows no NaN."""
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return None if isinstance(value, float) and value != value else value


def choices_json(questions: QuestionSet, answers: Sequence[Answered], found: Choices) -> dict[str, Any]:
    """Every answer and all figures as JSON values."""
    return {
        "dataset": questions.name,
        "questions": len(questions.questions),
        "missing": list(questions.missing),
        "accuracy": [dict(zip(PARTS, line, strict=True)) for line in accuracy_lines(found)],
        "value": found.overall.accuracy.value,
        "unable": found.unable,
        "order_sensitivity": found.sensitive,
        "accuracy_over_orders": found.over_orders,
        "confusion": [
            {"right": right, "given": given, "count": count} for (right, given), count in found.confusion.items()
        ],
        "answers": {one.question.name: {"right": one.question.answer, "given": list(one.given)} for one in answers},
    }
