"""Pages about an evaluation: `write_report` puts report.html, .md, .tex, .csv and .json into a folder."""

from __future__ import annotations

import json
from pathlib import Path

from agenticiqa.evaluation.evaluating import Evaluation
from agenticiqa.evaluation.report.page import render_page
from agenticiqa.evaluation.report.text_reports import render_csv, render_latex, render_markdown
from agenticiqa.evaluation.summary import as_json
from agenticiqa.outputs import write_whole


def write_report(found: Evaluation, folder: Path) -> None:
    """Writes the five forms of the report, each whole or not at all."""
    write_whole(folder / "report.html", render_page(found))
    write_whole(folder / "report.md", render_markdown(found))
    write_whole(folder / "report.tex", render_latex(found))
    write_whole(folder / "report.csv", render_csv(found))
    write_whole(folder / "report.json", json.dumps(as_json(found), indent=2, ensure_ascii=False) + "\n")
