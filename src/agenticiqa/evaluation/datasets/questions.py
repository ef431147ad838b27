"""Data sets of multiple-choice questions, one function each."""

from __future__ import annotations

from pathlib import Path
from string import ascii_uppercase
from typing import Any

from agenticiqa.errors import DatasetError
from agenticiqa.evaluation.datasets.files import Folder, require
from agenticiqa.evaluation.datasets.manifest import questions_of, read_numbered, read_rows
from agenticiqa.evaluation.samples import KnownQuestion, QuestionSet


def agenticiqa_eval(root: Path) -> QuestionSet:
    """AgenticIQA-Eval: its owners publish no layout we know, so it is read from a manifest in its folder."""
    path = require(root, "questions.jsonl", "questions.json", "questions.csv")
    return questions_of(path, "agenticiqa-eval", read_numbered(path), Folder(root))


def qbench(root: Path) -> QuestionSet:
    """Q-Bench LLVisionQA, the part with answers; kinds and categories keep the owners' codes."""
    path = require(root, "llvisionqa_dev.json")
    pictures = Folder(require(root, "images"))
    questions, missing = [], []
    for place, entry in enumerate(read_rows(path), 1):
        image = pictures.find(str(entry.get("img_path", "")))
        if image is None:
            missing.append(str(entry.get("img_path")))
        else:
            questions.append(_qbench_question(f"{path.name}, entry {place}", entry, image))
    return QuestionSet("qbench", tuple(questions), tuple(missing))


def _qbench_question(where: str, entry: dict[str, Any], image: Path) -> KnownQuestion:
    candidates, right = entry.get("candidates"), entry.get("correct_ans")
    if not isinstance(candidates, list) or right not in candidates or "question" not in entry:
        raise DatasetError(
            f"{where}: needs a `question` and `correct_ans` as one of `candidates`; the test split has no answers"
        )
    choices = dict(zip(ascii_uppercase, map(str, candidates), strict=False))
    letter = ascii_uppercase[candidates.index(right)]
    kind, category = (str(entry[key]) if key in entry else None for key in ("type", "concern"))
    return KnownQuestion(where, image, str(entry["question"]), choices, letter, kind=kind, category=category)
