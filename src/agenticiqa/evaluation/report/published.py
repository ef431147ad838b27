"""Figures others have published, to stand beside ours."""

from __future__ import annotations

from importlib import resources
from typing import Any

import yaml

from agenticiqa.evaluation.evaluating import Evaluation

HEADINGS = ("method", "published SRCC", "PLCC", "measured here", "source")
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
    """Lines under HEADINGS, ours on top and marked when it is not held out; none when nothing is published."""
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
