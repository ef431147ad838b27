"""AgenticIQA-Eval: its owners publish no layout we know, so it is read from a manifest in its folder."""

from __future__ import annotations

from pathlib import Path

from agenticiqa.evaluation.datasets.files import Folder, require
from agenticiqa.evaluation.datasets.manifest import questions_of, read_numbered
from agenticiqa.evaluation.samples import QuestionSet


def read(root: Path) -> QuestionSet:
    """All questions of `questions.jsonl`, `.json` or `.csv` whose pictures are there."""
    path = require(root, "questions.jsonl", "questions.json", "questions.csv")
    return questions_of(path, "agenticiqa-eval", read_numbered(path), Folder(root))
