"""An evaluation's table for a paper."""

from __future__ import annotations

from collections.abc import Sequence

from agenticiqa.evaluation.evaluating import Evaluation
from agenticiqa.evaluation.summary import HEADINGS, table

_SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "η": r"$\eta$", "–": "--", "−": "$-$", "±": r"$\pm$",
    "×": r"$\times$", "→": r"$\rightarrow$",
}  # fmt: skip
# The figures of agreement; costs are left to the full report.
_COLUMNS = 6


def render_latex(found: Evaluation) -> str:
    """The methods and the single tools as one table (booktabs), with its caption."""
    rows = found.recorded.rows if found.recorded else found.rows
    methods = [line[:_COLUMNS] for line in table(rows)]
    tools = [line[:_COLUMNS] for line in table(found.tools)]
    caption = f"Agreement with the mean opinions of {found.rated.name}, with 95 % bootstrap intervals."
    return latex_table(HEADINGS[:_COLUMNS], [methods, tools], caption)


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
