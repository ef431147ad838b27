"""Figures others have published, to stand beside ours."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from typing import Any

import yaml

from agenticiqa.evaluation.ratings import Row

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


def beside_ours(dataset: str, rows: Sequence[Row], tools: Sequence[Row]) -> list[list[str]]:
    """Lines of method, published SRCC and PLCC, what we measured here for the same tool, and source; ours on top."""
    measured = {row.method.name: f"{row.srcc.value:.3f}" for row in tools if row.srcc is not None}
    ours = [[row.method.title, "", "", f"{row.srcc.value:.3f}", "this evaluation"] for row in rows[:1] if row.srcc]
    theirs = [
        [
            entry["method"],
            entry.get("srcc", ""),
            entry.get("plcc", ""),
            measured.get(str(entry.get("tool")), ""),
            entry["source"],
        ]
        for entry in published(dataset)
    ]
    return ours + theirs if theirs else []
