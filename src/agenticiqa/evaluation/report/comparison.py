"""Two evaluations of the same pictures beside each other, with a significance test for each method."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from agenticiqa.errors import ReportError
from agenticiqa.evaluation.report.sections import difference, interval
from agenticiqa.evaluation.report.text_reports import latex_table, markdown_table
from agenticiqa.evaluation.statistics import USUAL, Difference, Interval, Resampling, Values, srcc
from agenticiqa.outputs import csv_text

FORMS = ("md", "tex", "csv")
HEADINGS = ("method", "pictures", "SRCC, first", "SRCC, second", "first less second", "p")
# Fewer pictures have no correlation worth a test.
_FEWEST = 3


@dataclass(frozen=True)
class Compared:
    """One method in both runs, on the pictures both have a score for."""

    title: str
    pictures: int
    first: Interval
    second: Interval
    difference: Difference


@dataclass(frozen=True)
class ReportComparison:
    """The methods two reports share; `unshared` are pictures that only one of them holds."""

    dataset: str
    rows: list[Compared]
    groups: int
    unshared: int

    def lines(self) -> list[list[str]]:
        return [
            [
                row.title, str(row.pictures), interval(row.first), interval(row.second),
                difference(row.difference), f"{row.difference.p_value:.3f}",
            ]
            for row in self.rows
        ]  # fmt: skip

    def in_words(self) -> str:
        left = f"; {self.unshared} pictures are in one report only and left out" if self.unshared else ""
        return (
            f"{self.dataset}: SRCC on the same pictures, {self.groups} groups resampled whole; 95 % intervals and "
            f"two-sided p-values of the paired bootstrap{left}"
        )

    def texts(self) -> dict[str, str]:
        """The table as Markdown, for a paper in LaTeX, and as CSV with every figure in a column of its own."""
        return {
            "md": f"{self.in_words()}\n\n{markdown_table(HEADINGS, self.lines())}\n",
            "tex": latex_table(HEADINGS, [self.lines()], self.in_words()),
            "csv": csv_text(
                {
                    "method": row.title, "pictures": row.pictures,
                    "first_srcc": row.first.value, "first_low": row.first.low, "first_high": row.first.high,
                    "second_srcc": row.second.value, "second_low": row.second.low, "second_high": row.second.high,
                    "difference": row.difference.value, "difference_low": row.difference.low,
                    "difference_high": row.difference.high, "p": row.difference.p_value,
                }
                for row in self.rows
            ),
        }  # fmt: skip


def compare_reports(first: Path, second: Path, sampling: Resampling = USUAL) -> ReportComparison:
    """The methods and tools that two reports share; raises ReportError where they rate other pictures.

    A report is a report.json of `agenticiqa evaluate`, or the folder it is in. Pictures of one group are resampled
    together where the reports say which those are.
    """
    one, other = _read(first), _read(second)
    names = [name for name in one["scores"] if name in other["scores"]]
    if len(names) < _FEWEST:
        raise ReportError(f"{first} and {second}: only {len(names)} pictures are in both; compare runs on one data set")
    opinions = np.array([one["scores"][name]["opinion"] for name in names], np.float64)
    if any(one["scores"][name]["opinion"] != other["scores"][name]["opinion"] for name in names):
        raise ReportError(
            f"{first} and {second}: their opinions of the same pictures differ; compare runs on one table"
        )
    if not one["scale"]["higher_is_better"]:
        opinions = -opinions
    groups = [one.get("groups", {}).get(name, name) for name in names]
    known = {row["name"] for row in (*other["methods"], *other["tools"])}
    rows = []
    for row in (*one["methods"], *one["tools"]):
        if row["name"] in known:
            scores, others = (_values(report, row["name"], names) for report in (one, other))
            compared = _compared(row["title"], scores, others, opinions, groups, sampling)
            rows += [compared] if compared else []
    return ReportComparison(one["dataset"], rows, len(set(groups)), len(set(one["scores"]) ^ set(other["scores"])))


def _compared(
    title: str, first: Values, second: Values, opinions: Values, groups: list[str], sampling: Resampling
) -> Compared | None:
    both = np.isfinite(first) & np.isfinite(second)
    if both.sum() < _FEWEST or np.ptp(first[both]) == 0 or np.ptp(second[both]) == 0:
        return None
    a, b, y, clusters = first[both], second[both], opinions[both], np.array(groups)[both]
    one, other = (sampling.interval(srcc, scores, y, clusters) for scores in (a, b))
    return Compared(title, int(both.sum()), one, other, sampling.difference(srcc, a, b, y, clusters))


def _values(report: Mapping[str, Any], method: str, names: list[str]) -> Values:
    found = [report["scores"][name].get(method) for name in names]
    return np.array([np.nan if value is None else value for value in found], np.float64)


def _read(path: Path) -> dict[str, Any]:
    file = path / "report.json" if path.is_dir() else path
    try:
        report: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        missing = {"dataset", "scores", "methods", "tools", "scale"} - set(report)
    except (OSError, ValueError, TypeError) as error:
        raise ReportError(f"{file}: cannot be read as a report ({error}); name the -o folder of a run") from error
    if missing:
        raise ReportError(
            f"{file}: holds no ratings ({', '.join(sorted(missing))} missing); name the -o folder of a run"
        )
    return report
